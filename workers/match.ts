import { workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { bounds } from '../src/bounds.ts';
import { CatalogArchive } from '../src/offers/catalog-archive.ts';
import { prepareRanking, rankOffers } from '../src/offers/match.ts';
import { type BatchAnswer, type BatchRequest, decodeBatch, encodeAnswers } from '../src/offers/match-batch.ts';
import { compileMatchTables, type MatchTables } from '../src/offers/match-tables.ts';
import type { MatchWorkerData, PreparedTables } from '../src/offers/match-thread.ts';

/** The entry of a matching worker: Piscina calls the functions exported here. */

const { archiveFolder, verticals } = workerData as MatchWorkerData;
const archive = new CatalogArchive(archiveFolder, verticals);
const tablesOfVersions = new LRUCache<string, MatchTables>({ max: bounds.matcherCatalogsMax });

/** Answers a batch. A request that cannot be answered fails alone. */
export default function match(batch: Uint8Array): Uint8Array {
  const { requests, closed } = decodeBatch(batch);
  return encodeAnswers(requests.map((request, at) => answer(request, closed[at] ?? null)));
}

/** Takes over the tables of a catalog version. One that was replaced before this thread came is loaded and compiled, if asked for. */
export function prepare({ catalogVersion, tables }: PreparedTables): void {
  prepareRanking(tables);
  tablesOfVersions.set(catalogVersion, tables);
}

function answer([catalogVersion, today, ...borrower]: BatchRequest, closed: Int32Array | null): BatchAnswer {
  try {
    return rankOffers(tablesOf(catalogVersion), borrower, today, closed);
  } catch (fault) {
    return { failure: String(fault) };
  }
}

function tablesOf(catalogVersion: string): MatchTables {
  let tables = tablesOfVersions.get(catalogVersion);
  if (tables === undefined) {
    const { catalog, vertical } = archive.load(catalogVersion);
    tables = compileMatchTables(catalog, vertical);
    prepareRanking(tables);
    tablesOfVersions.set(catalogVersion, tables);
  }
  return tables;
}
