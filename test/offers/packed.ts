import type { RankedOffers } from '../../src/offers/match.ts';
import type { Ranking } from '../../src/offers/matcher.ts';
import { packOrders } from '../../src/offers/packed-orders.ts';

/** A ranking as a matcher hands it out, but for the version of its catalog. */
export function packed({ orders, ...ranked }: RankedOffers): Omit<Ranking, 'catalogVersion'> {
  return { ...ranked, orders: packOrders(orders) };
}
