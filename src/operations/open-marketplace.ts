import { done, invalidRequest, type Outcome, refused } from '../domain/outcome.ts';
import { type FindSessionPorts, findSession } from '../sessions/find-session.ts';
import type { Session } from '../sessions/session.ts';
import type { PocketVector } from '../verticals/pocket-vector.ts';
import { type Readiness, readinessOf } from '../verticals/readiness.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { type MarketplaceRequest, parseExplain, parseSelection, type Selection } from './marketplace-request.ts';

export type Format = 'json' | 'iframe' | 'js';

/** A request for offers that may be answered, in whichever format. */
export interface OpenedMarketplace<Answered extends Format> extends Selection {
  readonly subId: string;
  readonly format: Answered;
  readonly session: Session;
  /** The borrower, as it was when the request came. */
  readonly borrower: Readonly<PocketVector>;
  readonly revision: number;
  readonly readiness: Readiness;
  readonly explain: boolean;
}

/** Checks shared by all formats of GET /marketplace (docs/contract.md#marketplace-parameters). `formats` are those answered here. */
export function openMarketplace<Answered extends Format>(
  ports: FindSessionPorts,
  tenant: Tenant,
  request: MarketplaceRequest,
  formats: readonly Answered[],
): Outcome<OpenedMarketplace<Answered>> {
  const { sub_id: subId } = request;
  if (subId === undefined) return invalidRequest('sub_id');
  const format = formats.find((each) => each === request.format);
  if (format === undefined) return invalidRequest('format');
  const selection = parseSelection(request);
  if (!selection.ok) return selection;
  const explain = parseExplain(request, tenant.mode);
  if (!explain.ok) return explain;

  const found = findSession(ports, tenant, subId);
  if (!found.ok) return found;
  const session = found.value;
  const { fields: borrower, revision } = session;
  const readiness = readinessOf(tenant.vertical, borrower);
  if (readiness.matchReadiness === 'insufficient') {
    return refused({ code: 'INSUFFICIENT_INPUTS', missingRequired: readiness.missingRequired });
  }
  const { sort, maxOffers } = selection.value;
  return done({ subId, format, session, borrower, revision, readiness, sort, maxOffers, explain: explain.value });
}
