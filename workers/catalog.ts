import { parentPort, workerData } from 'node:worker_threads';
import { bounds } from '../src/bounds.ts';
import { CatalogArchive } from '../src/catalogs/catalog-archive.ts';
import { type CompiledCatalogData, compileCatalogData } from '../src/catalogs/compile-catalog.ts';
import type { CatalogCompileJob, CatalogCompileMessage } from '../src/catalogs/compile-catalog-in-thread.ts';
import { catalogVersion } from '../src/catalogs/identifiers.ts';
import { parseCatalog, readCatalogText } from '../src/catalogs/parse-catalog.ts';

/** Entry point of the thread that `compileCatalogInThread` starts. It compiles one catalog and exits. */

if (parentPort === null) throw new Error('catalogs are compiled in a worker thread');
const port = parentPort;
const sendMessage = (message: CatalogCompileMessage) => port.postMessage(message);

try {
  const done = compileJob(workerData as CatalogCompileJob);
  if ('kind' in done) sendMessage(done);
  else sendInChunks(done);
} catch (error) {
  sendMessage({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}

function compileJob(job: CatalogCompileJob): CompiledCatalogData | CatalogCompileMessage {
  const { source, vertical, mode, currentVersion, archiveFolder } = job;
  const read = 'text' in source ? ({ ok: true, text: source.text } as const) : readCatalogText(source.file);
  if (!read.ok) return { kind: 'invalid', errors: [`catalog: ${read.problem}`] };
  const parsed = parseCatalog(read.text, vertical);
  if (!parsed.ok) return { kind: 'invalid', errors: parsed.errors };
  const { catalog } = parsed;
  if (catalogVersion(catalog, mode) === currentVersion) return { kind: 'unchanged' };
  const parts = compileCatalogData(catalog, vertical, mode);
  new CatalogArchive(archiveFolder, [vertical]).store(parts.version, { vertical, mode, catalog });
  return parts;
}

/** Sends the offers in chunks. Each chunk is sent after the main thread has confirmed the previous chunk. */
function sendInChunks({ offers, ...rest }: CompiledCatalogData): void {
  sendMessage({ kind: 'compiled', rest });
  let sent = 0;
  const sendNext = () => {
    const chunk = offers.slice(sent, sent + bounds.catalogTransferOffersPerTurn);
    sent += chunk.length;
    sendMessage(chunk.length === 0 ? { kind: 'done' } : { kind: 'chunk', offers: chunk });
  };
  port.on('message', sendNext);
  sendNext();
}
