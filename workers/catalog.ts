import { parentPort, workerData } from 'node:worker_threads';
import { bounds } from '../src/bounds.ts';
import {
  type CatalogCompileJob,
  type CatalogCompileMessage,
  compileCatalogSource,
} from '../src/catalogs/compile-catalog-in-thread.ts';
import type { CompiledCatalogData } from '../src/catalogs/offer-view.ts';
import { builtInVerticals } from '../src/verticals/built-in-verticals.ts';

/** Entry point of the thread that `compileCatalogInThread` starts. The thread compiles one catalog and exits. */

if (parentPort === null) throw new Error('workers/catalog.ts must run in a worker thread');
const port = parentPort;
const sendMessage = (message: CatalogCompileMessage) => port.postMessage(message);

try {
  const job = workerData as CatalogCompileJob;
  const result = compileCatalogSource(job, builtInVerticals.getProduct(job.vertical));
  if (result.kind === 'compiled') sendInChunks(result.parts, result.warnings);
  else sendMessage(result);
} catch (error) {
  sendMessage({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}

/** Sends the compiled offers to the main thread in chunks. Sends the next chunk when the main thread acknowledges the previous one. */
function sendInChunks({ offers, ...rest }: CompiledCatalogData, warnings: readonly string[]): void {
  sendMessage({ kind: 'compiled', rest, warnings });
  let sent = 0;
  const sendNextChunk = () => {
    const chunk = offers.slice(sent, sent + bounds.catalogTransferOffersPerTurn);
    sent += chunk.length;
    sendMessage(chunk.length === 0 ? { kind: 'done' } : { kind: 'chunk', offers: chunk });
  };
  port.on('message', sendNextChunk);
  sendNextChunk();
}
