import type { GrantAmounts, GrantOutcome, GrantRequest } from './quota-store.ts';

/** State of the shards that determines how much a shard gets at once. */
export interface ShardsState {
  /** Number of shards. */
  readonly count: number;
  /** Whether each shard has activated a catalog of the vertical and mode, so that the store knows the use of each shard. */
  readonly allActive: boolean;
  /** Whether all shards have activated the same version of the catalog. */
  readonly sameCatalog: boolean;
}

/**
 * Rule of `QuotaStore.settle`: returns the new grant of a shard. The sum of all grants exceeds the limit only if the use alone exceeds it,
 * for example after the limit was lowered.
 *
 * A shard usually gets a part of what is left, so that it seldom asks. Until all shards have activated the same catalog, it gets only the
 * amount that it needs: a shard with the old catalog may still raise its use under the old limit, and no shard may have an unused rest when
 * the last shard activates a lower limit.
 *
 * @param others grants of the other shards for the same quota
 */
export function settleGrant(
  { granted: requested, used, need, limit }: Pick<GrantRequest, 'granted' | 'used' | 'need' | 'limit'>,
  others: readonly GrantAmounts[],
  { count, allActive, sameCatalog }: ShardsState,
): { readonly granted: number; readonly outcome: Exclude<GrantOutcome, 'outdated'> } {
  const granted = Math.max(requested, used);
  if (need === 0) return { granted, outcome: 'settled' };
  if (!allActive) return { granted, outcome: 'contended' };
  let [left, returnable] = [limit - granted, 0];
  for (const other of others) {
    left -= other.granted;
    returnable += other.granted - other.used;
  }
  if (left < need) return { granted, outcome: left + returnable < need ? 'exhausted' : 'contended' };
  const block = sameCatalog ? Math.max(need, Math.floor(left / (2 * count))) : need;
  return { granted: granted + block, outcome: 'granted' };
}
