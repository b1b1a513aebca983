import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { bounds } from '../../src/bounds.ts';
import { formatIsoTimestamp, msPerDay } from '../../src/domain/calendar.ts';
import type { ConfirmationsResponse, ExperimentResultsResponse } from '../../src/index.ts';
import { type ApiCaller, assertError, assertOk } from '../support/api-caller.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { type Engine, RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { askOperator } from './operator-request.ts';

const experiment = {
  arms: [
    { referrer_tag: 'page-a', weight: 0.5 },
    { referrer_tag: 'page-b', weight: 0.5, label: '=B' },
  ],
  control: 'page-a',
  unit: 'session',
  starts_on: '2026-05-20',
};

/** Starts a service with an experiment. `earn` creates a session of an arm that clicks an offer and earns an amount. */
async function start(t: TestContext, engine: Engine) {
  const market = await RunningMarketplace.start(engine);
  runAfterTest(t, () => market.close());
  const caller = market.caller(fixture, { account: 'acme' });
  assertOk(await caller.send('PUT', 'experiments/hero', experiment));
  const earn = async (tag: string, amount: number): Promise<void> => {
    const subId = await caller.createSessionWithFields(tag, fixture.complete);
    const { svc_offer_id: offerId, click_url: url } = (await caller.offers(subId)).offers[0]!;
    const click_id = clickIdFromRedirect(fixture, offerId, await caller.click(url));
    const occurred_at = formatIsoTimestamp(market.clock.wallMs());
    const json = { click_id, txid: 'paid', status: 'funded', amount, occurred_at };
    const answer = await askOperator(market, { method: 'POST', path: '/confirmations', json });
    assert.equal(assertOk<ConfirmationsResponse>(answer).results[0]!.outcome, 'accepted');
  };
  return { market, caller, earn };
}

const send = (caller: ApiCaller, query = '', headers = {}) =>
  caller.http.send({
    path: `${caller.basePath}/experiments/hero/results${query}`,
    headers: { Authorization: `Bearer ${caller.key}`, ...headers },
  });
const read = async (caller: ApiCaller, query = ''): Promise<ExperimentResultsResponse> =>
  assertOk(await send(caller, query));

for (const engine of ['uws', 'node'] as const) {
  test(`results count the sessions of closed days, and their revenue when it is final (${engine})`, async (t) => {
    const { market, caller, earn } = await start(t, engine);
    await earn('page-a', 40);
    await earn('page-b', 100);
    await caller.createSession('page-b');

    const empty = await read(caller);
    assert.equal(empty.sentence, 'Too early to say: the results up to 19 May 2026 (UTC) count no sessions.');
    assert.deepEqual([empty.as_of, empty.decision, empty.series], ['2026-05-19', 'too_early', undefined]);

    market.clock.advance(msPerDay);
    const young = await read(caller);
    assert.deepEqual(
      young.arms.map((arm) => [arm.sessions, arm.clicks, arm.rev_confirmed, arm.mature_sessions]),
      [
        [1, 1, 40, 0],
        [2, 1, 100, 0],
      ],
    );
    assert.match(young.sentence, /^Too early to say: no session is mature yet\. .* 12 July 2026 \(UTC\)\.$/);

    market.clock.advance(53 * msPerDay);
    const mature = await read(caller, '?series=true');
    assert.deepEqual(
      mature.arms.map((arm) => [arm.units_with_revenue, arm.revenue_per_session]),
      [
        [1, 40],
        [1, 50],
      ],
    );
    assert.equal(mature.comparisons[0]!.difference_today, 10);
    assert.deepEqual(mature.series, [
      {
        arm: 'page-b',
        as_of: '2026-07-12',
        difference: null,
        low: null,
        high: null,
        p_value: null,
        units_with_revenue: 1,
      },
    ]);

    // The sentence of the last results does not say when to look again.
    const missing = 'Too early to say: page-a has 1 of the 25 confirmed sessions it needs';
    assert.equal(mature.sentence, `${missing}, about 24 days at the present rate.`);
    assertOk(await caller.send('POST', 'experiments/hero/close', { outcome: 'no_decision' }));
    const { sentence, comparisons } = await read(caller);
    assert.equal(
      sentence,
      `Closed on 13 July 2026 (UTC) without a decision. The results up to 12 July 2026 (UTC): ${missing}.`,
    );
    assert.equal(comparisons[0]!.sentence, `${missing}.`);
  });

  test(`results are CSV lines of arms, or of looks (${engine})`, async (t) => {
    const { market, caller, earn } = await start(t, engine);
    await earn('page-b', 100);
    market.clock.advance(54 * msPerDay);
    const lines = async (query: string) => {
      const { status, headers, text } = await send(caller, query, { Accept: 'text/csv' });
      assert.deepEqual([status, headers.get('content-type')], [200, 'text/csv; charset=utf-8; header=present']);
      return parse(text, { columns: true }) as Readonly<Record<string, string>>[];
    };
    const [control, arm, ...others] = await lines('');
    assert.deepEqual(others, []);
    const { 'comparison.decision': decision, 'comparison.sentence': sentence } = control!;
    assert.deepEqual([control!.referrer_tag, decision, sentence], ['page-a', '', '']);
    assert.deepEqual(
      [arm!.label, arm!.revenue_per_session, arm!['interval.low'], arm!['comparison.decision']],
      ["'=B", '100', '', 'too_early'],
    );
    const [look, ...otherLooks] = await lines('?series=true');
    assert.deepEqual(otherLooks, []);
    assert.deepEqual(Object.keys(look!), [
      'arm',
      'as_of',
      'difference',
      'low',
      'high',
      'p_value',
      'units_with_revenue',
    ]);
    assert.deepEqual([look!.arm, look!.difference, look!.units_with_revenue], ['page-b', '', '1']);
  });
}

for (const engine of ['uws', 'node'] as const) {
  test(`results are broken down by device and by a dimension (${engine})`, async (t) => {
    const { market, caller } = await start(t, engine);
    const definition = {
      ...experiment,
      arms: experiment.arms.map((arm) => ({ ...arm, referrer_tag: `by-${arm.referrer_tag}` })),
    };
    const by = { ...definition, control: 'by-page-a', dimensions: ['ad'] };
    assertOk(await caller.send('PUT', 'experiments/grouped', by));
    const create = async (tag: string, metadata: object, agent?: string) =>
      assertOk(await caller.post('session', { referrer_tag: tag, metadata, user_agent: agent }));
    const phone =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1';
    await create('by-page-a', { ad: '=x' }, phone);
    await create('by-page-b', { ad: 7 }, phone);
    await create('by-page-b', { other: 1 });
    for (let value = 0; value < bounds.dimensionValuesMax - 1; value++)
      await create('by-page-b', { ad: `value ${value}` });
    market.clock.advance(msPerDay);
    const ask = (groupBy: string, headers = {}) =>
      caller.http.send({
        path: `${caller.basePath}/experiments/grouped/results?group_by=${groupBy}`,
        headers: { Authorization: `Bearer ${caller.key}`, ...headers },
      });
    const groupsBy = async (groupBy: string) => {
      const { breakdown } = assertOk<ExperimentResultsResponse>(await ask(groupBy));
      assert.deepEqual([breakdown!.group_by, breakdown!.warning], [groupBy, 'For ideas, not for decisions.']);
      return breakdown!.groups.map(({ kind, value, arms }) => [kind, value, ...arms.map(({ sessions }) => sessions)]);
    };
    assert.deepEqual(await groupsBy('device'), [
      ['value', 'unknown', 0, bounds.dimensionValuesMax],
      ['value', 'mobile', 1, 1],
    ]);
    const groups = await groupsBy('ad');
    assert.deepEqual(groups.slice(0, 3), [
      ['value', '=x', 1, 0],
      ['value', '7', 0, 1],
      ['value', 'value 0', 0, 1],
    ]);
    assert.deepEqual(groups.slice(bounds.dimensionValuesMax), [
      ['none', null, 0, 1],
      ['other', null, 0, 1],
    ]);

    const { text, headers } = await ask('ad', { Accept: 'text/csv' });
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
    const lines: Readonly<Record<string, string>>[] = parse(text, { columns: true });
    assert.deepEqual(
      [0, 1, -2, -1]
        .map((index) => lines.at(index)!)
        .map((line) => [line.kind, line.value, line.referrer_tag, line.sessions]),
      [
        ['value', "'=x", 'by-page-a', '1'],
        ['value', "'=x", 'by-page-b', '0'],
        ['other', '', 'by-page-a', '0'],
        ['other', '', 'by-page-b', '1'],
      ],
    );

    for (const groupBy of ['unknown-name', 'Device', '__proto__', '', 'ad&group_by=device']) {
      const answer = await ask(groupBy);
      assertError(answer, 'INVALID_REQUEST', 'group_by');
      assert.ok(!answer.text.includes('unknown-name') && !answer.text.includes('__proto__'));
    }
  });
}

test('results of an unknown experiment and of another tenant are not found', async (t) => {
  const { market, caller } = await start(t, 'uws');
  assertError(await caller.send('GET', 'experiments/other/results'), 'NOT_FOUND');
  assertError(await send(market.caller(fixture)), 'NOT_FOUND');
  assertError(await send(market.caller(fixture, { account: 'acme', mode: 'test' })), 'NOT_FOUND');
  assertError(await send(caller, '?series=yes'), 'INVALID_REQUEST', 'series');
  assertError(await caller.send('GET', 'experiments/A/results'), 'INVALID_REQUEST', 'name');
});

test('a key that can only read figures reads the results, also of a deleted experiment', async (t) => {
  const { market, caller } = await start(t, 'uws');
  const reader = market.caller(fixture, { account: 'acme', scope: 'analytics' });
  const before = await read(caller);
  assert.deepEqual(await read(reader), before);
  assertOk(await caller.send('DELETE', 'experiments/hero'));
  assert.deepEqual(await read(reader), before);
});
