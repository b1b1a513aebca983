import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import { SerialQueue } from '../domain/async.ts';
import type { CatalogComparison } from './compare-catalogs.ts';

/** Data of the thread `workers/compare-catalogs.ts`, which sends one `CatalogComparison` and exits. */
export interface CatalogComparisonJob {
  readonly archiveFolder: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Compares archived catalogs in a thread, because parsing two catalogs of 20,000 offers takes about a second. Compares one pair of versions
 * at a time, and stores the last comparisons.
 */
export class CatalogComparisons {
  readonly #archiveFolder: string;
  readonly #queue = new SerialQueue(bounds.catalogComparisonQueueMax);
  readonly #stored = new LRUCache<string, CatalogComparison>({ max: bounds.catalogComparisonsStoredMax });
  readonly #closing = new AbortController();

  constructor(archiveFolder: string) {
    this.#archiveFolder = archiveFolder;
  }

  /** Compares two versions. Returns null if the queue is full. Rejects if an archived catalog cannot be read, or after `close`. */
  async compare(before: string, after: string): Promise<CatalogComparison | null> {
    const key = `${before} ${after}`;
    return (
      this.#stored.get(key) ??
      (await this.#queue.run(async () => {
        const stored = this.#stored.get(key);
        if (stored !== undefined) return stored;
        const comparison = await this.#compareInThread({ archiveFolder: this.#archiveFolder, before, after });
        this.#stored.set(key, comparison);
        return comparison;
      })) ??
      null
    );
  }

  /** Ends a running comparison. All later comparisons fail. */
  close(): void {
    this.#closing.abort();
  }

  #compareInThread(job: CatalogComparisonJob): Promise<CatalogComparison> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const worker = new Worker(new URL('../../workers/compare-catalogs.ts', import.meta.url), {
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: bounds.catalogThreadHeapMegabytes },
    });
    const end = () => void worker.terminate();
    signal.addEventListener('abort', end);
    return new Promise<CatalogComparison>((resolve, reject) => {
      worker.on('message', resolve);
      worker.on('error', reject);
      worker.on('exit', () => reject(new Error('thread that compares catalogs exited')));
    }).finally(() => {
      signal.removeEventListener('abort', end);
      return worker.terminate();
    });
  }
}
