import type { CancelSignal } from '../domain/cancel-signal.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { FindSessionPorts } from '../sessions/find-session.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { MarketplaceRequest } from './marketplace-request.ts';
import { openMarketplace } from './open-marketplace.ts';
import { type ShowOffersPorts, showOffers } from './show-offers.ts';

const formats = ['json'] as const;

export interface GetMarketplacePorts extends FindSessionPorts, ShowOffersPorts {}

/**
 * GET /marketplace with `format=json` (docs/contract.md#marketplace-answers). The value is the envelope's JSON text. `counts` is false for
 * HEAD, which shows nothing to anybody and so is no view. Like `showOffers` it answers at once where it can. `signal` is null for a
 * caller that cannot cancel.
 */
export function getMarketplace(
  ports: GetMarketplacePorts,
  tenant: Tenant,
  request: MarketplaceRequest,
  counts: boolean,
  signal: CancelSignal | null,
): Outcome<string> | Promise<Outcome<string>> {
  const opened = openMarketplace(ports, tenant, request, formats);
  if (!opened.ok) return opened;
  // Each by its name: a rest of the others would cost a twentieth of the thread's own work on a known ranking.
  const { subId, session, borrower, revision, readiness, sort, maxOffers, explain } = opened.value;
  const asked = { subId, borrower, revision, readiness, sort, maxOffers, explain, counts, load: null, signal };
  return showOffers(ports, session, asked);
}
