import { parentPort, workerData } from 'node:worker_threads';
import { bounds } from '../src/bounds.ts';
import { CatalogArchive } from '../src/offers/catalog-archive.ts';
import type { CatalogJob, CatalogThreadMessage } from '../src/offers/catalog-thread.ts';
import { catalogVersion } from '../src/offers/catalog-version.ts';
import { type CatalogParts, compileParts } from '../src/offers/compile-catalog.ts';
import { parseCatalog } from '../src/offers/parse-catalog.ts';
import { readCatalogText } from '../src/offers/read-catalog-text.ts';

/** The thread behind `compileInThread`: one catalog, then it ends. */

if (parentPort === null) throw new Error('catalogs are compiled in a worker thread');
const port = parentPort;
const send = (message: CatalogThreadMessage) => port.postMessage(message);

try {
  const done = compile(workerData as CatalogJob);
  if ('kind' in done) send(done);
  else sendInPieces(done);
} catch (error) {
  send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}

function compile(job: CatalogJob): CatalogParts | CatalogThreadMessage {
  const { source, vertical, mode, currentVersion, archiveFolder } = job;
  const read = 'text' in source ? ({ ok: true, text: source.text } as const) : readCatalogText(source.file);
  if (!read.ok) return { kind: 'faulty', faults: [`catalog: ${read.problem}`] };
  const parsed = parseCatalog(read.text, vertical);
  if (!parsed.ok) return { kind: 'faulty', faults: parsed.faults };
  const { catalog } = parsed;
  if (catalogVersion(catalog, mode) === currentVersion) return { kind: 'unchanged' };
  const parts = compileParts(catalog, vertical, mode);
  new CatalogArchive(archiveFolder, [vertical]).store(parts.version, { vertical, mode, catalog });
  return parts;
}

/** The next piece goes out when the one before was taken over. */
function sendInPieces({ offers, ...rest }: CatalogParts): void {
  send({ kind: 'compiled', rest });
  let sent = 0;
  const sendNext = () => {
    const piece = offers.slice(sent, sent + bounds.catalogPieceOffers);
    sent += piece.length;
    send(piece.length === 0 ? { kind: 'whole' } : { kind: 'piece', offers: piece });
  };
  port.on('message', sendNext);
  sendNext();
}
