import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import {
  type CatalogChange,
  type CatalogSource,
  CatalogStore,
  InvalidCatalogError,
} from '../../src/catalogs/catalog-store.ts';
import { catalogVersion } from '../../src/catalogs/identifiers.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { catalogOf, plainOffer } from '../matching/loan-fixtures.ts';
import { equipmentLeaseCatalog, equipmentLeases } from '../support/equipment-leases.ts';
import { ManualClock } from '../support/manual-clock.ts';

let folder: string;
let archiveFolder: string;
let clock: ManualClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-library-'));
  archiveFolder = join(folder, 'catalogs');
  clock = new ManualClock();
});
afterEach(() => rmSync(folder, { recursive: true }));

const textWith = (...ids: string[]) => JSON.stringify(catalogOf(ids.map((id) => plainOffer({ id }))));
const versionOf = (text: string) => {
  const catalog = JSON.parse(text) as LoanCatalog;
  return { catalog, version: catalogVersion(catalog, 'live') };
};
const fileOfOffers = () => join(folder, 'offers.json');
function live(text: string): CatalogSource {
  writeFileSync(fileOfOffers(), text);
  return { vertical: personalLoans, mode: 'live', file: fileOfOffers() };
}
function change(library: CatalogStore, text: string): Promise<CatalogChange> {
  writeFileSync(fileOfOffers(), text);
  return library.reload(1, 'live');
}
const idsOf = (catalog: { offers: readonly { id: string }[] }) => catalog.offers.map(({ id }) => id);

function open(catalogs: CatalogSource[], onArchiveError?: (problem: string) => void) {
  return new CatalogStore({
    archiveFolder,
    clock,
    cdnUrl: () => 'https://cdn.example',
    catalogs,
    ...(onArchiveError === undefined ? {} : { onArchiveError }),
  });
}

test('stores a separate catalog for each vertical and mode', () => {
  const library = open([
    live(textWith('a')),
    { vertical: personalLoans, mode: 'test', text: textWith('sandbox') },
    { vertical: equipmentLeases, mode: 'live', text: equipmentLeaseCatalog('live') },
  ]);
  assert.deepEqual(idsOf(library.current(personalLoans.number, 'live')), ['a']);
  assert.deepEqual(idsOf(library.current(personalLoans.number, 'test')), ['sandbox']);
  assert.equal(library.current(equipmentLeases.number, 'live').offers.length, 24);
  assert.throws(() => library.current(equipmentLeases.number, 'test'));
  assert.equal(library.currentVersions.length, 3);
});

test('the same offers have another catalog version and no revenue in test mode', () => {
  const library = open([live(textWith('a')), { vertical: personalLoans, mode: 'test', text: textWith('a') }]);
  const [liveVersion, testVersion] = library.currentVersions as [string, string];
  assert.ok(library.findByVersion(liveVersion)!.clickValueMicros(0, 4) > 0);
  assert.equal(library.findByVersion(testVersion)!.clickValueMicros(0, 4), 0);
});

test('finds a replaced catalog for exactly 28 hours', async () => {
  const library = open([live(textWith('a'))]);
  const old = library.current(1, 'live').version;
  const changed = await change(library, textWith('b'));
  assert.deepEqual(changed, { ok: true, version: library.current(1, 'live').version, changed: true });
  assert.deepEqual(idsOf(library.current(1, 'live')), ['b']);
  clock.advance(bounds.replacedCatalogRetentionMs - 1);
  assert.deepEqual(idsOf(library.findByVersion(old)!), ['a']);
  clock.advance(1);
  assert.equal(library.findByVersion(old), null);
});

test('finds the lender of an offer in the current catalog and in retained catalogs', async () => {
  const library = open([live(textWith('a', 'b')), { vertical: personalLoans, mode: 'test', text: textWith('c') }]);
  await change(library, textWith('b'));
  const lender = catalogOf([plainOffer({})]).lenders[0]!.name;
  for (const id of ['a', 'b']) assert.equal(library.findLenderName(1, 'live', id), lender);
  for (const [vertical, mode, id] of [
    [1, 'live', 'c'],
    [1, 'test', 'a'],
    [99, 'live', 'a'],
  ] as const) {
    assert.equal(library.findLenderName(vertical, mode, id), null);
  }
  clock.advance(bounds.replacedCatalogRetentionMs);
  await change(library, textWith('b', 'd'));
  assert.equal(library.findLenderName(1, 'live', 'a'), null);
});

test('lists replaced catalogs of a mode in the order of replacement, also after a restart', async () => {
  const sandbox: CatalogSource = { vertical: personalLoans, mode: 'test', text: textWith('z') };
  const library = open([live(textWith('a')), sandbox]);
  const startMs = clock.wallMs();
  // One of them comes into use twice; more than a few, so that no other order is theirs by chance.
  const states = ['b', 'c', 'a', 'd', 'e', 'f', 'g'];
  for (const id of states) {
    clock.advance(1);
    await change(library, textWith(id));
  }
  const told = (of: CatalogStore) =>
    of.replacedCatalogs(1, 'live').map(({ compiled, replacedMs }) => [...idsOf(compiled), replacedMs - startMs]);
  const expected = [
    ['b', 2],
    ['c', 3],
    ['a', 4],
    ['d', 5],
    ['e', 6],
    ['f', 7],
  ];
  assert.deepEqual(told(library), expected);
  assert.deepEqual(library.replacedCatalogs(1, 'test'), []);
  const again = open([live(textWith('g')), sandbox]);
  assert.deepEqual(told(again), expected);
  assert.deepEqual(again.replacedCatalogs(1, 'test'), []);
});

test('does not find an unknown version', () => {
  assert.equal(open([live(textWith('a'))]).findByVersion('0123456789ab'), null);
});

test('a reload of the same content changes nothing', async () => {
  const library = open([live(textWith('a'))]);
  const { version } = library.current(1, 'live');
  const sameContent = JSON.stringify(JSON.parse(textWith('a')), null, 4);
  assert.deepEqual(await change(library, sameContent), { ok: true, version, changed: false });
});

test('a reload can activate the version of an earlier catalog again', async () => {
  const library = open([live(textWith('a'))]);
  const first = library.current(1, 'live').version;
  await change(library, textWith('b'));
  await change(library, textWith('a'));
  assert.equal(library.current(1, 'live').version, first);
  clock.advance(bounds.replacedCatalogRetentionMs * 2);
  assert.notEqual(library.findByVersion(first), null);
  assert.notEqual(open([live(textWith('a'))]).findByVersion(first), null);
});

test('retains a catalog for 28 hours after its last replacement', async () => {
  const library = open([live(textWith('a'))]);
  const first = library.current(1, 'live').version;
  await change(library, textWith('b'));
  await change(library, textWith('a'));
  clock.advance(bounds.replacedCatalogRetentionMs * 2);
  assert.notEqual(open([live(textWith('c'))]).findByVersion(first), null);
});

test('keeps the current catalog and returns the errors of an invalid catalog', async () => {
  const library = open([live(textWith('a'))]);
  const changed = await change(library, textWith('a', 'a'));
  assert.deepEqual(changed, { ok: false, errors: ['lenders[0].offers[1].id: is the same as lenders[0].offers[0].id'] });
  assert.deepEqual(idsOf(library.current(1, 'live')), ['a']);
});

test('keeps the current catalog if the file is missing', async () => {
  const library = open([live(textWith('a'))]);
  rmSync(fileOfOffers());
  const changed = await library.reload(1, 'live');
  assert.match(changed.ok ? '' : changed.errors[0]!, /^catalog: cannot be read: ENOENT/);
  assert.deepEqual(idsOf(library.current(1, 'live')), ['a']);
});

test('keeps the current catalog if the path is a folder or a pipe', async () => {
  const library = open([live(textWith('a'))]);
  for (const create of [() => mkdirSync(fileOfOffers()), () => execFileSync('mkfifo', [fileOfOffers()])]) {
    rmSync(fileOfOffers(), { recursive: true });
    create();
    assert.deepEqual(await library.reload(1, 'live'), { ok: false, errors: ['catalog: must be a file'] });
  }
  assert.deepEqual(idsOf(library.current(1, 'live')), ['a']);
});

describe('keeps the current catalog and can reload again, after an invalid file with', () => {
  const plainText = JSON.stringify(catalogOf([plainOffer({ features: ['marked'] })]));
  for (const [name, content] of [
    ['five million numbers as lenders', `{"format":1,"lenders":[${'0,'.repeat(5e6)}0]}`],
    [
      'a million nested objects inside an offer',
      plainText.replace('"marked"', `${'{"a":'.repeat(1e6)}1${'}'.repeat(1e6)}`),
    ],
  ] as const) {
    test(name, async () => {
      const library = open([live(textWith('a'))]);
      writeFileSync(fileOfOffers(), content);
      const changed = await library.reload(1, 'live');
      assert.ok(!changed.ok && changed.errors.length > 0);
      // Found by validation, not by an exception.
      assert.doesNotMatch(changed.errors[0]!, /cannot be put in use/);
      assert.deepEqual(idsOf(library.current(1, 'live')), ['a']);
      assert.ok((await change(library, textWith('b'))).ok);
    });
  }
});

test('reports an unexpected failure of a reload as an error and can reload afterwards', async () => {
  const library = open([live(textWith('a'))]);
  rmSync(archiveFolder, { recursive: true });
  writeFileSync(archiveFolder, 'not a folder');
  clock.advance(bounds.replacedCatalogRetentionMs);
  const changed = await change(library, textWith('b'));
  assert.match(changed.ok ? '' : changed.errors[0]!, /^catalog: cannot be put in use: ENOTDIR/);
  assert.deepEqual(idsOf(library.current(1, 'live')), ['a']);
  rmSync(archiveFolder);
  library.archive.createFolder();
  assert.ok((await library.reload(1, 'live')).ok);
  assert.deepEqual(idsOf(library.current(1, 'live')), ['b']);
});

test('reports an error if an expired catalog cannot be deleted', async () => {
  const library = open([live(textWith('a'))]);
  const old = library.current(1, 'live').version;
  await change(library, textWith('b'));
  clock.advance(bounds.replacedCatalogRetentionMs);
  rmSync(join(archiveFolder, `${old}.json`));
  mkdirSync(join(archiveFolder, `${old}.json`));
  const changed = await change(library, textWith('c'));
  assert.match(changed.ok ? '' : changed.errors[0]!, /^catalog: cannot be put in use: /);
  assert.deepEqual(idsOf(library.current(1, 'live')), ['b']);
});

test('throws an error with all problems of an invalid catalog at the start', () => {
  assert.throws(
    () => open([live(textWith('a', 'a'))]),
    (error) => error instanceof InvalidCatalogError && error.errors.length === 1,
  );
});

test('throws at the start if a catalog file is too large or not UTF-8', () => {
  for (const [content, fault] of [
    [`{"format":1,"lenders":[${'0,'.repeat(5e6)}0]}`, `catalog: must hold at most ${bounds.catalogValuesMax} values`],
    [Buffer.from('{"Cr\u00e9dit":1}', 'latin1'), 'catalog: must be UTF-8, which line 1 is not'],
  ] as const) {
    const source = live('');
    writeFileSync(fileOfOffers(), content);
    assert.throws(
      () => open([source]),
      (error) => error instanceof InvalidCatalogError && error.errors.length === 1 && error.errors[0] === fault,
    );
  }
});

test('retains a replaced catalog after a restart for the remaining time', async () => {
  const library = open([live(textWith('a'))]);
  const old = library.current(1, 'live').version;
  await change(library, textWith('b'));
  clock.advance(bounds.replacedCatalogRetentionMs - 10);
  const reopened = open([live(textWith('b'))]);
  assert.equal(reopened.findByVersion(old)!.landingUrl(0, 'x'), 'https://plain.example/?c=x');
  clock.advance(10);
  assert.equal(reopened.findByVersion(old), null);
});

test('treats a catalog as replaced at the start if its file changed while the service was stopped', () => {
  const old = open([live(textWith('a'))]).current(1, 'live').version;
  clock.advance(bounds.replacedCatalogRetentionMs * 3);
  const library = open([live(textWith('b'))]);
  clock.advance(bounds.replacedCatalogRetentionMs - 1);
  assert.notEqual(open([live(textWith('b'))]).findByVersion(old), null);
  assert.notEqual(library.findByVersion(old), null);
  clock.advance(1);
  assert.equal(open([live(textWith('b'))]).findByVersion(old), null);
});

test('deletes the files of expired catalogs', async () => {
  const library = open([live(textWith('a'))]);
  const old = library.current(1, 'live').version;
  await change(library, textWith('b'));
  assert.ok(readdirSync(archiveFolder).includes(`${old}.json`));
  clock.advance(bounds.replacedCatalogRetentionMs);
  await change(library, textWith('c'));
  assert.ok(!readdirSync(archiveFolder).some((name) => name.startsWith(old)));
});

test('reports a damaged archived catalog and loads the others', async () => {
  const library = open([live(textWith('a'))]);
  const first = library.current(1, 'live').version;
  await change(library, textWith('b'));
  const second = library.current(1, 'live').version;
  await change(library, textWith('c'));
  writeFileSync(join(archiveFolder, `${first}.json`), '{"half');
  const problems: string[] = [];
  const reopened = open([live(textWith('c'))], (problem) => problems.push(problem));
  assert.equal(reopened.findByVersion(first), null);
  assert.notEqual(reopened.findByVersion(second), null);
  assert.equal(problems.length, 1);
  assert.match(problems[0]!, new RegExp(`^catalog ${first} cannot be read`));
});

test('does not load an archived catalog with changed content', async () => {
  const library = open([live(textWith('a'))]);
  const old = library.current(1, 'live').version;
  await change(library, textWith('b'));
  const altered = { vertical: 'personal-loans', mode: 'live', catalog: JSON.parse(textWith('evil')) };
  writeFileSync(join(archiveFolder, `${old}.json`), JSON.stringify(altered));
  const problems: string[] = [];
  assert.equal(open([live(textWith('b'))], (problem) => problems.push(problem)).findByVersion(old), null);
  assert.match(problems[0]!, /does not have the content/);
});

test('rewrites a damaged archive file of the current catalog', () => {
  const { version } = open([live(textWith('a'))]).current(1, 'live');
  writeFileSync(join(archiveFolder, `${version}.json`), 'junk');
  assert.deepEqual(idsOf({ offers: open([live(textWith('a'))]).archive.load(version).catalog.lenders[0]!.offers }), [
    'a',
  ]);
});

test('prepares an archived catalog version before its activation', async () => {
  const library = open([live(textWith('a'))]);
  const seen: string[] = [];
  library.onBeforeActivate(async ({ version }) => {
    library.archive.load(version);
    seen.push(version, ...idsOf(library.current(1, 'live')));
  });
  await change(library, textWith('b'));
  assert.deepEqual(seen, [library.current(1, 'live').version, 'a']);
});

test('does not activate a catalog version that cannot be prepared', async () => {
  const library = open([live(textWith('a'))]);
  library.onBeforeActivate(() => Promise.reject(new Error('no worker')));
  const changed = await change(library, textWith('b'));
  assert.deepEqual(changed, { ok: false, errors: ['catalog: cannot be put in use: no worker'] });
  assert.deepEqual(idsOf(library.current(1, 'live')), ['a']);
});

test('removes a catalog that cannot be prepared from the archive', async () => {
  const library = open([live(textWith('a'))]);
  const files = readdirSync(archiveFolder).sort();
  library.onBeforeActivate(() => Promise.reject(new Error('no worker')));
  await change(library, textWith('b'));
  assert.deepEqual(readdirSync(archiveFolder).sort(), files);
});

test('retains a replaced catalog that cannot be activated again', async () => {
  const library = open([live(textWith('a'))]);
  const { version } = library.current(1, 'live');
  await change(library, textWith('b'));
  library.onBeforeActivate(() => Promise.reject(new Error('no worker')));
  assert.ok(!(await change(library, textWith('a'))).ok);
  assert.deepEqual(idsOf(library.archive.load(version).catalog.lenders[0]!), ['a']);
  assert.notEqual(library.findByVersion(version), null);
});

test('close aborts a pending reload and rejects later reloads', async () => {
  const library = open([live(textWith('a'))]);
  const underWay = change(library, textWith('b'));
  await library.close();
  for (const given of [await underWay, await change(library, textWith('c'))]) {
    assert.match(given.ok ? '' : given.errors[0]!, /^catalog: cannot be put in use: /);
  }
  assert.deepEqual(idsOf(library.current(1, 'live')), ['a']);
});

test('rejects a reload while too many catalogs are retained, until the first of them expires', async () => {
  const library = open([live(textWith('a'))]);
  for (let at = 0; at < bounds.replacedCatalogsMax; at++) {
    const text = textWith(`kept-${at}`);
    const { version, catalog } = versionOf(text);
    library.archive.store(version, { vertical: personalLoans, mode: 'live', catalog });
    library.archive.markReplaced(version, clock.wallMs());
  }
  const full = open([live(textWith('a'))]);
  const refused = await change(full, textWith('b'));
  assert.match(refused.ok ? '' : refused.errors[0]!, /: 256 replaced catalogs are still retained; try again later$/);
  clock.advance(bounds.replacedCatalogRetentionMs);
  assert.ok((await change(full, textWith('b'))).ok);
});

test('runs concurrent reloads one after the other', async () => {
  const library = open([live(textWith('a'))]);
  const next = ['c', 'd'];
  library.onBeforeActivate(async () => {
    await setImmediate();
    const id = next.shift();
    if (id !== undefined) writeFileSync(fileOfOffers(), textWith(id));
  });
  const changes = await Promise.all([
    change(library, textWith('b')),
    library.reload(1, 'live'),
    library.reload(1, 'live'),
  ]);
  assert.ok(changes.every((changed) => changed.ok && changed.changed));
  assert.deepEqual(
    changes.map((changed) => idsOf(library.findByVersion(changed.ok ? changed.version : '')!)[0]),
    ['b', 'c', 'd'],
  );
  assert.deepEqual(idsOf(library.current(1, 'live')), ['d']);
});
