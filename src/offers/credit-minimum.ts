import type { Vertical } from '../verticals/vertical.ts';
import type { CatalogOffer } from './catalog-schema.ts';

/**
 * The share of a credit band's scores that an offer takes: 1 without a least score, 0 where the whole band lies below it.
 * Nothing is known of a borrower's place inside a band, so each of its scores counts the same.
 */
export function servedScoreShare(
  { min_credit_score: least }: CatalogOffer,
  { creditScores }: Vertical,
  band: number,
): number {
  const scores = creditScores?.[band];
  if (least === undefined || scores === undefined) return 1;
  const { min, max } = scores;
  return Math.max(0, max - Math.max(min, least) + 1) / (max - min + 1);
}
