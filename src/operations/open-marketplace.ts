import { succeeded, invalidRequest, type Outcome, refused } from '../domain/outcome.ts';
import { type FindSessionDeps, findSession } from '../sessions/find-session.ts';
import type { Session } from '../sessions/session.ts';
import type { FieldVector } from '../verticals/pocket-vector.ts';
import { type Readiness, computeReadiness } from '../verticals/readiness.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { type MarketplaceRequest, parseExplain, parseOfferSelection, type OfferSelection } from './marketplace-request.ts';

export type ResponseFormat = 'json' | 'iframe' | 'js';

/** A request for offers that may be answered, in whichever format. */
export interface ValidMarketplaceRequest<Answered extends ResponseFormat> extends OfferSelection {
  readonly subId: string;
  readonly format: Answered;
  readonly session: Session;
  /** The borrower, as it was when the request came. */
  readonly borrower: Readonly<FieldVector>;
  readonly revision: number;
  readonly readiness: Readiness;
  readonly explain: boolean;
}

/** Checks shared by all formats of GET /marketplace (docs/contract.md#marketplace-parameters). `formats` are those answered here. */
export function validateMarketplaceRequest<Answered extends ResponseFormat>(
  ports: FindSessionDeps,
  tenant: Tenant,
  request: MarketplaceRequest,
  formats: readonly Answered[],
): Outcome<ValidMarketplaceRequest<Answered>> {
  const { sub_id: subId } = request;
  if (subId === undefined) return invalidRequest('sub_id');
  const format = formats.find((each) => each === request.format);
  if (format === undefined) return invalidRequest('format');
  const selection = parseOfferSelection(request);
  if (!selection.ok) return selection;
  const explain = parseExplain(request, tenant.mode);
  if (!explain.ok) return explain;

  const found = findSession(ports, tenant, subId);
  if (!found.ok) return found;
  const session = found.value;
  const { fields: borrower, revision } = session;
  const readiness = computeReadiness(tenant.vertical, borrower);
  if (readiness.matchReadiness === 'insufficient') {
    return refused({ code: 'INSUFFICIENT_INPUTS', missingRequired: readiness.missingRequired });
  }
  const { sort, maxOffers } = selection.value;
  return succeeded({ subId, format, session, borrower, revision, readiness, sort, maxOffers, explain: explain.value });
}
