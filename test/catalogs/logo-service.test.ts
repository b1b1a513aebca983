import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { type CatalogWithLogos, LogoCache, LogoService } from '../../src/catalogs/logo-service.ts';
import { createLogo, renderMonogram } from '../../src/catalogs/read-logos.ts';
import { image, logoFolderOf } from './logo-folder.ts';

const logo = (file: string, color: string) => createLogo(file, Buffer.from(image(color)));

describe('the logo cache', () => {
  const [red, blue] = [logo('a.svg', 'red'), logo('a.svg', 'blue')];

  test('finds a logo by name and hash; for an unknown hash, returns the current logo with that name', () => {
    const cache = new LogoCache();
    cache.replaceCatalog('live', [red]);
    for (const hash of [red.hash, undefined, '0123456789abcdef', '']) assert.equal(cache.findFile('a.svg', hash), red);
    for (const name of ['b.svg', '', 'A.svg', '__proto__']) assert.equal(cache.findFile(name, red.hash), null);
    cache.replaceCatalog('live', [blue]);
    for (const hash of [red.hash, blue.hash]) assert.equal(cache.findFile('a.svg', hash), blue);
  });

  test('the live and the test catalog can have different images with the same file name', () => {
    const cache = new LogoCache();
    cache.replaceCatalog('live', [red]);
    cache.replaceCatalog('test', [blue, logo('a.svg', 'red')]);
    const found = [red.hash, blue.hash, undefined].map((hash) => cache.findFile('a.svg', hash));
    assert.deepEqual(found, [red, blue, red]);
  });

  test('the logo cache keeps a limited number of logos that are no longer in a current catalog', () => {
    const cache = new LogoCache();
    const others = Array.from({ length: bounds.unusedLogoNamesMax - 1 }, (_, at) => logo(`other${at}.svg`, 'red'));
    for (const logos of [[red], others, [logo('b.svg', 'red')]]) cache.replaceCatalog('live', logos);
    assert.equal(cache.findFile('a.svg', red.hash), red);
    cache.replaceCatalog('live', [logo('c.svg', 'red')]);
    assert.equal(cache.findFile('a.svg', red.hash), null);
    assert.notEqual(cache.findFile('b.svg', undefined), null);
  });

  test('prefers current logos to the logos of a replaced catalog', () => {
    const cache = new LogoCache();
    const old = logo('old.svg', 'blue');
    cache.replaceCatalog('live', [red]);
    cache.keepPreviousLogos([blue, old]);
    assert.equal(cache.findFile('a.svg', blue.hash), red);
    assert.equal(cache.findFile('old.svg', undefined), old);
    const current = logo('old.svg', 'green');
    cache.replaceCatalog('live', [current]);
    assert.equal(cache.findFile('old.svg', old.hash), current);
  });
});

/** Catalog that records the hashes that it receives. */
class RecordingCatalog implements CatalogWithLogos {
  readonly lenders: CatalogWithLogos['lenders'];
  readonly hashes: ReadonlyMap<string, string>[] = [];

  constructor(...names: string[]) {
    this.lenders = names.map((name) => ({ name, logo: `${name.toLowerCase()}.svg` }));
  }

  setLogoHashes(hashes: ReadonlyMap<string, string>): void {
    this.hashes.push(hashes);
  }
}

async function openService(t: TestContext, ...lenders: string[]) {
  const folder = logoFolderOf(t, { 'a.svg': image('red') });
  const source = { key: 'live', folder };
  const service = new LogoService();
  const catalog = new RecordingCatalog(...lenders);
  await service.loadLogos(source, catalog);
  service.publishLogos(source, catalog);
  const served = (...files: string[]) =>
    files.map((file) => Buffer.from(service.cache.findFile(file, undefined)?.svg ?? []).toString());
  return {
    service,
    source,
    catalog,
    served,
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
  };
}

describe('LogoService', () => {
  test('serves the loaded logos of a catalog only after the catalog is activated', async (t) => {
    const { service, source, served, write } = await openService(t, 'A');
    write('a.svg', image('blue'));
    const next = new RecordingCatalog('A', 'B');
    await service.loadLogos(source, next);
    assert.deepEqual(served('a.svg', 'b.svg'), [image('red'), '']);
    service.publishLogos(source, next);
    assert.deepEqual(served('a.svg', 'b.svg'), [image('blue'), renderMonogram('B')]);
    const hashOf = (file: string) => service.cache.findFile(file, undefined)!.hash;
    assert.deepEqual(Object.fromEntries(next.hashes.at(-1)!), { A: hashOf('a.svg'), B: hashOf('b.svg') });
    assert.deepEqual(service.logoProblems, [{ lenderIndex: 1, file: 'b.svg', problem: 'does not exist' }]);
  });

  test('a logo reload applies changed logo files, but has no effect after the logo service is closed', async (t) => {
    const { service, source, catalog, served, write } = await openService(t, 'A', 'B');
    await service.reloadLogos(source);
    assert.equal(catalog.hashes.length, 1);
    write('a.svg', image('blue'));
    write('b.svg', image('green'));
    await service.reloadLogos(source);
    assert.equal(catalog.hashes.length, 2);
    assert.deepEqual([served('a.svg', 'b.svg'), service.logoProblems], [[image('blue'), image('green')], []]);
    await service.close();
    write('a.svg', image('red'));
    await service.reloadLogos(source);
    assert.deepEqual(served('a.svg'), [image('blue')]);
  });

  test('discards the result of a logo reload if another catalog was activated during the logo reload', async (t) => {
    const { service, source, catalog, served, write } = await openService(t, 'A');
    const next = new RecordingCatalog('B');
    await service.loadLogos(source, next);
    write('a.svg', image('blue'));
    const refreshed = service.reloadLogos(source);
    await Promise.resolve();
    service.publishLogos(source, next);
    await refreshed;
    assert.equal(catalog.hashes.length, 1);
    assert.deepEqual(served('a.svg', 'b.svg'), [image('red'), renderMonogram('B')]);
  });
});
