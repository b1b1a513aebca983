import { invalidRequest, type Outcome, refusedFor } from '../domain/outcome.ts';
import { type FindSessionPorts, findSession } from '../sessions/find-session.ts';
import { readinessOf } from '../verticals/readiness.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { type MarketplaceRequest, parseExplain, parseSelection } from './marketplace-request.ts';
import { type ShowOffersPorts, showOffers } from './show-offers.ts';

export interface GetMarketplacePorts extends FindSessionPorts, ShowOffersPorts {}

/**
 * GET /marketplace with `format=json` (contract 4.3, D8). The value is the JSON text of the envelope. `counts` is false for
 * HEAD, which shows nothing to anybody and so is no view. Like `showOffers` it answers at once where it can.
 */
export function getMarketplace(
  ports: GetMarketplacePorts,
  tenant: Tenant,
  request: MarketplaceRequest,
  counts: boolean,
): Outcome<string> | Promise<Outcome<string>> {
  const { sub_id: subId, format } = request;
  if (subId === undefined) return invalidRequest('sub_id');
  if (format !== 'json') return invalidRequest('format');
  const selection = parseSelection(request);
  if (!selection.ok) return selection;
  const explain = parseExplain(request, tenant.mode);
  if (!explain.ok) return explain;

  const found = findSession(ports, tenant, subId);
  if (!found.ok) return found;
  const session = found.value;
  const readiness = readinessOf(tenant.vertical, session.fields);
  if (readiness.matchReadiness === 'insufficient') return refusedFor('INSUFFICIENT_INPUTS');
  const { sort, maxOffers } = selection.value;
  return showOffers(ports, session, {
    subId,
    borrower: session.fields,
    readiness,
    sort,
    maxOffers,
    explain: explain.value,
    counts,
    load: null,
  });
}
