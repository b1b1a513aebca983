import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { resolveSettings, type ServiceSettings } from '../../src/config/service-settings.ts';
import { dataPaths, shardDataDir } from '../../src/files/data-paths.ts';
import { readLedgerSince } from '../../src/ledger/ledger.ts';
import { ledgerRecordKind } from '../../src/ledger/ledger-record.ts';
import { sharedLimitsPath } from '../../src/quotas/sqlite-quota-store.ts';
import type { Service } from '../../src/server/service.ts';
import { startService } from '../../src/server/start-service.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { catalogOf, plainBand, plainOffer } from '../matching/loan-fixtures.ts';
import { browsers } from '../support/browsers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const vertical = personalLoans;
const creditBand = 4;
const offerId = 'an-offer';

/** Four shards of one data folder. A click on the offer earns 0.75 USD. */
class Shards {
  readonly rootDir: string;
  readonly clock = new ManualClock();
  readonly services: Service[] = [];
  readonly count: number;
  onLogLine: (line: string) => void = () => {};
  readonly #catalogFile: string;
  #accounts = 0;

  constructor(t: TestContext, count = 4) {
    this.rootDir = temporaryFolder(t);
    this.count = count;
    this.#catalogFile = join(temporaryFolder(t), 'catalog.json');
    runAfterTest(t, () => this.close());
  }

  async startAll(limits: Partial<LoanOffer>): Promise<this> {
    for (let number = 0; number < this.count; number++) await this.startShard(number, limits);
    return this;
  }

  async startShard(
    number: number,
    limits: Partial<LoanOffer>,
    listen: ServiceSettings['listen'] = false,
  ): Promise<void> {
    const { rootDir, count, clock } = this;
    this.writeCatalog(limits);
    this.services[number] = await startService({
      ...resolveSettings({ dataDir: shardDataDir(rootDir, number), urls: { click: 'https://go.example' }, listen }),
      durability: 'write',
      matcherThreads: 0,
      secretFile: `${rootDir}/secrets.json`,
      shard: { number, count, rootDir },
      registry: builtInVerticals,
      catalogs: [
        { vertical, mode: 'live', file: this.#catalogFile },
        { vertical, mode: 'test', file: this.#catalogFile },
      ],
      clock,
      logger: pino({ level: 'info' }, { write: (line: string) => this.onLogLine(line) }),
    });
  }

  writeCatalog(limits: Partial<LoanOffer>): void {
    const bands = { '700-749': plainBand({ confirm_rate: 0.0075 }) };
    const offer = plainOffer({ id: offerId, payout_usd: 100, bands, ...limits });
    writeFileSync(this.#catalogFile, JSON.stringify(catalogOf([offer])));
  }

  /** Reloads the catalog on these shards. */
  async reload(...shards: readonly number[]): Promise<void> {
    for (const shard of shards) await this.services[shard]!.reloadCatalogs();
  }

  async clickTimes(shard: number, clicks: number): Promise<void> {
    for (let click = 0; click < clicks; click++) await this.click(shard);
  }

  /** Waits until answers of the shard do not contain the offer. */
  async waitUntilHidden(shard: number): Promise<void> {
    const { catalogs, availability } = this.services[shard]!.operationDeps;
    const catalog = catalogs.currentCatalog(vertical.number, 'live');
    while (availability.unavailableOffers(catalog, this.clock.wallMs()).count === 0) await pause(20);
  }

  /** Clicks in a new session on a shard that got the offer. Resolves when the click is redirected. */
  async click(shard: number): Promise<void> {
    const { operationDeps: deps, followClick } = this.services[shard]!;
    const subId = deps.subIds.createSubId(this.clock.wallMs(), ++this.#accounts, vertical.number, 'live');
    const sub = Buffer.from(deps.subIds.toBytes(subId));
    const catalogVersion = deps.catalogs.currentCatalog(vertical.number, 'live').version;
    deps.ledger.appendWithoutWaiting([
      ledgerRecordKind.offersViewed,
      this.clock.wallMs(),
      sub,
      catalogVersion,
      [offerId],
    ]);
    const v = deps.clickTokens.encrypt(sub, { catalogVersion, creditBand });
    const { userAgent } = browsers[0]!;
    const result = await followClick({ sub: subId, offer: offerId, v, userAgent, uncounted: null });
    assert.equal(result.kind, 'redirect');
  }

  /** Closes the shards, and counts the clicks in their ledgers by decision. */
  async closeAndCount(): Promise<{ readonly booked: number; readonly cap: number; readonly budget: number }> {
    await this.close();
    const counts = { booked: 0, cap: 0, budget: 0 };
    for (let number = 0; number < this.count; number++) {
      const { ledgerFolder } = dataPaths(shardDataDir(this.rootDir, number));
      const { ledger } = this.services[number]!.operationDeps;
      await readLedgerSince(ledgerFolder, ledger, 0, (record) => {
        if (record[0] !== ledgerRecordKind.offerClicked) return;
        if (record[7] === true) counts.booked++;
        else counts[record[8] === 0 ? 'cap' : 'budget']++;
      });
    }
    return counts;
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.close()));
  }
}

/** Program of a worker thread that locks a SQLite file. */
const lockForOneSecond = `
  const { parentPort, workerData } = require('node:worker_threads');
  const Database = require('better-sqlite3');
  const database = new Database(workerData);
  database.exec('BEGIN IMMEDIATE');
  parentPort.postMessage('locked');
  setTimeout(() => database.close(), 1_000);
`;

/** Clicks 500 times at once, distributed over the shards. */
async function clickAtOnce(shards: Shards): Promise<void> {
  await Promise.all(Array.from({ length: 500 }, (_, click) => shards.click(click % shards.count)));
}

describe('daily caps and budgets over four shards', () => {
  it('500 simultaneous clicks use up a daily cap exactly', async (t) => {
    const shards = await new Shards(t).startAll({ daily_cap: 203 });
    await clickAtOnce(shards);
    assert.deepEqual(await shards.closeAndCount(), { booked: 203, cap: 297, budget: 0 });
  });

  it('500 simultaneous clicks use up a budget exactly', async (t) => {
    // 307 clicks of 0.75 USD, and 0.5 USD.
    const shards = await new Shards(t).startAll({
      budget: { per_day_usd: 230.75, per_month_usd: 231, pacing: 'asap' },
    });
    await clickAtOnce(shards);
    assert.deepEqual(await shards.closeAndCount(), { booked: 307, cap: 0, budget: 193 });
  });

  it('a shard continues after a restart, also without the file of the shared limits', async (t) => {
    const limits = { daily_cap: 40 };
    const shards = await new Shards(t).startAll(limits);
    await shards.clickTimes(0, 10);
    await shards.services[0]!.close();
    await shards.startShard(0, limits);
    await shards.clickTimes(1, 25);
    await shards.close();
    rmSync(sharedLimitsPath(shards.rootDir));
    await shards.startAll(limits);
    await shards.clickTimes(2, 10);
    assert.deepEqual(await shards.closeAndCount(), { booked: 40, cap: 5, budget: 0 });
  });

  it('without the file of the shared limits, books nothing with a limit until every shard has declared its use', async (t) => {
    const shards = await new Shards(t, 2).startAll({ daily_cap: 10 });
    await shards.close();
    rmSync(sharedLimitsPath(shards.rootDir));
    await shards.startShard(0, { daily_cap: 10 });
    await shards.click(0);
    await shards.startShard(1, { daily_cap: 10 });
    await shards.click(0);
    assert.deepEqual(await shards.closeAndCount(), { booked: 1, cap: 1, budget: 0 });
  });

  it('without the file of the shared limits, listens after every shard has declared its use', async (t) => {
    const limits = { daily_cap: 10 };
    const shards = await new Shards(t, 2).startAll(limits);
    await shards.close();
    rmSync(sharedLimitsPath(shards.rootDir));
    const waiting = new Promise<string>((resolve) => {
      shards.onLogLine = (line) => line.includes('waiting for other shards') && resolve('waits');
    });
    const started = shards.startShard(0, limits, {});
    assert.equal(await Promise.race([waiting, started.then(() => 'listens')]), 'waits');
    await Promise.all([started, shards.startShard(1, limits, {})]);
    await shards.click(0);
    assert.deepEqual(await shards.closeAndCount(), { booked: 1, cap: 0, budget: 0 });
  });

  it('books before an added shard has started for the first time', async (t) => {
    const shards = new Shards(t, 2);
    await shards.startShard(0, { daily_cap: 3 });
    await shards.clickTimes(0, 2);
    await shards.startShard(1, { daily_cap: 3 });
    await shards.clickTimes(1, 2);
    assert.deepEqual(await shards.closeAndCount(), { booked: 3, cap: 1, budget: 0 });
  });

  it('starts while another process locks the file of the shared limits for longer than a click may wait', async (t) => {
    const shards = await new Shards(t, 1).startAll({ daily_cap: 3 });
    await shards.close();
    const worker = new Worker(lockForOneSecond, { eval: true, workerData: sharedLimitsPath(shards.rootDir) });
    await once(worker, 'message');
    await shards.startAll({ daily_cap: 3 });
    await shards.click(0);
    assert.deepEqual(await shards.closeAndCount(), { booked: 1, cap: 0, budget: 0 });
  });

  it('a changed limit holds once every shard has loaded the catalog', async (t) => {
    const shards = await new Shards(t, 2).startAll({ daily_cap: 40 });
    await shards.clickTimes(0, 3);
    await shards.clickTimes(1, 3);
    shards.writeCatalog({ daily_cap: 10 });
    await shards.reload(0);
    await shards.clickTimes(0, 1);
    // The shard with the earlier catalog books up to the earlier limit.
    await shards.clickTimes(1, 5);
    await shards.reload(1);
    await shards.clickTimes(0, 2);
    await shards.clickTimes(1, 2);
    shards.writeCatalog({ daily_cap: 14, budget: { per_day_usd: 9.75, per_month_usd: 100, pacing: 'asap' } });
    await shards.reload(0, 1);
    await shards.clickTimes(0, 4);
    assert.deepEqual(await shards.closeAndCount(), { booked: 13, cap: 4, budget: 3 });
  });

  it('an offer is hidden on each shard after the others have used up its limit', async (t) => {
    const shards = await new Shards(t, 2).startAll({ daily_cap: 3 });
    await shards.clickTimes(1, 3);
    await shards.waitUntilHidden(0);
    // Before the first refused click, the smallest click fits into the budget.
    const limits = { budget: { per_day_usd: 3, per_month_usd: 100, pacing: 'asap' } as const };
    const bands = {
      '700-749': plainBand({ confirm_rate: 0.0075 }),
      '750-799': plainBand({ confirm_rate: 0.001 }),
    };
    shards.writeCatalog({ ...limits, bands });
    await shards.reload(0, 1);
    await shards.clickTimes(1, 2);
    await shards.waitUntilHidden(0);
    assert.deepEqual(await shards.closeAndCount(), { booked: 4, cap: 0, budget: 1 });
  });
});
