import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { askOperator } from '../contract/operator-request.ts';
import { enlargedCatalog } from '../support/changeable-catalogs.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

/** Starts a service with one matching thread, and collects its threads from the `worker` events of Node.js. */
async function withThreads(t: TestContext) {
  const threads: Worker[] = [];
  const made = (worker: Worker): void => void threads.push(worker);
  process.on('worker', made);
  runAfterTest(t, () => process.off('worker', made));
  const { vertical, catalogFiles } = fixture;
  const catalogs = (['live', 'test'] as const).map((mode) => ({
    vertical,
    mode,
    text: JSON.stringify(enlargedCatalog(catalogFiles[mode], 3)),
  }));
  const logged: { msg: string }[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const market = await RunningMarketplace.start('uws', { matcherThreads: 1, catalogs, logger });
  runAfterTest(t, () => market.close());
  const [, matcher] = threads as [Worker, Worker];
  assert.equal(threads.length, 2);
  const metric = async (name: string): Promise<number> => {
    const { text } = await market.operations.send({ path: '/metrics' });
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  return { market, threads, matcher, metric, logged };
}

test('the service logs and restarts an idle matching thread that exits', async (t) => {
  const { market, threads, matcher, metric, logged } = await withThreads(t);
  const caller = market.caller(fixture);
  const subId = await caller.createSessionWithFields('matcher-dies-idle', fixture.complete);
  await matcher.terminate();
  assert.ok((await caller.offers(subId)).offers.length > 0);
  assert.equal(await metric('marketplace_match_worker_failures_total'), 1);
  assert.deepEqual(
    logged.map(({ msg }) => msg),
    ['matcher thread exited; restarting', 'matcher thread replaced'],
  );
  assert.equal(threads.length, 3);

  await market.marketplace.close();
  assert.equal(logged.length, 2);
});

test('the metric marketplace_match_threads_ready is 0 until an exited matching thread has been replaced', async (t) => {
  const { market, matcher, metric } = await withThreads(t);
  const caller = market.caller(fixture);
  const subId = await caller.createSessionWithFields('matcher-missing', fixture.complete);
  assert.equal(await metric('marketplace_match_threads_ready'), 1);
  const end = (worker: Worker): void => void worker.terminate();
  process.on('worker', end);
  runAfterTest(t, () => process.off('worker', end));
  await matcher.terminate();
  assert.equal(await metric('marketplace_match_threads_ready'), 0);
  assert.equal(await metric('marketplace_match_threads'), 1);
  process.off('worker', end);
  // The requests wait for the new thread.
  assert.ok((await caller.offers(subId)).offers.length > 0);
  assert.equal(await metric('marketplace_match_threads_ready'), 1);
});

test('the service restarts a terminated aggregator without losing data', async (t) => {
  const { market, threads, metric, logged } = await withThreads(t);
  const caller = market.caller(fixture);
  await caller.createSessionWithClicks('aggregator-dies', fixture.complete, 2);
  assert.equal((await caller.summary({ referrer_tag: 'aggregator-dies' })).offer_clicks, 2);
  for (const died of [1, 2]) {
    // The first iteration stops the original aggregator, the second iteration its replacement.
    await threads.at(died === 1 ? 0 : -1)?.terminate();
    const away = await market.operations.send({ path: '/readyz' });
    assert.deepEqual([away.status, JSON.parse(away.text).reasons], [503, ['the aggregator is not running']]);
    const { ready, analytics } = JSON.parse((await askOperator(market, { path: '/status' })).text);
    assert.deepEqual([ready, analytics.healthy], [false, false]);
    assert.equal((await caller.get('analytics', { referrer_tag: 'aggregator-dies' })).status, 503);
    // Other requests still succeed.
    await caller.createSessionWithClicks('aggregator-dies', fixture.complete, 1);
    while (market.marketplace.notReadyReasons().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(await metric('marketplace_aggregator_restarts_total'), died);
    const figures = await caller.summary({ referrer_tag: 'aggregator-dies' });
    assert.deepEqual([figures.sessions_total, figures.offer_clicks], [1 + died, 2 + died]);
  }
  const [died, recovered] = ['aggregator exited; restarting', 'aggregator restarted'];
  const messages = logged.map(({ msg }) => msg).filter((msg) => msg === died || msg === recovered);
  assert.deepEqual(messages, [died, recovered, died, recovered]);
});
