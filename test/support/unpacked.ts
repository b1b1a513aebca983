import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** Returns the text of a body, decompressed according to its Content-Encoding header. */
export function unpacked(bytes: Buffer, headers: ReadonlyMap<string, string>): string {
  const encoding = headers.get('content-encoding');
  // A response to HEAD has the header but no body.
  if (encoding === undefined || bytes.length === 0) return bytes.toString();
  if (encoding === 'br') return brotliDecompressSync(bytes).toString();
  if (encoding === 'gzip') return gunzipSync(bytes).toString();
  return assert.fail(`a body is sent as ${encoding}`);
}
