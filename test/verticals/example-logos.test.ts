import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { logoFolder, readLogos } from '../../src/catalogs/read-logos.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

const lendersOf = (file: string): { name: string; logo: string }[] => JSON.parse(readFileSync(file, 'utf8')).lenders;

for (const vertical of builtInVerticals.verticals) {
  const files = builtInVerticals
    .listExampleCatalogs()
    .flatMap((source) => (source.vertical === vertical && 'file' in source ? [source.file] : []));
  const folder = logoFolder(files[0]!);
  const names = new Map(files.flatMap(lendersOf).map(({ name, logo }) => [logo, name]));

  describe(`the logos of the example catalogs of ${vertical.segment}`, () => {
    test('every lender has its own valid logo, and every logo file belongs to a lender', async () => {
      for (const file of files) {
        const { logos, problems } = await readLogos(logoFolder(file), lendersOf(file));
        assert.deepEqual(problems, []);
        assert.equal(new Set([...logos.values()].map(({ hash }) => hash)).size, lendersOf(file).length);
      }
      assert.deepEqual(readdirSync(folder).sort(), [...names.keys()].sort());
    });

    test('the logos are small square SVG images without scripts, styles or links', () => {
      const head = '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64">\n';
      const drawing = ['svg', 'title', 'g', 'rect', 'circle', 'ellipse', 'path'];
      for (const [file, name] of names) {
        const text = readFileSync(join(folder, file), 'utf8');
        assert.ok(text.length < 2_048 && text.startsWith(head), file);
        for (const [, tag] of text.matchAll(/<([^\s/>]+)/g)) assert.ok(drawing.includes(tag!), `${file} has <${tag}>`);
        assert.equal(/^<title>(.*)<\/title>$/m.exec(text)?.[1]?.replace('&amp;', '&'), name);
        const rest = text.slice(head.length).replace('&amp;', '');
        assert.doesNotMatch(rest, /\son\w+\s*=|href|url\(|:\/\/|style|&/i, file);
      }
    });
  });
}
