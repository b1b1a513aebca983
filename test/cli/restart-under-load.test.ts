import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createMarketplace } from '../../src/index.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { createFolder } from './sample-data-folder.ts';
import { ServedProcess } from './served-process.ts';

const clients = 24;
const visitsBeforeStop = 40;
const clicksPerVisit = 2;
const tag = 'restarted';

/** Starts the server and returns API clients with separate connections. */
async function serve(t: TestContext, folder: string, key: string) {
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder, SVC_MATCHER_THREADS: '1', SVC_LOG_LEVEL: 'warn' });
  const { public: port } = await served.ports();
  const connect = (): ApiCaller => {
    const http = new HttpClient(port);
    runAfterTest(t, () => http.close());
    return new ApiCaller(http, fixture.vertical.segment, key);
  };
  return { served, connect };
}

// `test/http/listener-connections.test.ts` checks that a drain loses no response.
test('a restart under load loses no acknowledged sessions, inputs or clicks', async (t) => {
  const folder = createFolder(t);
  const marketplace = await createMarketplace({ dataDir: folder });
  const limits = { requestsPerMinute: 1_000_000, analyticsPerMinute: 1_000, sessionsPerDay: 1_000_000 };
  const { key } = marketplace.keys.create({ account: 'load', vertical: 'personal-loans', mode: 'live', limits });
  await marketplace.close();

  const { served, connect } = await serve(t, folder, key);
  const stopping = Promise.withResolvers<void>();
  let isStopping = false;
  const acknowledged: string[] = [];
  const loads = Array.from({ length: clients }, async () => {
    const caller = connect();
    try {
      for (;;) {
        acknowledged.push((await caller.createSessionWithClicks(tag, fixture.complete, clicksPerVisit)).subId);
        if (acknowledged.length >= visitsBeforeStop) stopping.resolve();
      }
    } catch (error) {
      // The server refuses requests after the signal.
      if (!isStopping) throw error;
    }
  });
  await Promise.race([stopping.promise, Promise.all(loads)]);
  isStopping = true;
  assert.equal(await served.stop(), 0);
  await Promise.all(loads);
  assert.deepEqual([served.log, served.complaints], [[], []]);

  const restarted = await serve(t, folder, key);
  const caller = restarted.connect();
  const { sessions_total: sessions, offer_clicks: clicks } = await caller.summary({ referrer_tag: tag });
  // Each client had at most one visit that was not completely acknowledged.
  const between = (value: number, min: number, max: number) => assert.ok(value >= min && value <= max, `${value}`);
  between(sessions, acknowledged.length, acknowledged.length + clients);
  between(clicks, clicksPerVisit * acknowledged.length, clicksPerVisit * (acknowledged.length + clients));
  for (const subId of acknowledged) assert.ok((await caller.offers(subId)).offers.length > 0);
  assert.equal(await restarted.served.stop(), 0);
});
