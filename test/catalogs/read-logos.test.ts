import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { renderMonogram } from '../../src/catalogs/read-logos.ts';
import { logoFolder, readLogos } from '../../src/catalogs/read-logos.ts';
import { image, logoFolderOf } from './logo-folder.ts';

const lender = (name: string, logo: string) => ({ name, logo });

test('uses the folder logos in the same folder as the catalog', () => {
  assert.equal(logoFolder('/etc/offers/live.json'), '/etc/offers/logos');
  assert.equal(logoFolder('live.json'), 'logos');
});

test('reads and hashes the bytes of a logo file', async (t) => {
  const folder = logoFolderOf(t, { 'a.svg': image('red'), 'b.svg': image('blue') });
  const { logos, problems, folderFound } = await readLogos(folder, [lender('A', 'a.svg'), lender('B', 'b.svg')]);
  assert.deepEqual([problems, folderFound], [[], true]);
  for (const [name, file, colour] of [
    ['A', 'a.svg', 'red'],
    ['B', 'b.svg', 'blue'],
  ] as const) {
    const logo = logos.get(name)!;
    assert.equal(Buffer.from(logo.svg).toString(), image(colour));
    assert.deepEqual([logo.file, logo.hash], [file, hash('sha256', image(colour), 'hex').slice(0, 16)]);
  }
});

test('reads a shared file for several lenders and renders monograms for a missing one', async (t) => {
  const folder = logoFolderOf(t, { 'a.svg': image('red') });
  const lenders = [lender('A', 'a.svg'), lender('B', 'a.svg'), lender('C', 'no.svg'), lender('D', 'no.svg')];
  const { logos, problems } = await readLogos(folder, lenders);
  assert.equal(logos.get('A'), logos.get('B'));
  for (const name of ['C', 'D']) assert.equal(Buffer.from(logos.get(name)!.svg).toString(), renderMonogram(name));
  assert.deepEqual(problems, [
    { lenderIndex: 2, file: 'no.svg', problem: 'does not exist' },
    { lenderIndex: 3, file: 'no.svg', problem: 'does not exist' },
  ]);
});

test('renders a monogram for an invalid or large file and reports the reason', async (t) => {
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
    files.map((name) => lender(name, `${name}.svg`)),
  );
  assert.deepEqual(
    problems.map(({ file, problem }) => `${file} ${problem}`),
    [
      `large.svg is larger than ${bounds.logoFileBytesMax} bytes`,
      'page.svg is no SVG: it has no svg element of http://www.w3.org/2000/svg at its root (line 1)',
      'latin.svg is no SVG: it is not UTF-8',
      'empty.svg is no SVG: it has no svg element (line 1)',
      'folder.svg is no file',
      'pipe.svg is no file',
      'outside.svg does not exist',
    ],
  );
  for (const name of files.slice(1)) assert.equal(Buffer.from(logos.get(name)!.svg).toString(), renderMonogram(name));
});

test('limits the number of logo files', async (t) => {
  const folder = logoFolderOf(t, { 'last.svg': image('red'), 'beyond.svg': image('red') });
  const filling = Array.from({ length: bounds.logoFilesPerCatalogMax - 1 }, (_, at) => lender(`L${at}`, `l${at}.svg`));
  const lenders = [...filling, lender('last', 'last.svg'), lender('beyond', 'beyond.svg')];
  const { logos, problems } = await readLogos(folder, lenders);
  assert.equal(Buffer.from(logos.get('last')!.svg).toString(), image('red'));
  assert.equal(Buffer.from(logos.get('beyond')!.svg).toString(), renderMonogram('beyond'));
  assert.match(problems.at(-1)!.problem, /^is ignored: a catalog has at most 2000 logo files$/);
});

test('renders monograms without a logo folder, and reports a missing folder only for a catalog file', async (t) => {
  const missing = join(logoFolderOf(t), 'none');
  for (const [folder, count] of [
    [missing, 2],
    [null, 0],
  ] as const) {
    const { logos, problems, folderFound } = await readLogos(folder, [lender('A', 'a.svg'), lender('B', 'b.svg')]);
    assert.deepEqual([logos.size, problems.length, folderFound], [2, count, false]);
  }
});
