import type { CancelSignal } from '../domain/cancel-signal.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { FindSessionDeps } from '../sessions/find-session.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { MarketplaceRequest } from './marketplace-request.ts';
import { validateMarketplaceRequest } from './open-marketplace.ts';
import { type ShowOffersDeps, showOffers } from './show-offers.ts';

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
