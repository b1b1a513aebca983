import { LRUCache } from 'lru-cache';
import { bounds } from '../src/bounds.ts';
import {
  decodeMatchBatch,
  encodeMatchResults,
  type MatchRequestTuple,
  type WorkerMatchResult,
} from '../src/matching/match-batch.ts';
import type { MatchTables } from '../src/matching/match-tables.ts';
import type { MatchTask, MatchTaskResult } from '../src/matching/pool-matcher.ts';
import { builtInVerticals } from '../src/verticals/built-in-verticals.ts';

const cachedTables = new LRUCache<string, MatchTables>({ max: bounds.matchWorkerCatalogsMax });

/**
 * Ranks the offers for each request of a batch, in a thread of `PoolMatcher`. A request that fails does not affect the results of other
 * requests. If the thread has no tables of a catalog version, returns the missing versions instead of rankings.
 */
export function matchBatch({ batch, catalogs }: MatchTask): MatchTaskResult {
  for (const [version, tables] of catalogs) cachedTables.set(version, tables);
  const { requests, unavailable } = decodeMatchBatch(batch);
  const tablesByVersion = new Map(catalogs);
  const missing = new Set<string>();
  for (const [version] of requests) {
    const tables = tablesByVersion.get(version) ?? cachedTables.get(version);
    if (tables === undefined) missing.add(version);
    else tablesByVersion.set(version, tables);
  }
  if (missing.size > 0) return { missing: [...missing] };
  const results = requests.map((request, index) =>
    rankRequest(tablesByVersion.get(request[0])!, request, unavailable[index] ?? null),
  );
  return { results: encodeMatchResults(results) };
}

function rankRequest(
  tables: MatchTables,
  [, today, ...borrower]: MatchRequestTuple,
  unavailable: Int32Array | null,
): WorkerMatchResult {
  try {
    return builtInVerticals.getProduct(tables).rankOffers(tables, borrower, today, unavailable);
  } catch (error) {
    return { failure: String(error) };
  }
}
