import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../support/answers.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { atEveryDoor, type Door } from '../support/doors.ts';
import type { Answer } from '../support/http-client.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

type Ask = (caller: ApiCaller) => Promise<Answer>;
const anyRequest: Ask = (caller) => caller.get('marketplace', { format: 'json' });
const analytics: Ask = (caller) => caller.get('analytics', { referrer_tag: 'limits' });

async function statuses(ask: Ask, caller: ApiCaller, times: number): Promise<Record<number, number>> {
  const answers = await Promise.all(Array.from({ length: times }, () => ask(caller)));
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Moves time to this many milliseconds before a UTC midnight: a limit by calendar minutes, or by days, would start anew there. */
function beforeMidnight({ market: { clock } }: Door, ms: number): void {
  clock.advance(2 * dayMs - (clock.wallMs() % dayMs) - ms);
}

const header = (answer: Answer, name: string) => Number(answer.headers.get(name));

atEveryDoor('the limits of a minute', (door) => {
  const cases: readonly (readonly [name: string, limit: number, ask: Ask, admitted: number])[] = [
    ['500 requests', 500, anyRequest, 400],
    ['50 analytics queries', 50, analytics, 200],
  ];
  for (const [name, limit, ask, admitted] of cases) {
    test(`admit ${name} in any 60 seconds, also across a full minute and a UTC midnight`, async () => {
      const caller = door.market.caller(door.fixture);
      const { clock } = door.market;
      beforeMidnight(door, 10_000);
      assert.deepEqual(await statuses(ask, caller, limit / 2), { [admitted]: limit / 2 });
      clock.advance(20_000);
      const more = await statuses(ask, caller, limit);
      assert.deepEqual(more, { [admitted]: limit / 2, 429: limit / 2 });
      clock.advance(40_000 - 1);
      assert.deepEqual(await statuses(ask, caller, 3), { 429: 3 });
      clock.advance(1);
      const freed = await statuses(ask, caller, limit);
      assert.deepEqual(freed, { [admitted]: limit / 2, 429: limit / 2 }, 'refused requests must not have counted');
    });

    test(`name in the refusal of ${name} and one more the moment from which a retry succeeds`, async () => {
      const caller = door.market.caller(door.fixture);
      const { clock } = door.market;
      beforeMidnight(door, 30_000);
      const firstMs = clock.wallMs();
      await ask(caller);
      clock.advance(1_500);
      await statuses(ask, caller, limit - 1);
      clock.advance(700);
      const refusal = await ask(caller);
      assertRefused(refusal, 'RATE_LIMIT_EXCEEDED');
      const resetMs = header(refusal, 'x-ratelimit-reset') * 1000;
      assert.equal(resetMs, firstMs + minuteMs);
      assert.equal(header(refusal, 'retry-after'), Math.ceil((resetMs - clock.wallMs()) / 1000));
      assert.equal(header(refusal, 'x-ratelimit-limit'), limit);
      assert.equal(header(refusal, 'x-ratelimit-remaining'), 0);
      clock.advance(resetMs - 1 - clock.wallMs());
      const early = await ask(caller);
      assertRefused(early, 'RATE_LIMIT_EXCEEDED');
      assert.equal(header(early, 'retry-after'), 1);
      clock.advance(1);
      assert.equal((await ask(caller)).status, admitted);
      assertRefused(await ask(caller), 'RATE_LIMIT_EXCEEDED');
    });
  }

  test('count analytics queries among the requests, and the other operations not among the queries', async () => {
    const caller = door.market.caller(door.fixture, { limits: { requestsPerMinute: 8, analyticsPerMinute: 5 } });
    assert.deepEqual(await statuses(analytics, caller, 6), { 200: 5, 429: 1 });
    assert.deepEqual(await statuses(anyRequest, caller, 4), { 400: 3, 429: 1 });
    assertRefused(await analytics(caller), 'RATE_LIMIT_EXCEEDED');
  });

  test('count each operation, whatever its answer', async () => {
    const caller = door.market.caller(door.fixture, { limits: { requestsPerMinute: 6 } });
    const asked = [
      await caller.post('session', { referrer_tag: 'counts' }),
      await caller.post('session', '{'),
      await caller.post('inputs', {}),
      await caller.get('marketplace', ''),
      await caller.get('marketplace', '', {}, 'HEAD'),
      await analytics(caller),
    ];
    assert.deepEqual(
      asked.map(({ status }) => status),
      [200, 400, 400, 400, 400, 200],
    );
    assert.deepEqual(
      asked.map((answer) => header(answer, 'x-ratelimit-remaining')),
      [5, 4, 3, 2, 1, 0],
    );
    for (const operation of ['session', 'inputs'] as const) {
      assertRefused(await caller.post(operation, {}), 'RATE_LIMIT_EXCEEDED');
    }
    assertRefused(await caller.get('marketplace', ''), 'RATE_LIMIT_EXCEEDED');
    assertRefused(await analytics(caller), 'RATE_LIMIT_EXCEEDED');
  });

  test('of a key are its own, not those of its account', async () => {
    const { market, fixture } = door;
    const limits = { requestsPerMinute: 1 };
    const account = `limited in ${fixture.vertical.segment}`;
    const one = market.caller(fixture, { account, limits });
    const other = market.caller(fixture, { account, limits });
    assert.deepEqual(await statuses(anyRequest, one, 3), { 400: 1, 429: 2 });
    assert.deepEqual(await statuses(anyRequest, other, 3), { 400: 1, 429: 2 });
  });

  test('go by a clock of their own: setting the wall clock frees nothing', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { requestsPerMinute: 1 } });
    await anyRequest(caller);
    const nowMs = market.clock.wallMs();
    market.clock.setWall(nowMs + 5 * minuteMs);
    const refusal = await anyRequest(caller);
    market.clock.setWall(nowMs);
    assertRefused(refusal, 'RATE_LIMIT_EXCEEDED');
    assert.equal(header(refusal, 'retry-after'), 60);
  });

  test('are told with every answer to a known key, for the tightest of them', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    market.clock.advance(minuteMs - (market.clock.wallMs() % minuteMs));
    const whole = Math.ceil(market.clock.wallMs() / 1000) + 60;
    const answers = [
      [await anyRequest(caller), 500, 499, '"minute"'],
      [await analytics(caller), 50, 49, '"analytics"'],
      [await caller.post('session', { referrer_tag: 'A' }), 500, 497, '"minute"'],
    ] as const;
    for (const [answer, limit, remaining, policy] of answers) {
      assert.equal(header(answer, 'x-ratelimit-limit'), limit);
      assert.equal(header(answer, 'x-ratelimit-remaining'), remaining);
      assert.equal(header(answer, 'x-ratelimit-reset'), whole);
      assert.ok(answer.headers.get('ratelimit-policy')?.includes(`${policy};q=${limit};w=60`));
      assert.equal(answer.headers.get('ratelimit'), `${policy};r=${remaining};t=60`);
      assert.equal(answer.headers.has('retry-after'), false);
    }
  });

  test('are told with every kind of refusal, whatever it is about', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const refusals = [
      await caller.post('session', '{'),
      await caller.post('session', '{}', { 'Content-Type': 'text/plain' }),
      await caller.get('marketplace', { sub_id: 'never-issued', format: 'json' }),
      await caller.post('session', 'x'.repeat(70_000)),
    ];
    assert.deepEqual(
      refusals.map(({ status }) => status),
      [400, 415, 404, 413],
    );
    assert.deepEqual(
      refusals.map((answer) => answer.headers.get('x-ratelimit-remaining')),
      ['499', '498', '497', '496'],
    );
  });

  test('stand beside the 403 of a key of another vertical too, and are not charged for it', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { requestsPerMinute: 2 } });
    const [elsewhere] = allFixtures.filter(({ vertical }) => vertical !== fixture.vertical);
    const stray = market.callerWith(elsewhere as (typeof allFixtures)[0], caller.key);
    for (let times = 0; times < 5; times++) {
      const answer = await anyRequest(stray);
      assertRefused(answer, 'VERTICAL_MISMATCH');
      assert.equal(header(answer, 'x-ratelimit-remaining'), 2);
    }
    assert.deepEqual(await statuses(anyRequest, caller, 2), { 400: 2 });
  });
});
