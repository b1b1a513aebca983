import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import { type CatalogReloadResult, CatalogStore, InvalidCatalogError } from '../../src/catalogs/catalog-store.ts';
import { computeCatalogVersion } from '../../src/catalogs/catalog-version.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import { compileCatalogInThread, compileCatalogSource } from '../../src/catalogs/compile-catalog-in-thread.ts';
import type { CatalogSource } from '../../src/catalogs/parse-catalog.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { mortgage } from '../../src/verticals/mortgage/mortgage.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { catalogOf, plainOffer } from '../matching/loan-fixtures.ts';
import { equipmentLeaseCatalog, equipmentLeases } from '../support/equipment-leases.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { generateCatalog } from '../support/random-catalog.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
let archiveFolder: string;
let clock: ManualClock;

beforeEach(() => {
  folder = temporaryFolder();
  archiveFolder = join(folder, 'catalogs');
  clock = new ManualClock();
});

const textWith = (...ids: string[]) => JSON.stringify(catalogOf(ids.map((id) => plainOffer({ id }))));
const versionOf = (text: string) => {
  const catalog = JSON.parse(text) as LoanCatalog;
  return { catalog, version: computeCatalogVersion(catalog, 'live') };
};
const fileOfOffers = () => join(folder, 'offers.json');
function live(text: string): CatalogSource {
  writeFileSync(fileOfOffers(), text);
  return { vertical: personalLoans, mode: 'live', file: fileOfOffers() };
}
function change(store: CatalogStore, text: string): Promise<CatalogReloadResult> {
  writeFileSync(fileOfOffers(), text);
  return store.reloadCatalog(1, 'live');
}
const idsOf = (catalog: { offers: readonly { id: string }[] }) => catalog.offers.map(({ id }) => id);

function open(catalogs: CatalogSource[], options: Partial<ConstructorParameters<typeof CatalogStore>[0]> = {}) {
  return new CatalogStore({
    archiveFolder,
    registry: builtInVerticals,
    clock,
    catalogs,
    compile: async (job) => compileCatalogSource(job, builtInVerticals.getProduct(job.vertical)),
    ...options,
  });
}

/** Whether the store has a catalog, which it may have to compile. */
async function finds(store: CatalogStore, version: string): Promise<boolean> {
  const found = await store.loadCatalogByVersion(version);
  assert.notEqual(found, 'busy');
  return found !== null;
}

/** Opens a store whose first catalog, with the offer `a`, was replaced by a catalog with the offer `b`. */
async function openReplaced() {
  const store = open([live(textWith('a'))]);
  const old = store.currentCatalog(1, 'live').version;
  assert.ok((await change(store, textWith('b'))).ok);
  return { store, old };
}

test('stores a separate catalog for each vertical and mode', () => {
  const store = open([
    live(textWith('a')),
    { vertical: personalLoans, mode: 'test', text: textWith('sandbox') },
    { vertical: equipmentLeases, mode: 'live', text: equipmentLeaseCatalog('live') },
  ]);
  assert.deepEqual(idsOf(store.currentCatalog(personalLoans.number, 'live')), ['a']);
  assert.deepEqual(idsOf(store.currentCatalog(personalLoans.number, 'test')), ['sandbox']);
  assert.equal(store.currentCatalog(equipmentLeases.number, 'live').offers.length, 24);
  assert.throws(() => store.currentCatalog(equipmentLeases.number, 'test'));
  assert.equal(store.currentCatalogVersions.length, 3);
});

test('a test catalog and a live catalog with the same offers have different catalog versions', () => {
  const store = open([live(textWith('a')), { vertical: personalLoans, mode: 'test', text: textWith('a') }]);
  const [liveVersion, testVersion] = store.currentCatalogVersions as [string, string];
  assert.deepEqual(
    [liveVersion, testVersion].map((version) => store.findCatalogByVersion(version)?.mode),
    ['live', 'test'],
  );
});

test('finds a replaced catalog until exactly 28 hours after its replacement', async () => {
  const store = open([live(textWith('a'))]);
  assert.equal(store.findCatalogByVersion('0123456789ab'), null);
  const old = store.currentCatalog(1, 'live').version;
  const changed = await change(store, textWith('b'));
  assert.deepEqual(changed, {
    ok: true,
    version: store.currentCatalog(1, 'live').version,
    changed: true,
    warnings: [],
  });
  assert.deepEqual(idsOf(store.currentCatalog(1, 'live')), ['b']);
  clock.advance(bounds.replacedCatalogRetentionMs - 1);
  assert.deepEqual(idsOf(store.findCatalogByVersion(old)!), ['a']);
  clock.advance(1);
  assert.equal(store.findCatalogByVersion(old), null);
});

test('finds the lender of an offer in current and in retained catalogs', async () => {
  const store = open([live(textWith('a', 'b')), { vertical: personalLoans, mode: 'test', text: textWith('c') }]);
  await change(store, textWith('b'));
  const lender = catalogOf([plainOffer({})]).lenders[0]!.name;
  for (const id of ['a', 'b']) assert.equal(store.findLenderName(1, 'live', id), lender);
  for (const [vertical, mode, id] of [
    [1, 'live', 'c'],
    [1, 'test', 'a'],
    [99, 'live', 'a'],
  ] as const) {
    assert.equal(store.findLenderName(vertical, mode, id), null);
  }
  clock.advance(bounds.replacedCatalogRetentionMs);
  await change(store, textWith('b', 'd'));
  assert.equal(store.findLenderName(1, 'live', 'a'), null);
});

test('lists replaced catalogs of a mode in the order of replacement, also after a restart', async () => {
  const sandbox: CatalogSource = { vertical: personalLoans, mode: 'test', text: textWith('z') };
  const store = open([live(textWith('a')), sandbox]);
  const startMs = clock.wallMs();
  // Catalog `a` is activated twice. With seven catalogs, a wrong order is unlikely to match the expected order by chance.
  const states = ['b', 'c', 'a', 'd', 'e', 'f', 'g'];
  for (const id of states) {
    clock.advance(1);
    await change(store, textWith(id));
  }
  const replaced = (of: CatalogStore) =>
    of.listReplacedCatalogs(1, 'live').map(({ summary, replacedMs }) => [...idsOf(summary), replacedMs - startMs]);
  const expected = [
    ['b', 2],
    ['c', 3],
    ['a', 4],
    ['d', 5],
    ['e', 6],
    ['f', 7],
  ];
  assert.deepEqual(replaced(store), expected);
  assert.deepEqual(store.listReplacedCatalogs(1, 'test'), []);
  const again = open([live(textWith('g')), sandbox]);
  assert.deepEqual(replaced(again), expected);
  assert.deepEqual(again.listReplacedCatalogs(1, 'test'), []);
});

test('a reload of a catalog with unchanged content has no effect', async () => {
  const store = open([live(textWith('a'))]);
  const { version } = store.currentCatalog(1, 'live');
  const sameContent = JSON.stringify(JSON.parse(textWith('a')), null, 4);
  assert.deepEqual(await change(store, sameContent), { ok: true, version, changed: false, warnings: [] });
});

test('a reload can activate an earlier catalog version again', async () => {
  const { store, old: first } = await openReplaced();
  await change(store, textWith('a'));
  assert.equal(store.currentCatalog(1, 'live').version, first);
  clock.advance(bounds.replacedCatalogRetentionMs * 2);
  assert.notEqual(store.findCatalogByVersion(first), null);
  assert.ok(await finds(open([live(textWith('a'))]), first));
  // The catalog is retained for 28 hours after its last replacement.
  assert.ok(await finds(open([live(textWith('c'))]), first));
});

test('keeps the archive file when a reload activates an expired catalog version again', async () => {
  const { store, old } = await openReplaced();
  clock.advance(bounds.replacedCatalogRetentionMs);
  await change(store, textWith('a'));
  assert.deepEqual(idsOf(store.archive.loadCatalog(old).catalog.lenders[0]!), ['a']);
});

test('keeps the current catalog if the catalog file is invalid, missing, a folder or a pipe', async () => {
  const store = open([live(textWith('a'))]);
  const file = fileOfOffers();
  for (const [create, error] of [
    [
      () => writeFileSync(file, textWith('a', 'a')),
      /^lenders\[0\].offers\[1\].id: is the same as lenders\[0\].offers\[0\].id$/,
    ],
    [() => {}, /^catalog: does not exist$/],
    [() => mkdirSync(file), /^catalog: is a folder$/],
    [() => execFileSync('mkfifo', [file]), /^catalog: is a named pipe$/],
  ] as const) {
    rmSync(file, { recursive: true, force: true });
    create();
    const changed = await store.reloadCatalog(1, 'live');
    assert.match(changed.ok ? '' : changed.errors.join(), error);
    assert.deepEqual(idsOf(store.currentCatalog(1, 'live')), ['a']);
  }
});

test('validates a deeply nested file in a thread, keeps the current catalog and can reload again', async () => {
  const store = open([live(textWith('a'))], { compile: compileCatalogInThread });
  const plainText = JSON.stringify(catalogOf([plainOffer({ features: ['marked'] })]));
  const changed = await change(store, plainText.replace('"marked"', `${'{"a":'.repeat(1e6)}1${'}'.repeat(1e6)}`));
  assert.deepEqual(changed, { ok: false, errors: [`catalog: must be nested at most ${bounds.catalogDepthMax} deep`] });
  assert.deepEqual(idsOf(store.currentCatalog(1, 'live')), ['a']);
  assert.ok((await change(store, textWith('b'))).ok);
  assert.deepEqual(idsOf(store.currentCatalog(1, 'live')), ['b']);
});

test('compiles a catalog in a thread, and reports a catalog that needs too much memory as invalid', async () => {
  mkdirSync(archiveFolder);
  const job = {
    source: { text: JSON.stringify(generateCatalog(3, 1_500)) },
    archivedVersion: null,
    vertical: personalLoans,
    mode: 'live',
    today: 20_000,
    currentVersion: '',
    archiveFolder,
  } as const;
  const { signal } = new AbortController();
  assert.deepEqual(
    await compileCatalogInThread(job, signal),
    compileCatalogSource(job, builtInVerticals.getProduct(job.vertical)),
  );
  assert.deepEqual(await compileCatalogInThread(job, signal, 8), {
    kind: 'invalid',
    errors: ['catalog: needs more than 8 MB of memory'],
  });
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('reports an unexpected failure of a reload as an error and can reload afterwards', async () => {
  const store = open([live(textWith('a'))]);
  rmSync(archiveFolder, { recursive: true });
  writeFileSync(archiveFolder, 'not a folder');
  clock.advance(bounds.replacedCatalogRetentionMs);
  const changed = await change(store, textWith('b'));
  assert.match(changed.ok ? '' : changed.errors[0]!, /^catalog: cannot be activated: ENOTDIR/);
  assert.deepEqual(idsOf(store.currentCatalog(1, 'live')), ['a']);
  rmSync(archiveFolder);
  store.archive.createFolder();
  assert.ok((await store.reloadCatalog(1, 'live')).ok);
  assert.deepEqual(idsOf(store.currentCatalog(1, 'live')), ['b']);
});

test('deletes the files of expired catalogs', async () => {
  const { store, old } = await openReplaced();
  assert.ok(readdirSync(archiveFolder).includes(`${old}.json`));
  clock.advance(bounds.replacedCatalogRetentionMs);
  await change(store, textWith('c'));
  assert.ok(!readdirSync(archiveFolder).some((name) => name.startsWith(old)));
});

test('keeps the version before the catalog in use in the archive, also when it has expired, and after a restart', async () => {
  const { store, old } = await openReplaced();
  const previousOf = (of: CatalogStore) => of.servedCatalogs[0]!.previous;
  const expected = { version: old, replacedMs: clock.wallMs() };
  assert.deepEqual(previousOf(store), expected);
  clock.advance(bounds.replacedCatalogRetentionMs * 2);
  const again = open([live(textWith('b')), { vertical: personalLoans, mode: 'test', text: textWith('x') }]);
  assert.deepEqual(previousOf(again), expected);
  assert.equal(again.findCatalogByVersion(old), null);
  assert.equal(again.servedCatalogs[1]!.previous, null);
  assert.deepEqual(idsOf(again.archive.loadCatalog(old).catalog.lenders[0]!), ['a']);
  const second = again.currentCatalog(1, 'live').version;
  await change(again, textWith('c'));
  assert.equal(previousOf(again)?.version, second);
  assert.ok(!readdirSync(archiveFolder).some((name) => name.startsWith(old)));
});

test('opening the store throws an error with all problems of an invalid catalog', () => {
  for (const [content, error] of [
    [textWith('a', 'a'), 'lenders[0].offers[1].id: is the same as lenders[0].offers[0].id'],
    [Buffer.from('{"Cr\u00e9dit":1}', 'latin1'), 'catalog: must be UTF-8, but line 1 is not'],
  ] as const) {
    const source = live('');
    writeFileSync(fileOfOffers(), content);
    assert.throws(
      () => open([source]),
      (thrown) => thrown instanceof InvalidCatalogError && thrown.errors.join() === error,
    );
  }
});

test('after a restart, a replaced catalog is still retained until its original expiry time', async () => {
  const { old } = await openReplaced();
  clock.advance(bounds.replacedCatalogRetentionMs - 10);
  const reopened = open([live(textWith('b'))]);
  assert.ok(await finds(reopened, old));
  assert.equal(reopened.findCatalogByVersion(old)!.landingUrl(0, 'x'), 'https://plain.example/?c=x');
  clock.advance(10);
  assert.ok(!(await finds(reopened, old)));
});

test('compiles a replaced catalog of an earlier process once, when it is needed', async () => {
  const { store, old } = await openReplaced();
  const jobs: (string | null)[] = [];
  const reopened = open([live(textWith('b'))], {
    compile: async (job) => {
      jobs.push(job.archivedVersion);
      return compileCatalogSource(job, builtInVerticals.getProduct(job.vertical));
    },
  });
  assert.equal(reopened.findCatalogByVersion(old), null);
  assert.deepEqual(reopened.findOffer(1, 'live', 'a'), store.findOffer(1, 'live', 'a'));
  assert.deepEqual(jobs, []);
  const [one, other] = await Promise.all([reopened.loadCatalogByVersion(old), reopened.loadCatalogByVersion(old)]);
  assert.deepEqual(one, store.findCatalogByVersion(old));
  assert.equal(other, one);
  assert.equal(reopened.loadCatalogByVersion(old), one);
  assert.deepEqual(jobs, [old]);
});

test('reads the same limits and lenders of a replaced catalog from its summary and from its file', async () => {
  const { store, old } = await openReplaced();
  const expected = store.listReplacedCatalogs(1, 'live');
  assert.deepEqual(open([live(textWith('b'))]).listReplacedCatalogs(1, 'live'), expected);
  for (const content of [null, '{"format":0}', 'junk']) {
    const file = join(archiveFolder, `${old}.summary`);
    rmSync(file);
    if (content !== null) writeFileSync(file, content);
    assert.deepEqual(open([live(textWith('b'))]).listReplacedCatalogs(1, 'live'), expected);
  }
});

test('a click waits for a limited time, and only a limited number of clicks wait', async () => {
  const { old } = await openReplaced();
  const { promise, resolve } = Promise.withResolvers<void>();
  const reopened = open([live(textWith('b'))], {
    compile: async (job) => {
      await promise;
      return compileCatalogSource(job, builtInVerticals.getProduct(job.vertical));
    },
  });
  const waiting = Array.from({ length: bounds.replacedCatalogWaitingClicksMax }, () =>
    reopened.loadCatalogByVersion(old),
  );
  assert.equal(await reopened.loadCatalogByVersion(old), 'busy');
  resolve();
  for (const found of await Promise.all(waiting)) assert.deepEqual(idsOf(found as CompiledCatalog), ['a']);

  const slow = open([live(textWith('b'))], { compile: () => new Promise(() => {}) });
  assert.equal(await slow.loadCatalogByVersion(old), 'busy');
});

test('if a catalog is replaced while the server is stopped, the retention of the old catalog begins at the next start', async () => {
  const old = open([live(textWith('a'))]).currentCatalog(1, 'live').version;
  clock.advance(bounds.replacedCatalogRetentionMs * 3);
  const store = open([live(textWith('b'))]);
  clock.advance(bounds.replacedCatalogRetentionMs - 1);
  assert.ok(await finds(open([live(textWith('b'))]), old));
  assert.ok(await finds(store, old));
  clock.advance(1);
  assert.ok(!(await finds(open([live(textWith('b'))]), old)));
});

test('reports an archived catalog that is unreadable or has changed, and loads the other archived catalogs', async () => {
  const { store, old: first } = await openReplaced();
  const second = store.currentCatalog(1, 'live').version;
  await change(store, textWith('c'));
  const altered = { vertical: 'personal-loans', mode: 'live', catalog: JSON.parse(textWith('evil')) };
  for (const [content, expected] of [
    ['{"half', `^catalog ${first} cannot be read`],
    [JSON.stringify(altered), `^catalog ${first} is damaged: its content has another version$`],
  ] as const) {
    writeFileSync(join(archiveFolder, `${first}.json`), content);
    const problems: string[] = [];
    const reopened = open([live(textWith('c'))], { onArchiveError: (problem) => problems.push(problem) });
    assert.ok(!(await finds(reopened, first)));
    assert.ok(await finds(reopened, second));
    assert.equal(problems.length, 1);
    assert.equal(await reopened.loadCatalogByVersion(first), null, 'the catalog is not compiled again');
    assert.equal(problems.length, 1);
    assert.match(problems[0]!, new RegExp(expected));
  }
});

test('rewrites a damaged archive file of the current catalog', () => {
  const { version } = open([live(textWith('a'))]).currentCatalog(1, 'live');
  writeFileSync(join(archiveFolder, `${version}.json`), 'junk');
  assert.deepEqual(
    idsOf({ offers: open([live(textWith('a'))]).archive.loadCatalog(version).catalog.lenders[0]!.offers }),
    ['a'],
  );
});

test('prepares an archived catalog version before its activation', async () => {
  const store = open([live(textWith('a'))]);
  const seen: string[] = [];
  store.onBeforeActivate(async ({ version }) => {
    store.archive.loadCatalog(version);
    seen.push(version, ...idsOf(store.currentCatalog(1, 'live')));
  });
  await change(store, textWith('b'));
  assert.deepEqual(seen, [store.currentCatalog(1, 'live').version, 'a']);
});

test('keeps the active catalog and the archive unchanged if an activation fails', async () => {
  const store = open([live(textWith('a'))]);
  const files = readdirSync(archiveFolder).sort();
  store.onBeforeActivate(() => Promise.reject(new Error('no worker')));
  const changed = await change(store, textWith('b'));
  assert.deepEqual(changed, { ok: false, errors: ['catalog: cannot be activated: no worker'] });
  assert.deepEqual(idsOf(store.currentCatalog(1, 'live')), ['a']);
  assert.deepEqual(readdirSync(archiveFolder).sort(), files);
});

test('retains a replaced catalog if its reactivation fails', async () => {
  const store = open([live(textWith('a'))]);
  const { version } = store.currentCatalog(1, 'live');
  await change(store, textWith('b'));
  store.onBeforeActivate(() => Promise.reject(new Error('no worker')));
  assert.ok(!(await change(store, textWith('a'))).ok);
  assert.deepEqual(idsOf(store.archive.loadCatalog(version).catalog.lenders[0]!), ['a']);
  assert.notEqual(store.findCatalogByVersion(version), null);
});

test('close aborts a pending reload, and later reloads fail', async () => {
  const store = open([live(textWith('a'))], { compile: compileCatalogInThread });
  const underWay = change(store, textWith('b'));
  await store.close();
  for (const given of [await underWay, await change(store, textWith('c'))]) {
    assert.match(given.ok ? '' : given.errors[0]!, /^catalog: cannot be activated: /);
  }
  assert.deepEqual(idsOf(store.currentCatalog(1, 'live')), ['a']);
});

test('rejects a reload while the maximum number of replaced catalogs is retained', async () => {
  const store = open([live(textWith('a'))]);
  for (let at = 0; at < bounds.replacedCatalogsMax; at++) {
    const text = textWith(`kept-${at}`);
    const { version, catalog } = versionOf(text);
    store.archive.storeCatalog(version, { vertical: personalLoans, mode: 'live', catalog });
    store.archive.markCatalogReplaced(version, clock.wallMs());
  }
  const full = open([live(textWith('a'))]);
  const refused = await change(full, textWith('b'));
  assert.match(
    refused.ok ? '' : refused.errors[0]!,
    /: 256 replaced catalogs \(1 MiB with the catalog in use\) are still retained; try again later$/,
  );
  assert.ok((await change(full, textWith('kept-0'))).ok, 'a retained catalog can become current again');
  clock.advance(bounds.replacedCatalogRetentionMs);
  assert.ok((await change(full, textWith('b'))).ok);
});

test('rejects a reload while the replaced catalogs have reached their limit in bytes', async (t) => {
  const { store } = await openReplaced();
  const bytes = statSync(join(archiveFolder, `${store.currentCatalogVersions[0]}.json`)).size;
  t.after(() => Object.assign(bounds, { replacedCatalogsBytesMax }));
  const { replacedCatalogsBytesMax } = bounds;
  Object.assign(bounds, { replacedCatalogsBytesMax: 2 * bytes - 1 });
  const refused = await change(store, textWith('c'));
  assert.match(refused.ok ? '' : refused.errors[0]!, /: 1 replaced catalogs \(1 MiB .* are still retained/);
  Object.assign(bounds, { replacedCatalogsBytesMax: 2 * bytes });
  assert.ok((await change(store, textWith('c'))).ok);
});

test('runs concurrent reloads one after the other', async () => {
  const store = open([live(textWith('a'))]);
  const next = ['c', 'd'];
  store.onBeforeActivate(async () => {
    await setImmediate();
    const id = next.shift();
    if (id !== undefined) writeFileSync(fileOfOffers(), textWith(id));
  });
  const changes = await Promise.all([
    change(store, textWith('b')),
    store.reloadCatalog(1, 'live'),
    store.reloadCatalog(1, 'live'),
  ]);
  assert.ok(changes.every((changed) => changed.ok && changed.changed));
  assert.deepEqual(
    changes.map((changed) => idsOf(store.findCatalogByVersion(changed.ok ? changed.version : '')!)[0]),
    ['b', 'c', 'd'],
  );
  assert.deepEqual(idsOf(store.currentCatalog(1, 'live')), ['d']);
});

test('opens the built-in catalogs if the clock is behind their dates, and no other file with such dates', async () => {
  clock.setWall(Date.UTC(2020, 0, 1));
  const store = open(builtInVerticals.listExampleCatalogs());
  for (const { vertical, mode } of builtInVerticals.listExampleCatalogs()) {
    assert.ok((await store.reloadCatalog(vertical.number, mode)).ok, vertical.segment);
  }
  const copy = join(folder, 'copy.json');
  copyFileSync(builtInVerticals.exampleCatalogFile(mortgage), copy);
  assert.throws(() => open([{ vertical: mortgage, mode: 'live', file: copy }]), /as_of: must not be in the future/);
  clock.setWall(Date.UTC(2026, 11, 1));
  open([{ vertical: mortgage, mode: 'live', file: copy }]);
});
