import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { logoFolder, readLogos } from '../../../src/catalogs/read-logos.ts';
import { exampleCatalogs } from '../../../src/verticals/registry.ts';

const files = exampleCatalogs().map((source) => ('file' in source ? source.file : ''));
const lendersOf = (file: string): { name: string; logo: string }[] => JSON.parse(readFileSync(file, 'utf8')).lenders;

for (const file of files) {
  test(`every lender of ${file.split('/').at(-1)} has its own valid logo`, async () => {
    const { logos, problems } = await readLogos(logoFolder(file), lendersOf(file));
    assert.deepEqual(problems, []);
    assert.equal(new Set([...logos.values()].map(({ hash }) => hash)).size, logos.size);
  });
}

const folder = logoFolder(files[0]!);
const names = new Map(files.flatMap(lendersOf).map(({ name, logo }) => [logo, name]));

test('every logo file belongs to a lender', () => {
  assert.deepEqual(readdirSync(folder).sort(), [...names.keys()].sort());
});

describe('a shipped logo is small and square and contains only drawing elements', () => {
  for (const name of readdirSync(folder)) {
    test(name, () => {
      const text = readFileSync(join(folder, name), 'utf8');
      assert.ok(text.length < 2_048);
      assert.match(
        text,
        /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="64" height="64" viewBox="0 0 64 64">\n/,
      );
      const drawing = ['svg', 'title', 'g', 'rect', 'circle', 'ellipse', 'path'];
      for (const [, tag] of text.matchAll(/<([^\s/>]+)/g)) assert.ok(drawing.includes(tag!), `holds <${tag}>`);
      assert.equal(/^<title>(.*)<\/title>$/m.exec(text)?.[1]?.replace('&amp;', '&'), names.get(name));
      const rest = text.replace('xmlns="http://www.w3.org/2000/svg"', '').replace('&amp;', '');
      assert.doesNotMatch(rest, /\son\w+\s*=|href|url\(|:\/\/|style|&/i);
    });
  }
});
