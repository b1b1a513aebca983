import { bounds } from '../../src/bounds.ts';
import { sortOrderNames } from '../../src/domain/vertical.ts';
import { packOffers } from '../../src/matching/matcher.ts';
import type { CachedRanking } from '../../src/sessions/ranking-arena.ts';

interface RankedOptions extends Partial<Omit<CachedRanking, 'ranking'>> {
  readonly total?: number;
  readonly availableOnly?: boolean;
  /** Offer indexes, repeated until the orders are full. */
  readonly offers?: readonly number[];
  readonly catalogVersion?: string;
}

/** Returns a ranking as stored in a session. The length of its sort orders follows from `total`. */
export function rankedOf({
  total = 5,
  availableOnly = false,
  offers = [0, 1, 255, 256, 32_767],
  catalogVersion = 'a1b2c3d4e5f6',
  ...members
}: RankedOptions = {}): CachedRanking {
  const length = sortOrderNames.length * Math.min(total, bounds.offersRankedMax);
  const orders = Uint16Array.from({ length }, (_, at) => offers[at % offers.length]!);
  return {
    ranking: { catalogVersion, total, availableOnly, orders: packOffers(orders) },
    rankedOn: 2026_05_20,
    unavailableSet: 0,
    creditBand: 3,
    clickToken: 'c2VhbGVk',
    ...members,
  };
}
