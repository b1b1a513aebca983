import { bounds } from '../bounds.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { Mode } from '../domain/mode.ts';
import { invalidRequest, type Outcome, refused, succeeded } from '../domain/outcome.ts';
import { type SortOrder, sortOrders } from '../matching/matcher.ts';
import { type FindSessionDeps, findSession } from '../sessions/find-session.ts';
import type { Session } from '../sessions/session-store.ts';
import type { FieldVector } from '../verticals/field-vector.ts';
import { computeReadiness, type Readiness } from '../verticals/readiness.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { type ShowOffersDeps, showOffers } from './show-offers.ts';

/** Query parameters as sent, undefined when absent (docs/contract.md#marketplace-parameters). */
export interface MarketplaceRequest {
  readonly sub_id?: string | undefined;
  readonly format?: string | undefined;
  readonly max_offers?: string | undefined;
  readonly sort?: string | undefined;
  /** `true` or `false`; only a test key may ask for `true`, and only for `format=json`. */
  readonly explain?: string | undefined;
}

/** How many offers, and in which order. */
interface OfferSelection {
  readonly sort: SortOrder;
  readonly maxOffers: number;
}

export function parseOfferSelection(request: Pick<MarketplaceRequest, 'max_offers' | 'sort'>): Outcome<OfferSelection> {
  const maxOffers = parseMaxOffers(request.max_offers);
  if (maxOffers === null) return invalidRequest('max_offers');
  const sort = (request.sort ?? 'recommended') as SortOrder;
  if (!sortOrders.includes(sort)) return invalidRequest('sort');
  return succeeded({ sort, maxOffers });
}

/** Whether the reasons why offers do not match are asked for. */
function parseExplain({ format, explain }: MarketplaceRequest, mode: Mode): Outcome<boolean> {
  if (explain === undefined || explain === 'false') return succeeded(false);
  return explain === 'true' && mode === 'test' && format === 'json' ? succeeded(true) : invalidRequest('explain');
}

/** 1 to 20 in plain digits; null for anything else. */
function parseMaxOffers(text: string | undefined): number | null {
  if (text === undefined) return bounds.offersShownDefault;
  if (!/^[1-9][0-9]?$/.test(text)) return null;
  const count = Number(text);
  return count <= bounds.offersShownMax ? count : null;
}

type ResponseFormat = 'json' | 'iframe' | 'js';

/** A request for offers that may be answered, in whichever format. */
interface ValidMarketplaceRequest<Answered extends ResponseFormat> extends OfferSelection {
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

const jsonFormats = ['json'] as const;

export interface GetMarketplaceDeps extends FindSessionDeps, ShowOffersDeps {}

/**
 * GET /marketplace with `format=json` (docs/contract.md#marketplace-answers). The value is the envelope's JSON text. `counts` is false for
 * HEAD, which shows nothing to anybody and so is no view. Like `sendOffers` it answers at once where it can. `signal` is null for a
 * caller that cannot cancel.
 */
export function getMarketplace(
  ports: GetMarketplaceDeps,
  tenant: Tenant,
  request: MarketplaceRequest,
  counts: boolean,
  signal: CancelSignal | null,
): Outcome<string> | Promise<Outcome<string>> {
  const opened = validateMarketplaceRequest(ports, tenant, request, jsonFormats);
  if (!opened.ok) return opened;
  // Each by its name: a rest of the others would cost a twentieth of the thread's own work on a known ranking.
  const { subId, session, borrower, revision, readiness, sort, maxOffers, explain } = opened.value;
  const asked = { subId, borrower, revision, readiness, sort, maxOffers, explain, counts, load: null, signal };
  return showOffers(ports, session, asked);
}
