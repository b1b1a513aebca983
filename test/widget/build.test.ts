import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterwards } from '../support/afterwards.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';

const builder = fileURLToPath(new URL('../../bin/build-widget.ts', import.meta.url));

test('the widget script is one small file without URLs of other hosts', (t) => {
  const folder = temporaryFolder();
  afterwards(t, () => rmSync(folder, { recursive: true }));
  execFileSync(process.execPath, [builder, folder]);
  const script = readFileSync(join(folder, 'widget.js'));
  // The size includes the styles.
  assert.ok(gzipSync(script).length < 12_000, `${gzipSync(script).length} bytes with gzip`);
  assert.ok(brotliCompressSync(script).length < 12_000, `${brotliCompressSync(script).length} bytes with brotli`);
  // The compressed files contain the same script.
  assert.deepEqual(gunzipSync(readFileSync(join(folder, 'widget.js.gz'))), script);
  assert.deepEqual(brotliDecompressSync(readFileSync(join(folder, 'widget.js.br'))), script);
  const text = script.toString();
  for (const banned of [
    /\beval\b/,
    /\bnew Function\b|[^\w.]Function\(/,
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write/,
    /\bcookie\b|localStorage|sessionStorage|indexedDB/,
    /https?:\/\/[\w.]/,
    /sourceMappingURL/,
  ]) {
    assert.doesNotMatch(text, banned);
  }
  // A second build has the same content.
  execFileSync(process.execPath, [builder, join(folder, 'again')]);
  assert.deepEqual(readFileSync(join(folder, 'again', 'widget.js')), script);
});
