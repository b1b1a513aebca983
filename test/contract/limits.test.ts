import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { assertError } from '../support/api-caller.ts';
import { describePersonalLoans, describeService } from '../support/contract-suite.ts';
import type { HttpResponse } from '../support/http-client.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const getOffers = (caller: ApiCaller) => caller.get('marketplace', { format: 'json' });
const getAnalytics = (caller: ApiCaller) => caller.get('analytics', { referrer_tag: 'limits' });
const create = (caller: ApiCaller) => caller.post('session', { referrer_tag: 'day-limit' });
const header = (answer: HttpResponse, name: string) => Number(answer.headers.get(name));

/** Advances the clock to this number of milliseconds before UTC midnight. Returns the time of midnight. */
function advanceToMidnight(clock: ManualClock, msBefore: number): number {
  clock.advance(2 * dayMs - (clock.wallMs() % dayMs) - msBefore);
  return clock.wallMs() + msBefore;
}

describePersonalLoans('limits per minute', (door) => {
  test('counts every request against the limits per minute, including rejected requests', async () => {
    const caller = door.market.caller(door.fixture, { limits: { requestsPerMinute: 8 } });
    const answers = [
      await caller.post('session', { referrer_tag: 'counts' }),
      await caller.post('session', '{'),
      await caller.post('session', '{}', { 'Content-Type': 'text/plain' }),
      await caller.post('session', 'x'.repeat(70_000)),
      await caller.post('inputs', {}),
      await caller.get('marketplace', { sub_id: 'never-issued', format: 'json' }),
      await caller.get('marketplace', '', {}, 'HEAD'),
      await getAnalytics(caller),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400, 415, 413, 400, 404, 400, 200],
    );
    assert.deepEqual(
      answers.map((answer) => header(answer, 'x-ratelimit-remaining')),
      [7, 6, 5, 4, 3, 2, 1, 0],
    );
    for (const operation of ['session', 'inputs'] as const) {
      assertError(await caller.post(operation, {}), 'RATE_LIMIT_EXCEEDED');
    }
    assertError(await caller.get('marketplace', ''), 'RATE_LIMIT_EXCEEDED');
    assertError(await getAnalytics(caller), 'RATE_LIMIT_EXCEEDED');
  });

  test('every response has headers for the limit with the fewest remaining requests', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    market.clock.advance(minuteMs - (market.clock.wallMs() % minuteMs));
    const resetSeconds = Math.ceil(market.clock.wallMs() / 1000) + 60;
    const answers = [
      [await getOffers(caller), 500, 499, '"minute"'],
      [await getAnalytics(caller), 50, 49, '"analytics"'],
      [await caller.post('session', { referrer_tag: 'A' }), 500, 497, '"minute"'],
    ] as const;
    for (const [answer, limit, remaining, policy] of answers) {
      assert.equal(header(answer, 'x-ratelimit-limit'), limit);
      assert.equal(header(answer, 'x-ratelimit-remaining'), remaining);
      assert.equal(header(answer, 'x-ratelimit-reset'), resetSeconds);
      assert.ok(answer.headers.get('ratelimit-policy')?.includes(`${policy};q=${limit};w=60`));
      assert.equal(answer.headers.get('ratelimit'), `${policy};r=${remaining};t=60`);
      assert.equal(answer.headers.has('retry-after'), false);
    }
  });
});

for (const [name, limits] of [
  ['minute', { requestsPerMinute: 20 }],
  ['day', { sessionsPerDay: 20 }],
] as const) {
  describePersonalLoans(`concurrent requests and the limit per ${name}`, (door) => {
    test('admits exactly as many concurrent requests as the limit allows', async () => {
      const caller = door.market.caller(door.fixture, { limits });
      const answers = await Promise.all(Array.from({ length: 60 }, () => create(caller)));
      const statuses = Map.groupBy(answers, ({ status }) => status);
      assert.deepEqual([statuses.get(200)?.length, statuses.get(429)?.length], [20, 40]);
    });
  });
}

describePersonalLoans('limits per day', (door) => {
  test('does not count a rejected session against the daily limit', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 1 } });
    const invalidRequests: (() => Promise<HttpResponse>)[] = [
      () => caller.post('session', { referrer_tag: 'A' }),
      () => caller.post('session', { referrer_tag: 'abc', metadata: 1 }),
      () => caller.post('session', '{'),
      () => caller.post('session', {}, { 'Content-Type': 'text/plain' }),
      () => caller.post('session', { referrer_tag: 'x'.repeat(70_000) }),
      () => caller.post('session', { referrer_tag: 'abc' }, { 'Idempotency-Key': 'two words' }),
    ];
    for (const send of invalidRequests) {
      const { status } = await send();
      assert.ok(status >= 400 && status !== 429, String(status));
    }
    const midnightMs = advanceToMidnight(market.clock, 10_000);
    assert.equal((await create(caller)).status, 200);
    const rejected = await create(caller);
    assertError(rejected, 'RATE_LIMIT_EXCEEDED');
    assert.deepEqual([header(rejected, 'x-ratelimit-limit'), header(rejected, 'retry-after')], [1, 10]);
    assert.equal(header(rejected, 'x-ratelimit-reset') * 1000, midnightMs);
  });

  test('does not count a request with a repeated Idempotency-Key against the daily limit of sessions', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 2 } });
    const keyed = (tag: string, key: string) =>
      caller.post('session', { referrer_tag: tag }, { 'Idempotency-Key': key });
    const first = await keyed('day-limit', 'one');
    const repeat = await keyed('day-limit', 'one');
    assert.equal(repeat.text, first.text);
    assert.equal(header(repeat, 'x-ratelimit-remaining'), 1);
    assert.equal((await create(caller)).status, 200);

    const beyond = await keyed('day-limit', 'one');
    assert.equal(beyond.status, 200);
    assert.equal(beyond.text, first.text);
    assert.equal(beyond.headers.get('idempotency-replayed'), 'true');
    assert.equal(header(beyond, 'x-ratelimit-limit'), 2);
    assert.equal(header(beyond, 'x-ratelimit-remaining'), 0);
    assertError(await keyed('other', 'one'), 'IDEMPOTENCY_MISMATCH');
    assertError(await caller.post('session', '{', { 'Idempotency-Key': 'one' }), 'INVALID_REQUEST', 'body');
    assertError(await keyed('day-limit', 'two'), 'RATE_LIMIT_EXCEEDED');
    assertError(await create(caller), 'RATE_LIMIT_EXCEEDED');
    assert.equal((await caller.summary({ referrer_tag: 'day-limit' })).sessions_total, 2);
  });

  test('does not count a session request with an incomplete body against the daily limit', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 1 } });
    const connection = await ServiceConnection.open(caller.http.port);
    const head = [
      `POST ${caller.basePath}/session HTTP/1.1`,
      'Host: test',
      `Authorization: Bearer ${caller.key}`,
      'Content-Type: application/json',
      'Content-Length: 100',
    ];
    connection.send(`${head.join('\r\n')}\r\n\r\n{"referrer_tag":`);
    // As soon as another request is rejected, the incomplete request has reserved the only session of the day.
    while ((await caller.post('session', { referrer_tag: 'A' })).status !== 429);
    connection.close();
    let answer = await create(caller);
    while (answer.status === 429) {
      await pause(10);
      answer = await create(caller);
    }
    assert.equal(answer.status, 200);
  });
});

const maxSessions = 4;

describeService(
  'limits of referrer tags and live sessions',
  ({ running }) => {
    test('at the limit of referrer tags, rejects only new tags, and does not count rejected sessions', async () => {
      const caller = running().caller(fixture, { limits: { sessionsPerDay: 4 } });
      const create = (tag: string) => caller.post('session', { referrer_tag: tag });
      for (const tag of ['tag-a', 'tag-b']) assert.equal((await create(tag)).status, 200);
      for (let times = 0; times < 3; times++) assertError(await create('tag-c'), 'TAG_LIMIT_EXCEEDED');
      for (const tag of ['tag-a', 'tag-b']) assert.equal((await create(tag)).status, 200);
      assertError(await create('tag-a'), 'RATE_LIMIT_EXCEEDED');
      assert.equal((await caller.summary({ referrer_tag: 'tag-c' })).sessions_total, 0);
    });

    test('at the limit of live sessions, rejects new sessions until others expire, and does not count rejected requests', async () => {
      const market = running();
      market.clock.advance(bounds.sessionTtlMs);
      const caller = market.caller(fixture, { limits: { sessionsPerDay: maxSessions + 1 } });
      const subIds: string[] = [];
      for (let count = 0; count < maxSessions; count++) {
        subIds.push(await caller.createSessionWithFields('full', fixture.complete));
      }
      for (let times = 0; times < 5; times++) {
        const refusal = await caller.post('session', { referrer_tag: 'full' });
        assertError(refusal, 'SERVICE_UNAVAILABLE');
        assert.ok(Number(refusal.headers.get('retry-after')) >= 1);
      }
      for (const subId of subIds) assert.ok((await caller.offers(subId)).offers.length > 0);
      assert.equal((await caller.summary({ referrer_tag: 'full' })).sessions_total, maxSessions);

      market.clock.advance(bounds.sessionTtlMs + 1_000);
      await caller.createSession('full');
      assertError(await caller.post('session', { referrer_tag: 'full' }), 'RATE_LIMIT_EXCEEDED');
      assert.equal((await caller.summary({ referrer_tag: 'full' })).sessions_total, maxSessions + 1);
    });
  },
  { maxSessions, maxReferrerTags: 2 },
);
