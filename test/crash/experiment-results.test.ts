import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { daysSinceEpoch, formatIsoDate, parseIsoDate } from '../../src/domain/calendar.ts';
import { microsPerUsd } from '../../src/domain/money.ts';
import type { ArmDay, ExperimentFigures } from '../../src/experiments/experiment-figures.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { type ConfirmationsResponse, createMarketplace, type ExperimentResultsResponse } from '../../src/index.ts';
import type { TestClockTime } from '../../src/operations/advance-clock.ts';
import { ServedProcess } from '../cli/served-process.ts';
import { ApiCaller, assertOk } from '../support/api-caller.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { ExperimentRecount } from './experiments.ts';

/** Sessions before each kill, and days by which the clock is advanced after it. The last days make the first sessions mature. */
const cycles = [
  { sessions: 24, days: 1 },
  { sessions: 17, days: 54 },
];
const clients = 4;
const visitors = 12;
const tags = ['page-a', 'page-b'] as const;

test('after kill -9 and a restart, the results of experiments agree with the ledger', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const key = await createFolder(dataDir);
  const recount = new ExperimentRecount(dataPaths(dataDir));
  const serve = () => startServer(t, dataDir, key);

  let serial = 0;
  for (const [cycle, { sessions, days }] of cycles.entries()) {
    const loaded = await serve();
    if (cycle === 0) await defineExperiments(loaded.caller);
    let left = sessions;
    const load = async () => {
      for (;;) {
        serial++;
        await createEarning(loaded, serial);
        left--;
        if (left === 0) loaded.served.signal('SIGKILL');
      }
    };
    const [outcome] = await Promise.all(Array.from({ length: clients }, () => load().catch((error) => error as Error)));
    assert.ok(left <= 0, String(outcome));
    assert.equal((await loaded.served.ended).signal, 'SIGKILL');

    const restarted = await serve();
    await restarted.advance(days);
    for (const name of ['by-session', 'by-visitor']) {
      const results = assertOk<ExperimentResultsResponse>(
        await restarted.caller.send('GET', `experiments/${name}/results`),
      );
      const figures = recount.figuresOf(name, parseIsoDate(results.as_of)!);
      assert.ok(results.arms.every((arm) => arm.sessions > 0));
      assert.deepEqual(
        results.arms.map(readArm),
        results.arms.map((_, arm) => totalOf(figures, arm)),
        name,
      );
      if (cycle === cycles.length - 1) assert.ok(results.arms.some((arm) => arm.units_with_revenue > 0));
    }
    restarted.served.signal('SIGKILL');
    await restarted.served.ended;
  }
});

/** Creates a data folder with a test clock and an API key. Returns the key. */
async function createFolder(dataDir: string): Promise<string> {
  const marketplace = await createMarketplace({ dataDir, testClock: true, urls: { click: 'https://go.example' } });
  const { key } = marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'live' });
  await marketplace.close();
  return key;
}

async function startServer(t: TestContext, dataDir: string, key: string) {
  const served = new ServedProcess(t, { SVC_DATA_DIR: dataDir, SVC_TEST_CLOCK: 'on', SVC_LOG_LEVEL: 'warn' });
  const caller = new ApiCaller(await served.client(t), fixture.vertical.segment, key);
  const operations = await served.client(t, 'operations');
  const askOperator = async <Answer>(path: string, json: object): Promise<Answer> => {
    const body = JSON.stringify(json);
    const headers = {
      Authorization: `Bearer ${readOperatorToken(operatorTokenPath(dataDir))}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
    };
    return assertOk<Answer>(await operations.send({ method: 'POST', path, headers, body }));
  };
  return {
    served,
    caller,
    askOperator,
    advance: (days: number) => askOperator<TestClockTime>('/test-clock', { advance_days: days }),
  };
}

/** Defines an experiment by visitors, which starts before its definition, and one by sessions of other tags. */
async function defineExperiments(caller: ApiCaller): Promise<void> {
  for (const unit of ['session', 'visitor'] as const) {
    const arms = tags.map((tag) => `${unit}-${tag}`);
    assertOk(
      await caller.send('PUT', `experiments/by-${unit}`, {
        arms: arms.map((referrer_tag) => ({ referrer_tag, weight: 0.5 })),
        control: arms[0],
        unit,
        starts_on: formatIsoDate(daysSinceEpoch(Date.now()) - (unit === 'visitor' ? 1 : 0)),
      }),
    );
  }
}

/** Creates a session, clicks an offer, and confirms a payout for two of three sessions. */
async function createEarning(
  { caller, askOperator }: Awaited<ReturnType<typeof startServer>>,
  serial: number,
): Promise<void> {
  const tag = `${serial % 4 < 2 ? 'session' : 'visitor'}-${tags[serial % 2]}`;
  const unit = { unit_id: `visitor-${(serial * 7) % visitors}` };
  const { sub_id: subId, created_at: createdAt } = await caller.createSession(tag, unit);
  await caller.submitFields(subId, fixture.complete);
  const { offers } = await caller.offers(subId);
  const { svc_offer_id: offerId, click_url: clickUrl } = offers[0]!;
  const click_id = clickIdFromRedirect(fixture, offerId, await caller.click(clickUrl));
  if (serial % 3 === 0) return;
  const row = { click_id, txid: `tx-${serial}`, status: 'funded', amount: 10 + serial, occurred_at: createdAt };
  const { results } = await askOperator<ConfirmationsResponse>('/confirmations', row);
  assert.equal(results[0]!.outcome, 'accepted');
}

function readArm(arm: ExperimentResultsResponse['arms'][number]) {
  return {
    sessions: arm.sessions,
    units: arm.units,
    views: arm.views,
    clicks: arm.clicks,
    attributed: arm.rev_attributed,
    confirmed: arm.rev_confirmed,
    matureSessions: arm.mature_sessions,
    unitsWithRevenue: arm.units_with_revenue,
    inSeveralArms: arm.units_in_several_arms,
  };
}

function totalOf({ days, asOf }: ExperimentFigures, arm: number): ReturnType<typeof readArm> {
  const sum = (read: (row: ArmDay) => number, untilDay = asOf) =>
    days.filter((row) => row.arm === arm && row.day <= untilDay).reduce((total, row) => total + read(row), 0);
  const matureUntil = asOf - 45 - 7 - 1;
  return {
    sessions: sum(({ sums }) => sums.sessions),
    units: sum(({ sums }) => sums.units),
    views: sum(({ views }) => views),
    clicks: sum(({ clicks }) => clicks.count),
    attributed: sum(({ attributedMicros }) => attributedMicros) / microsPerUsd,
    confirmed: sum(({ confirmedMicros }) => confirmedMicros) / microsPerUsd,
    matureSessions: sum(({ sums }) => sums.sessions, matureUntil),
    unitsWithRevenue: sum(({ sums }) => sums.unitsWithRevenue, matureUntil),
    inSeveralArms: sum(({ unitsInSeveralArms }) => unitsInSeveralArms),
  };
}
