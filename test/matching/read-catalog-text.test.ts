import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { readCatalogText } from '../../src/catalogs/parse-catalog.ts';

function readBytes(t: TestContext, bytes: Uint8Array): ReturnType<typeof readCatalogText> {
  const folder = mkdtempSync(join(tmpdir(), 'read-catalog-text-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'offers.json');
  writeFileSync(file, bytes);
  return readCatalogText(file);
}

const text = '{\n  "name": "Crédit \u{1f3e6}",\n  "more": "é"\n}';

test('UTF-8 is read as it stands, with a byte order mark left to be named', (t) => {
  for (const written of ['', text, `\ufeff${text}`]) {
    assert.deepEqual(readBytes(t, Buffer.from(written)), { ok: true, text: written });
  }
});

describe('another encoding is refused at its first line:', () => {
  for (const [name, bytes, line] of [
    ['Latin-1', Buffer.from('{\n  "name": "Cr\u00e9dit"\n}', 'latin1'), 2],
    ['one byte on the last line', Buffer.from([...Buffer.from(`${text}\n`), 0xff]), 5],
    ['a character cut in two by the end', Buffer.from(text).subarray(0, Buffer.from(text).indexOf('é', 24) + 1), 3],
    ['half a surrogate pair in three bytes', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 1],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${text}`, 'utf16le'), 1],
  ] as const) {
    test(name, (t) => {
      assert.deepEqual(readBytes(t, bytes), { ok: false, problem: `must be UTF-8, which line ${line} is not` });
    });
  }
});
