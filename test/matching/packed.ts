import type { RankedOffers, Ranking } from '../../src/matching/matcher.ts';
import { packOrders } from '../../src/matching/matcher.ts';

/** A ranking as a matcher hands it out, but for the version of its catalog. */
export function packed({ orders, ...ranked }: RankedOffers): Omit<Ranking, 'catalogVersion'> {
  return { ...ranked, orders: packOrders(orders) };
}
