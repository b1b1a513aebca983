import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type LogoCatalog, LogoService } from '../../src/catalogs/logo-service.ts';
import { renderMonogram } from '../../src/catalogs/read-logos.ts';
import { image, logoFolderOf } from './logo-folder.ts';

/** A catalog that notes which hashes it was given. */
class NotingCatalog implements LogoCatalog {
  readonly lenders: LogoCatalog['lenders'];
  readonly given: ReadonlyMap<string, string>[] = [];

  constructor(...names: string[]) {
    this.lenders = names.map((name) => ({ name, logo: `${name.toLowerCase()}.svg` }));
  }

  setLogoHashes(hashes: ReadonlyMap<string, string>): void {
    this.given.push(hashes);
  }
}

async function keeping(t: TestContext, catalog: LogoCatalog) {
  const folder = logoFolderOf(t, { 'a.svg': image('red') });
  const place = { key: 'live', folder };
  const keeper = new LogoService();
  await keeper.prepare(place, catalog);
  keeper.activate(place, catalog);
  const shown = (file: string) => Buffer.from(keeper.cache.find(file, undefined)?.svg ?? []).toString();
  return { keeper, place, shown, write: (file: string, text: string) => writeFileSync(join(folder, file), text) };
}

test('sets the hashes of logos and monograms in the catalog', async (t) => {
  const catalog = new NotingCatalog('A', 'B');
  const { keeper, shown } = await keeping(t, catalog);
  assert.deepEqual([shown('a.svg'), shown('b.svg')], [image('red'), renderMonogram('B')]);
  const hashes = ['a.svg', 'b.svg'].map((file) => keeper.cache.find(file, undefined)?.hash);
  assert.deepEqual(
    [...catalog.given.at(-1)!],
    [
      ['A', hashes[0]],
      ['B', hashes[1]],
    ],
  );
  assert.deepEqual(keeper.problems, [{ lenderIndex: 1, file: 'b.svg', problem: 'does not exist' }]);
});

test('serves the logos of a prepared catalog only after its activation', async (t) => {
  const { keeper, place, shown, write } = await keeping(t, new NotingCatalog('A'));
  write('a.svg', image('blue'));
  const next = new NotingCatalog('A', 'B');
  await keeper.prepare(place, next);
  assert.deepEqual([shown('a.svg'), shown('b.svg')], [image('red'), '']);
  keeper.activate(place, next);
  assert.deepEqual([shown('a.svg'), shown('b.svg')], [image('blue'), renderMonogram('B')]);
});

test('a refresh reloads only changed logo files', async (t) => {
  const catalog = new NotingCatalog('A', 'B');
  const { keeper, place, shown, write } = await keeping(t, catalog);
  await keeper.refresh(place);
  assert.equal(catalog.given.length, 1);
  write('a.svg', image('blue'));
  write('b.svg', image('green'));
  await keeper.refresh(place);
  assert.equal(catalog.given.length, 2);
  assert.deepEqual([shown('a.svg'), shown('b.svg'), keeper.problems], [image('blue'), image('green'), []]);
});

test('discards a refresh if another catalog was activated during it', async (t) => {
  const old = new NotingCatalog('A');
  const { keeper, place, shown, write } = await keeping(t, old);
  const next = new NotingCatalog('B');
  await keeper.prepare(place, next);
  write('a.svg', image('blue'));
  const refreshed = keeper.refresh(place);
  await Promise.resolve();
  keeper.activate(place, next);
  await refreshed;
  assert.equal(old.given.length, 1);
  assert.deepEqual([shown('a.svg'), shown('b.svg')], [image('red'), renderMonogram('B')]);
});

test('reads no files after close', async (t) => {
  const catalog = new NotingCatalog('A');
  const { keeper, place, shown, write } = await keeping(t, catalog);
  await keeper.close();
  write('a.svg', image('blue'));
  await keeper.refresh(place);
  assert.equal(shown('a.svg'), image('red'));
});

test('retains logos that only a replaced catalog contains', async (t) => {
  const { keeper, place, shown, write } = await keeping(t, new NotingCatalog('A'));
  write('a.svg', image('blue'));
  write('c.svg', image('green'));
  await keeper.retainReplaced(place, new NotingCatalog('A', 'B', 'C'));
  assert.deepEqual(
    [shown('a.svg'), shown('b.svg'), shown('c.svg')],
    [image('red'), renderMonogram('B'), image('green')],
  );
});
