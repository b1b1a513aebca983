import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { createLogo, LogoCache } from '../../src/catalogs/logo-service.ts';
import { image } from './logo-folder.ts';

const logo = (file: string, colour: string) => createLogo(file, Buffer.from(image(colour)));

test('finds a logo by name and hash, or the current logo with that name', () => {
  const shelf = new LogoCache();
  const red = logo('a.svg', 'red');
  shelf.replaceCatalog('live', [red]);
  for (const hash of [red.hash, undefined, '0123456789abcdef', '']) assert.equal(shelf.find('a.svg', hash), red);
  for (const name of ['b.svg', '', 'A.svg', '__proto__']) assert.equal(shelf.find(name, red.hash), null);
});

test('stores different images of two catalogs under the same file name', () => {
  const shelf = new LogoCache();
  const [red, blue] = [logo('a.svg', 'red'), logo('a.svg', 'blue')];
  shelf.replaceCatalog('live', [red]);
  shelf.replaceCatalog('test', [blue, logo('a.svg', 'red')]);
  assert.equal(shelf.find('a.svg', red.hash), red);
  assert.equal(shelf.find('a.svg', blue.hash), blue);
  assert.equal(shelf.find('a.svg', undefined), red);
});

test('returns a changed logo for its old and new URLs', () => {
  const shelf = new LogoCache();
  const [red, blue] = [logo('a.svg', 'red'), logo('a.svg', 'blue')];
  shelf.replaceCatalog('live', [red]);
  shelf.replaceCatalog('live', [blue]);
  assert.equal(shelf.find('a.svg', red.hash), blue);
  assert.equal(shelf.find('a.svg', blue.hash), blue);
});

test('retains a limited number of logos that no current catalog contains', () => {
  const shelf = new LogoCache();
  const gone = logo('gone.svg', 'red');
  shelf.replaceCatalog('live', [gone]);
  const others = (count: number, head: string) =>
    Array.from({ length: count }, (_, at) => logo(`${head}${at}.svg`, 'red'));
  shelf.replaceCatalog('live', others(bounds.unusedLogoNamesMax - 1, 'a'));
  shelf.replaceCatalog('live', [logo('b.svg', 'red')]);
  assert.equal(shelf.find('gone.svg', gone.hash), gone);
  shelf.replaceCatalog('live', [logo('c.svg', 'red')]);
  assert.equal(shelf.find('gone.svg', gone.hash), null);
  assert.notEqual(shelf.find('b.svg', undefined), null);
});

test('prefers current logos to those of a replaced catalog', () => {
  const shelf = new LogoCache();
  const [inUse, old] = [logo('a.svg', 'red'), logo('old.svg', 'blue')];
  shelf.replaceCatalog('live', [inUse]);
  shelf.addRetained([logo('a.svg', 'blue'), old]);
  assert.equal(shelf.find('a.svg', logo('a.svg', 'blue').hash), inUse);
  assert.equal(shelf.find('old.svg', undefined), old);
  const again = logo('old.svg', 'green');
  shelf.replaceCatalog('live', [again]);
  assert.equal(shelf.find('old.svg', old.hash), again);
});
