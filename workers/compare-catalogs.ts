import { parentPort, workerData } from 'node:worker_threads';
import type { CatalogComparisonJob } from '../src/catalogs/catalog-comparisons.ts';
import { compareCatalogs } from '../src/catalogs/compare-catalogs.ts';
import { readArchivedCatalog } from '../src/catalogs/read-archived-catalog.ts';

/** Entry point of the thread that `CatalogComparisons` starts. The thread compares two archived catalogs and exits. */

const { archiveFolder, before, after } = workerData as CatalogComparisonJob;
const comparison = compareCatalogs(
  readArchivedCatalog(archiveFolder, before).catalog,
  readArchivedCatalog(archiveFolder, after).catalog,
);
parentPort!.postMessage(comparison, [
  comparison.rows.buffer as ArrayBuffer,
  comparison.rowStarts.buffer as ArrayBuffer,
]);
