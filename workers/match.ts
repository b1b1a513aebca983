import { workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { bounds } from '../src/bounds.ts';
import { CatalogArchive } from '../src/catalogs/catalog-archive.ts';
import { type BatchRequest, decodeBatch, encodeResults, type WorkerResult } from '../src/matching/match-batch.ts';
import type { MatchTables } from '../src/matching/match-tables.ts';
import type { MatchWorkerData, PreparedTables } from '../src/matching/match-thread.ts';
import { prepareRanking, rankOffers } from '../src/matching/ranker.ts';
import { productOf } from '../src/verticals/products.ts';

/** Entry point of a matching thread. Piscina calls the exported functions. */

const { archiveFolder, verticals } = workerData as MatchWorkerData;
const archive = new CatalogArchive(archiveFolder, verticals);
const tablesByVersion = new LRUCache<string, MatchTables>({ max: bounds.matchWorkerCatalogsMax });

/** Ranks the offers for a batch of requests. A request that fails does not affect the other requests. */
export default function match(batch: Uint8Array): Uint8Array {
  const { requests, unavailable } = decodeBatch(batch);
  return encodeResults(requests.map((request, index) => rankRequest(request, unavailable[index] ?? null)));
}

/** Stores the tables of a catalog version. Tables of other versions are compiled from the archived catalog at their first request. */
export function prepare({ catalogVersion, tables }: PreparedTables): void {
  prepareRanking(tables);
  tablesByVersion.set(catalogVersion, tables);
}

function rankRequest([catalogVersion, today, ...borrower]: BatchRequest, unavailable: Int32Array | null): WorkerResult {
  try {
    return rankOffers(loadTables(catalogVersion), borrower, today, unavailable);
  } catch (error) {
    return { failure: String(error) };
  }
}

function loadTables(catalogVersion: string): MatchTables {
  let tables = tablesByVersion.get(catalogVersion);
  if (tables === undefined) {
    const { catalog, vertical } = archive.load(catalogVersion);
    tables = productOf(vertical).compileTables(catalog, vertical);
    prepareRanking(tables);
    tablesByVersion.set(catalogVersion, tables);
  }
  return tables;
}
