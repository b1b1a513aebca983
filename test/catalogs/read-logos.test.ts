import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { findSvgProblem } from '../../src/catalogs/find-svg-problem.ts';
import { initialsOf, logoFolder, monogramColors, readLogos, renderMonogram } from '../../src/catalogs/read-logos.ts';
import { image, logoFolderOf } from './logo-folder.ts';

const lender = (name: string, logo = `${name.toLowerCase()}.svg`) => ({ name, logo });

describe('readLogos', () => {
  test('the logo folder is the folder named logos beside the catalog file', () => {
    assert.equal(logoFolder('/etc/offers/live.json'), '/etc/offers/logos');
    assert.equal(logoFolder('live.json'), 'logos');
  });

  test('reads and hashes logo files, also if several lenders share a file, and renders a monogram for a missing file', async (t) => {
    const folder = logoFolderOf(t, { 'a.svg': image('red'), 'b.svg': image('blue') });
    const lenders = [lender('A'), lender('B'), lender('A2', 'a.svg'), lender('C', 'no.svg'), lender('D', 'no.svg')];
    const { logos, problems, folderFound } = await readLogos(folder, lenders);
    assert.ok(folderFound);
    for (const [name, file, color] of [
      ['A', 'a.svg', 'red'],
      ['B', 'b.svg', 'blue'],
    ] as const) {
      const logo = logos.get(name)!;
      assert.equal(Buffer.from(logo.svg).toString(), image(color));
      assert.deepEqual([logo.file, logo.hash], [file, hash('sha256', image(color), 'hex').slice(0, 16)]);
    }
    assert.equal(logos.get('A'), logos.get('A2'));
    for (const name of ['C', 'D']) assert.equal(Buffer.from(logos.get(name)!.svg).toString(), renderMonogram(name));
    const missing = { file: 'no.svg', problem: 'does not exist' };
    assert.deepEqual(
      problems,
      [3, 4].map((lenderIndex) => ({ lenderIndex, ...missing })),
    );
  });

  test('renders a monogram for an invalid or too large logo file, and reports the reason', async (t) => {
    const padded = (bytes: number) => image('red') + ' '.repeat(bytes - image('red').length);
    const folder = logoFolderOf(t, {
      'fits.svg': padded(bounds.logoFileBytesMax),
      'large.svg': padded(bounds.logoFileBytesMax + 1),
      'page.svg': '<html></html>',
      'latin.svg': Buffer.from(image('red').replace('red', 'r\u00e9d'), 'latin1'),
      'empty.svg': '',
    });
    mkdirSync(join(folder, 'folder.svg'));
    execFileSync('mkfifo', [join(folder, 'pipe.svg')]);
    writeFileSync(join(folder, '..', 'outside.svg'), image('red'));
    const files = ['fits', 'large', 'page', 'latin', 'empty', 'folder', 'pipe', 'outside'];
    const { logos, problems } = await readLogos(
      folder,
      files.map((name) => lender(name)),
    );
    assert.deepEqual(
      problems.map(({ file, problem }) => `${file} ${problem}`),
      [
        `large.svg is larger than ${bounds.logoFileBytesMax} bytes`,
        'page.svg is not a valid SVG image: it has no svg element of http://www.w3.org/2000/svg at its root (line 1)',
        'latin.svg is not a valid SVG image: it is not UTF-8',
        'empty.svg is not a valid SVG image: it is not well-formed XML: document must contain a root element (line 1)',
        'folder.svg is a folder',
        'pipe.svg is a named pipe',
        'outside.svg does not exist',
      ],
    );
    for (const name of files.slice(1)) assert.equal(Buffer.from(logos.get(name)!.svg).toString(), renderMonogram(name));
  });

  test('renders monograms for lenders beyond the maximum number of logo files', async (t) => {
    const folder = logoFolderOf(t, { 'last.svg': image('red'), 'beyond.svg': image('red') });
    const filling = Array.from({ length: bounds.logoFilesPerCatalogMax - 1 }, (_, at) => lender(`l${at}`));
    const { logos, problems } = await readLogos(folder, [...filling, lender('last'), lender('beyond')]);
    assert.equal(Buffer.from(logos.get('last')!.svg).toString(), image('red'));
    assert.equal(Buffer.from(logos.get('beyond')!.svg).toString(), renderMonogram('beyond'));
    assert.match(problems.at(-1)!.problem, /^is ignored: a catalog has at most 2000 logo files$/);
  });

  test('renders monograms without a logo folder, and reports problems only if a folder is configured but missing', async (t) => {
    for (const [folder, count] of [
      [join(logoFolderOf(t), 'none'), 2],
      [null, 0],
    ] as const) {
      const { logos, problems, folderFound } = await readLogos(folder, [lender('A'), lender('B')]);
      assert.deepEqual([logos.size, problems.length, folderFound], [2, count, false]);
    }
  });
});

describe('a monogram', () => {
  test('a monogram contains the first letters of the first two words, in upper case', () => {
    for (const [name, expected] of [
      ['Northfield Lending', 'NL'],
      ['Harbor & Pine Bank', 'HP'],
      ['ember', 'E'],
      ['élan crédit', 'ÉC'],
      ["O'Neill Trust", 'OT'],
      ['1st Federal', '1F'],
      ['ßank', 'S'],
      ['𝒜pex Loans', '𝒜L'],
      ['<b>old</b>', 'BO'],
      ['*** &', ''],
      ['', ''],
    ] as const) {
      assert.equal(initialsOf(name), expected, name);
    }
  });

  test('a monogram escapes markup in the lender name', () => {
    const svg = renderMonogram('</title><script>alert(1)</script> & "Sons"');
    assert.ok(svg.includes('<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; "Sons"</title>'));
  });

  test('for every lender name, the monogram is a well-formed image without scripts or links', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii' })), (name) => {
        const svg = renderMonogram(name);
        assert.equal(findSvgProblem(svg), null);
        assert.doesNotMatch(svg.replace(/<title>.*?<\/title>/s, ''), /script|href|url\(|\son|&(?!amp;)/i);
      }),
    );
  });

  test('the same name always has the same monogram color, and every color has enough contrast', () => {
    assert.equal(renderMonogram('Plain Lender'), renderMonogram('Plain Lender'));
    const rendered = Array.from({ length: 200 }, (_, at) => renderMonogram(`L${at}`));
    const used = new Set(rendered.map((svg) => /rx="14" fill="(#\w+)"/.exec(svg)?.[1]));
    assert.deepEqual([...used].sort(), [...monogramColors].sort());
    for (const color of monogramColors) {
      assert.ok(contrast(color, '#ffffff') >= 4.5, color);
      assert.ok(contrast(color, '#111111') >= 3, color);
    }
  });
});

/** Computes the WCAG 2 contrast of two sRGB colors. */
function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
