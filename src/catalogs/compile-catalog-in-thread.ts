import { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { Mode } from '../domain/mode.ts';
import type { CompiledOffer } from '../verticals/products.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { CompiledCatalogData } from './compile-catalog.ts';

/** What the thread is started with: where a catalog is, whom it is for, and where it is to be kept. */
export interface CatalogCompileJob {
  readonly source: { readonly text: string } | { readonly file: string };
  readonly vertical: Vertical;
  readonly mode: Mode;
  /** The version in use, which need not be compiled again. */
  readonly currentVersion: string;
  readonly archiveFolder: string;
}

type CatalogCompileResult =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'compiled'; readonly parts: CompiledCatalogData }
  /** The text is no catalog; a line each. */
  | { readonly kind: 'faulty'; readonly faults: readonly string[] };

/**
 * What the thread sends. A piece is answered by a message of any content, which asks for the next:
 *
 *     unchanged | faulty | failed | compiled, piece, piece, ..., whole
 */
export type CatalogCompileMessage =
  | Exclude<CatalogCompileResult, { kind: 'compiled' }>
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'compiled'; readonly rest: Omit<CompiledCatalogData, 'offers'> }
  | { readonly kind: 'piece'; readonly offers: readonly CompiledOffer[] }
  | { readonly kind: 'whole' };

/**
 * Reads, checks, compiles and archives a catalog in a thread of its own, which ends with it: for ten thousand offers that
 * takes more than a second, in which the calling thread has requests to answer. What comes back is taken in small pieces, one
 * a turn of the event loop. A catalog for which the thread's memory is too small is faulty. Rejects when the archive cannot be
 * written, or the thread dies of anything else or is told to stop.
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
  return new Promise<CatalogCompileResult>((resolve, reject) => {
    let rest: Omit<CompiledCatalogData, 'offers'>;
    const offers: CompiledOffer[] = [];
    worker.on('message', (message: CatalogCompileMessage) => {
      if (message.kind === 'failed') reject(new Error(message.reason));
      else if (message.kind === 'compiled') rest = message.rest;
      else if (message.kind === 'whole') resolve({ kind: 'compiled', parts: { ...rest, offers } });
      else if (message.kind !== 'piece') resolve(message);
      else {
        for (const offer of message.offers) offers.push(offer);
        setImmediate(() => worker.postMessage('next'));
      }
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') reject(error);
      else resolve({ kind: 'faulty', faults: [`catalog: takes more than ${heapMegabytes} MB of memory to read`] });
    });
    worker.on('exit', () => reject(new Error('the thread that reads catalogs ended')));
    const end = () => void worker.terminate();
    if (stop.aborted) end();
    else stop.addEventListener('abort', end, { once: true });
  }).finally(() => worker.terminate());
}
