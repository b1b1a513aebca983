import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { dayMs } from '../../src/domain/calendar.ts';
import { LogDamagedError } from '../../src/event-log/segment-reader.ts';
import { createMarketplace, FolderMissingError, type Marketplace } from '../../src/index.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';

/** Creates a data folder whose ledger has two segments, from two runs of the service three days apart. Adds two more days. */
async function twoLives(t: TestContext) {
  const dataDir = temporaryFolder();
  runAfterTest(t, () => rmSync(dataDir, { recursive: true }));
  const clock = new ManualClock();
  const open = (): Promise<Marketplace> =>
    createMarketplace({ dataDir, clock, urls: { click: 'https://go.example' }, durability: 'write' });
  const live = async (): Promise<string> => {
    const marketplace = await open();
    const { key } = marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'live' });
    const partner = marketplace.partner(key);
    assert.ok((await partner.createSession({ referrer_tag: 'damage' })).ok);
    // The response shows that the session was counted, so a later start need not read its record.
    assert.ok((await partner.queryAnalytics({ referrer_tag: 'damage' })).ok);
    await marketplace.close();
    return key;
  };
  const old = await live();
  clock.advance(3 * dayMs);
  const recent = await live();
  clock.advance(2 * dayMs);
  const [first, second] = readdirSync(join(dataDir, 'ledger'))
    .sort()
    .map((name) => join(dataDir, 'ledger', name));
  return { dataDir, clock, open, keys: { old, recent }, first: first!, second: second! };
}

function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes[5]! ^= 1;
  writeFileSync(file, bytes);
}

test('the service starts if the damage is in a part of the ledger that the start does not read', async (t) => {
  const { open, keys, first } = await twoLives(t);
  damage(first);
  const marketplace = await open();
  const figures = await marketplace.partner(keys.recent).queryAnalytics({ referrer_tag: 'damage' });
  assert.ok(figures.ok);
  assert.equal(figures.value.sessions_total, 2);
  await marketplace.close();
});

test('the start fails if the damage is in a part of the ledger that the start reads', async (t) => {
  const { open, second } = await twoLives(t);
  damage(second);
  await assert.rejects(open(), (error) => error instanceof LogDamagedError && error.file === second);
});

test('the start fails if the last ledger record is damaged after a clean stop', async (t) => {
  const { open, second } = await twoLives(t);
  const bytes = readFileSync(second);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(second, bytes);
  await assert.rejects(open(), (error) => error instanceof LogDamagedError && error.file === second);
});

test('the start fails and changes no file if the ledger is missing but analytics exist', async (t) => {
  const { dataDir, open, keys } = await twoLives(t);
  const [ledger, aside] = [join(dataDir, 'ledger'), join(dataDir, 'aside')];
  renameSync(ledger, aside);
  rmSync(join(dataDir, 'secrets.json'));
  const before = readdirSync(dataDir);
  await assert.rejects(open(), (error) => error instanceof FolderMissingError && error.folder === ledger);
  assert.deepEqual(readdirSync(dataDir), before);

  renameSync(join(dataDir, 'analytics.sqlite'), join(dataDir, 'aside.sqlite'));
  const empty = await open();
  const figures = await empty.partner(keys.recent).queryAnalytics({ referrer_tag: 'damage' });
  assert.ok(figures.ok && figures.value.sessions_total === 0);
  await empty.close();
});

test('the start fails if the journal is missing while sessions are live, unless the operator accepts the loss', async (t) => {
  const { dataDir, open, clock, keys } = await twoLives(t);
  const journal = join(dataDir, 'journal');
  const live = await open();
  const partner = live.partner(keys.recent);
  const created = await partner.createSession({ referrer_tag: 'damage' });
  assert.ok(created.ok);
  await live.close();
  rmSync(journal, { recursive: true });
  await assert.rejects(
    open(),
    (error) =>
      error instanceof FolderMissingError && error.folder === journal && /--accept-missing-journal/.test(error.message),
  );
  assert.equal(existsSync(journal), false);

  const accepted = await runMarketplace(['log', 'repair', '--accept-missing-journal', '--yes'], {
    SVC_DATA_DIR: dataDir,
  });
  assert.equal(accepted.code, 0, accepted.stderr);
  await (await open()).close();

  rmSync(journal, { recursive: true });
  clock.advance(bounds.sessionTtlMs);
  await (await open()).close();
});

test('after a repair of the ledger, the service starts with the analytics of the remaining records', async (t) => {
  const { dataDir, open, keys, second } = await twoLives(t);
  damage(second);
  const repair = await runMarketplace(['log', 'repair', '--cut', `${second}:0`, '--yes'], { SVC_DATA_DIR: dataDir });
  assert.equal(repair.code, 0, repair.stderr);
  const marketplace = await open();
  const partner = marketplace.partner(keys.old);
  const sessions = async (): Promise<number> => {
    const figures = await partner.queryAnalytics({ referrer_tag: 'damage' });
    assert.ok(figures.ok);
    return figures.value.sessions_total;
  };
  assert.equal(await sessions(), 1);
  assert.ok((await partner.createSession({ referrer_tag: 'damage' })).ok);
  assert.equal(await sessions(), 2);
  await marketplace.close();
});
