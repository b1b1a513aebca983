import { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { Vertical } from '../domain/vertical.ts';
import { CatalogArchive } from './catalog-archive.ts';
import { computeCatalogVersion } from './catalog-version.ts';
import { compileCatalogData } from './compile-catalog.ts';
import type { CompiledCatalogData, CompiledOffer } from './offer-view.ts';
import type { CatalogText } from './parse-catalog.ts';
import type { VerticalProduct } from './product.ts';
import { summarizeCatalog } from './replaced-catalog.ts';

export interface CatalogCompileJob {
  readonly source: CatalogText;
  /** Version of an archived catalog that is compiled instead of `source`; null to compile `source`. */
  readonly archivedVersion: string | null;
  readonly vertical: Vertical;
  readonly mode: ApiKeyMode;
  /** Current UTC day in days since the Unix epoch; undefined if offers may have an `as_of` in the future. */
  readonly today: number | undefined;
  /** Version of the catalog in use. If `source` has the version `currentVersion`, the result is `unchanged` and nothing is compiled. */
  readonly currentVersion: string;
  readonly archiveFolder: string;
}

export type CatalogCompileResult =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'compiled'; readonly parts: CompiledCatalogData; readonly warnings: readonly string[] }
  /** Result for a source that is not a valid catalog. `errors` has one line for each error. */
  | { readonly kind: 'invalid'; readonly errors: readonly string[] };

/** Reads, validates, compiles and archives a catalog in the calling thread. Throws if the archive cannot be read or written. */
export function compileCatalogSource(job: CatalogCompileJob, product: VerticalProduct): CatalogCompileResult {
  const { source, mode, today, currentVersion, archiveFolder } = job;
  const vertical = { vertical: job.vertical, product };
  const archive = new CatalogArchive(archiveFolder, [vertical]);
  if (job.archivedVersion !== null) {
    const { catalog } = archive.loadCatalog(job.archivedVersion);
    return { kind: 'compiled', parts: compileCatalogData(catalog, vertical, mode), warnings: [] };
  }
  const parsed = archive.parseSource(source, vertical, mode, today);
  if (!parsed.ok) return { kind: 'invalid', errors: parsed.errors };
  const { catalog, warnings } = parsed;
  if (computeCatalogVersion(catalog, mode) === currentVersion) return { kind: 'unchanged' };
  const parts = compileCatalogData(catalog, vertical, mode);
  archive.storeCatalog(parts.version, { ...vertical, mode, catalog });
  archive.storeSummary(parts.version, summarizeCatalog(parts, vertical.vertical, mode));
  return { kind: 'compiled', parts, warnings };
}

/**
 * Messages from the thread that compiles a catalog. After each chunk of offers, the thread waits for a reply (any message). The messages
 * have this order, where `|` separates alternatives:
 *
 *     unchanged | invalid | failed | compiled, chunk, chunk, ..., done
 */
export type CatalogCompileMessage =
  | Exclude<CatalogCompileResult, { kind: 'compiled' }>
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'compiled';
      readonly rest: Omit<CompiledCatalogData, 'offers'>;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'chunk'; readonly offers: readonly CompiledOffer[] }
  | { readonly kind: 'done' };

/**
 * Calls `compileCatalogSource` in a new thread, because compiling 10,000 offers takes more than a second. The thread sends the compiled
 * offers in small chunks; the calling thread handles one chunk per turn of its event loop. If the thread runs out of memory, the result is
 * `invalid`. Rejects if `stop` is aborted, or if the thread fails for any other reason (such as a full disk).
 */
export function compileCatalogInThread(
  job: CatalogCompileJob,
  stop: AbortSignal,
  heapMegabytes: number = bounds.catalogThreadHeapMegabytes,
): Promise<CatalogCompileResult> {
  const worker = new Worker(new URL('../../workers/catalog.ts', import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
  });
  const end = () => void worker.terminate();
  return new Promise<CatalogCompileResult>((resolve, reject) => {
    let compiled: Extract<CatalogCompileMessage, { kind: 'compiled' }>;
    const offers: CompiledOffer[] = [];
    worker.on('message', (message: CatalogCompileMessage) => {
      if (message.kind === 'failed') reject(new Error(message.reason));
      else if (message.kind === 'compiled') compiled = message;
      else if (message.kind === 'done') {
        const { rest, warnings } = compiled;
        resolve({ kind: 'compiled', parts: { ...rest, offers }, warnings });
      } else if (message.kind !== 'chunk') resolve(message);
      else {
        for (const offer of message.offers) offers.push(offer);
        setImmediate(() => worker.postMessage('next'));
      }
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') reject(error);
      else resolve({ kind: 'invalid', errors: [`catalog: needs more than ${heapMegabytes} MB of memory`] });
    });
    worker.on('exit', () => reject(new Error('catalog compiler thread exited')));
    if (stop.aborted) end();
    else stop.addEventListener('abort', end);
  }).finally(() => {
    stop.removeEventListener('abort', end);
    return worker.terminate();
  });
}
