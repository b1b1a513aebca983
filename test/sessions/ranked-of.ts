import { bounds } from '../../src/bounds.ts';
import { noUnavailableOffers, packOrders, sortOrders, type UnavailableOffers } from '../../src/matching/matcher.ts';
import type { CachedRanking } from '../../src/sessions/session-store.ts';

interface RankedWanted {
  readonly total?: number;
  readonly openOnly?: boolean;
  /** Offer indexes, repeated until the orders are full. */
  readonly offers?: readonly number[];
  readonly version?: string;
  readonly closed?: UnavailableOffers;
  readonly today?: number;
  readonly creditBand?: number;
  readonly sealedValue?: string;
}

/** Returns a ranking as stored in a session. The length of its sort orders follows from `total`. */
export function rankedOf({
  total = 5,
  openOnly: availableOnly = false,
  offers = [0, 1, 255, 256, 32_767],
  version = 'a1b2c3d4e5f6',
  closed: unavailableOffers = noUnavailableOffers,
  today: rankedOn = 2026_05_20,
  creditBand = 3,
  sealedValue: clickToken = 'c2VhbGVk',
}: RankedWanted): CachedRanking {
  const orders = Uint16Array.from(
    { length: sortOrders.length * Math.min(total, bounds.offersRankedMax) },
    (_, at) => offers[at % offers.length]!,
  );
  return {
    ranking: { catalogVersion: version, total, availableOnly, orders: packOrders(orders) },
    ...{ rankedOn, unavailableOffers, creditBand, clickToken },
  };
}
