import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import { LogDamagedError } from '../../src/event-log/segment-reader.ts';
import { FolderMissingError, type Marketplace } from '../../src/index.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { newKey, ok, startEmbedded } from './embedded-marketplace.ts';

/** Creates a data folder whose ledger has two segments, from two runs of the service three days apart. Adds two more days. */
async function twoLives(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const clock = new ManualClock();
  // Offers with budgets, which other example catalogs have, would need the ledger of the whole month.
  const { catalogs } = personalLoansFixture;
  const open = () => startEmbedded(t, { dataDir, clock, catalogs });
  const live = async (): Promise<string> => {
    const marketplace = await open();
    const { key } = marketplace.keys.create(newKey);
    ok(await marketplace.partnerApi(key).createSession({ referrer_tag: 'damage' }));
    // The response shows that the session was counted, so a later start need not read its record.
    await countSessions(marketplace, key);
    await marketplace.close();
    return key;
  };
  const old = await live();
  clock.advance(3 * msPerDay);
  const recent = await live();
  clock.advance(2 * msPerDay);
  const [first, second] = readdirSync(join(dataDir, 'ledger'))
    .sort()
    .map((name) => join(dataDir, 'ledger', name));
  return { dataDir, clock, open, keys: { old, recent }, first: first!, second: second! };
}

async function countSessions(marketplace: Marketplace, key: string): Promise<number> {
  return ok(await marketplace.partnerApi(key).queryAnalytics({ referrer_tag: 'damage' })).sessions_total;
}

function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes[5]! ^= 1;
  writeFileSync(file, bytes);
}

test('the service starts despite damage in a ledger segment that is not read at startup', async (t) => {
  const { open, keys, first } = await twoLives(t);
  damage(first);
  assert.equal(await countSessions(await open(), keys.recent), 2);
});

test('the service does not start if the newest ledger segment is damaged', async (t) => {
  const { open, second } = await twoLives(t);
  damage(second);
  await assert.rejects(open(), (error) => error instanceof LogDamagedError && error.file === second);
});

test('the start fails and changes no file if the ledger is missing but the analytics database exists', async (t) => {
  const { dataDir, open, keys } = await twoLives(t);
  const [ledger, aside] = [join(dataDir, 'ledger'), join(dataDir, 'aside')];
  renameSync(ledger, aside);
  renameSync(join(dataDir, 'secrets.json'), join(dataDir, 'aside.json'));
  const before = readdirSync(dataDir);
  await assert.rejects(open(), (error) => error instanceof FolderMissingError && error.folder === ledger);
  assert.deepEqual(readdirSync(dataDir), before);

  const accepted = await runMarketplace(['log', 'repair', '--accept-missing-ledger', '--yes'], {
    SVC_DATA_DIR: dataDir,
  });
  assert.equal(accepted.code, 0, accepted.stderr);
  await assert.rejects(open(), /secrets\.json is missing/);
  renameSync(join(dataDir, 'aside.json'), join(dataDir, 'secrets.json'));
  assert.equal(await countSessions(await open(), keys.recent), 0);
});

test('if the journal of live sessions is missing, the service starts only after log repair --accept-missing-journal', async (t) => {
  const { dataDir, open, clock, keys } = await twoLives(t);
  const journal = join(dataDir, 'journal');
  const live = await open();
  ok(await live.partnerApi(keys.recent).createSession({ referrer_tag: 'damage' }));
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
  assert.equal(await countSessions(marketplace, keys.old), 1);
  ok(await marketplace.partnerApi(keys.old).createSession({ referrer_tag: 'damage' }));
  assert.equal(await countSessions(marketplace, keys.old), 2);
});
