import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { createMarketplace, type Marketplace } from '../../src/index.ts';
import { afterwards } from '../support/afterwards.ts';
import { ApiCaller, loadId, WidgetCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

/** Starts services on one data folder, one after another. The state of the browser is retained between them. */
async function twoLives(t: TestContext) {
  const dataDir = temporaryFolder();
  afterwards(t, () => rmSync(dataDir, { recursive: true }));
  const clock = new ManualClock();
  const start = (): Promise<Marketplace> =>
    createMarketplace({ dataDir, clock, durability: 'write', listen: { engine: 'node' } });
  const first = await start();
  const { key } = first.keys.create({ account: 'widgets', vertical: 'personal-loans', mode: 'live' });
  const callerOf = ({ ports }: Marketplace): ApiCaller => {
    const http = new HttpClient(ports!.public);
    afterwards(t, () => http.close());
    return new ApiCaller(http, 'personal-loans', key);
  };
  return { clock, start, first, callerOf };
}

test('keeps a widget working after a restart without double counting', async (t) => {
  const { start, first, callerOf } = await twoLives(t);
  const before = callerOf(first);
  const { subId, token } = await before.widgetWith('over-a-restart', fixture.complete);
  const widget = new WidgetCaller(before.http, subId, token);
  await widget.offers(loadId(1));
  await widget.offers(loadId(1), { sort: 'lowest_apr' });
  const events = ['a', 'b'].map((id) => ({ event_id: id, type: 'offers_rendered' }));
  assert.equal((await widget.report({ load: loadId(1), events })).status, 204);
  await first.close();

  const second = await start();
  afterwards(t, () => second.close());
  const after = callerOf(second);
  const again = new WidgetCaller(after.http, subId, token);
  await again.offers(loadId(1), { sort: 'highest_amount' });
  await again.offers(loadId(2));
  const more = [...events, { event_id: 'c', type: 'offers_rendered' }];
  assert.equal((await again.report({ load: loadId(1), events: more })).status, 204);
  const summary = await after.summary({ referrer_tag: 'over-a-restart' });
  assert.equal(summary.marketplace_views, 2);
  assert.equal(summary.widget_events!.offers_rendered, 3);
});

test('expires a session with a widget at its original time after a restart', async (t) => {
  const { clock, start, first, callerOf } = await twoLives(t);
  const before = callerOf(first);
  const { subId, token } = await before.widgetWith('ends', fixture.complete);
  await new WidgetCaller(before.http, subId, token).offers(loadId(1));
  await first.close();
  clock.advance(bounds.sessionTtlMs);
  const second = await start();
  afterwards(t, () => second.close());
  const late = await new WidgetCaller(callerOf(second).http, subId, token).get('/offers', { load: loadId(1) });
  assert.equal(late.status, 400);
});
