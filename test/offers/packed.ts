import type { RankedOffers } from '../../src/offers/match.ts';
import type { Ranking } from '../../src/offers/matcher.ts';
import { packOrders } from '../../src/offers/packed-orders.ts';

/** A ranking as a matcher hands it out, but for the version of its catalog. */
export function packed({ total, orders }: RankedOffers): Omit<Ranking, 'catalogVersion'> {
  return { total, orders: packOrders(orders) };
}
