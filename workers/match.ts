import { parentPort, workerData } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { bounds } from '../src/bounds.ts';
import { CatalogArchive } from '../src/catalogs/catalog-archive.ts';
import {
  decodeMatchBatch,
  encodeMatchResults,
  type MatchRequestTuple,
  type WorkerMatchResult,
} from '../src/matching/match-batch.ts';
import type { MatchTables } from '../src/matching/match-tables.ts';
import type {
  MatchThreadMessage,
  MatchThreadReply,
  MatchWorkerData,
  VersionedMatchTables,
} from '../src/matching/match-thread.ts';
import { builtInVerticals } from '../src/verticals/built-in-verticals.ts';

/** Entry point of the worker that `MatchThread` starts. The worker processes its messages one after the other. */

if (parentPort === null) throw new Error('workers/match.ts must run in a worker thread');
const port = parentPort;

const { archiveFolder, verticals } = workerData as MatchWorkerData;
const archive = new CatalogArchive(
  archiveFolder,
  verticals.map((vertical) => builtInVerticals.withProduct(vertical)),
);
const tablesByVersion = new LRUCache<string, MatchTables>({ max: bounds.matchWorkerCatalogsMax });

port.on('message', (message: MatchThreadMessage) => port.postMessage(answer(message)));

function answer(message: MatchThreadMessage): MatchThreadReply {
  try {
    if (message instanceof Uint8Array) return { results: rankBatch(message) };
    storeTables(message);
    return {};
  } catch (error) {
    return { error };
  }
}

/** Ranks the offers for each request of a batch. A request that fails does not affect the results of other requests. */
function rankBatch(batch: Uint8Array): Uint8Array {
  const { requests, unavailable } = decodeMatchBatch(batch);
  return encodeMatchResults(requests.map((request, index) => rankRequest(request, unavailable[index] ?? null)));
}

/**
 * Stores the compiled tables of a catalog version. If the tables of a requested version are not stored, `loadTables` compiles them from the
 * archived catalog.
 */
function storeTables({ version, tables }: VersionedMatchTables): void {
  builtInVerticals.getProduct(tables).buildRankingIndexes(tables);
  tablesByVersion.set(version, tables);
}

function rankRequest(
  [catalogVersion, today, ...borrower]: MatchRequestTuple,
  unavailable: Int32Array | null,
): WorkerMatchResult {
  try {
    const tables = loadTables(catalogVersion);
    return builtInVerticals.getProduct(tables).rankOffers(tables, borrower, today, unavailable);
  } catch (error) {
    return { failure: String(error) };
  }
}

function loadTables(catalogVersion: string): MatchTables {
  let tables = tablesByVersion.get(catalogVersion);
  if (tables === undefined) {
    const { catalog, vertical } = archive.loadCatalog(catalogVersion);
    tables = builtInVerticals.getProduct(vertical).compileCatalogTables(catalog, vertical);
    storeTables({ version: catalogVersion, tables });
  }
  return tables;
}
