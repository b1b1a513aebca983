import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { contentHash } from '../domain/content-hash.ts';
import type { CompressedFile } from '../faces/packed-file.ts';

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

/** Well below the best: that would take seconds for the renderer, for a tenth less to send. */
const brotliQuality = 6;

/** Packs a file in threads of the pool, so that requests go on meanwhile. */
export async function compressFile(content: string | Uint8Array): Promise<CompressedFile> {
  const plain = typeof content === 'string' ? Buffer.from(content) : content;
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
  // One after the other: the pool also writes the ledger.
  return { hash: contentHash(plain), plain, gzip: await gzipAsync(plain), brotli: await brotliAsync(plain, { params }) };
}
