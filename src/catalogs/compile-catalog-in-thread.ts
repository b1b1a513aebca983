import { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { Mode } from '../domain/mode.ts';
import type { CompiledOffer } from '../verticals/products.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { CompiledCatalogData } from './compile-catalog.ts';

export interface CatalogCompileJob {
  readonly source: { readonly text: string } | { readonly file: string };
  readonly vertical: Vertical;
  readonly mode: Mode;
  /** The version in use, which is not compiled again. */
  readonly currentVersion: string;
  readonly archiveFolder: string;
}

type CatalogCompileResult =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'compiled'; readonly parts: CompiledCatalogData }
  /** The text is not a valid catalog; one line for each error. */
  | { readonly kind: 'invalid'; readonly errors: readonly string[] };

/**
 * Messages of the thread. After each chunk it waits for a message, of any content, before it sends the next:
 *
 *     unchanged | invalid | failed | compiled, chunk, chunk, ..., done
 */
export type CatalogCompileMessage =
  | Exclude<CatalogCompileResult, { kind: 'compiled' }>
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'compiled'; readonly rest: Omit<CompiledCatalogData, 'offers'> }
  | { readonly kind: 'chunk'; readonly offers: readonly CompiledOffer[] }
  | { readonly kind: 'done' };

/**
 * Reads, validates, compiles and archives a catalog in a new thread, because 10,000 offers take more than a second. The result comes in
 * small chunks, one for each turn of the event loop. A catalog that needs more memory than the thread has is invalid. Rejects if the
 * archive cannot be written, if the thread fails otherwise, or if `stop` is aborted.
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
      else if (message.kind === 'done') resolve({ kind: 'compiled', parts: { ...rest, offers } });
      else if (message.kind !== 'chunk') resolve(message);
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
    const end = () => void worker.terminate();
    if (stop.aborted) end();
    else stop.addEventListener('abort', end, { once: true });
  }).finally(() => worker.terminate());
}
