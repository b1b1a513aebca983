import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** The text of a body, by the header that says how it was sent. */
export function unpacked(bytes: Buffer, headers: ReadonlyMap<string, string>): string {
  const encoding = headers.get('content-encoding');
  // An answer to HEAD has the header without the body.
  if (encoding === undefined || bytes.length === 0) return bytes.toString();
  if (encoding === 'br') return brotliDecompressSync(bytes).toString();
  if (encoding === 'gzip') return gunzipSync(bytes).toString();
  return assert.fail(`a body is sent as ${encoding}`);
}
