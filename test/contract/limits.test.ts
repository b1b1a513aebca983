import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type ApiCaller, assertError } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { ServiceConnection } from '../support/service-connection.ts';

const dayMs = 24 * 60 * 60_000;

const getAnalytics = (caller: ApiCaller) => caller.get('analytics', { referrer_tag: 'limits' });
const create = (caller: ApiCaller) => caller.post('session', { referrer_tag: 'day-limit' });
const header = (answer: HttpResponse, name: string) => Number(answer.headers.get(name));

describePersonalLoans('limits per minute', (door) => {
  test('counts every request against the limits per minute, including rejected requests', async () => {
    const caller = door.caller({ limits: { requestsPerMinute: 8 } });
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
});

for (const [name, limits] of [
  ['minute', { requestsPerMinute: 20 }],
  ['day', { sessionsPerDay: 20 }],
] as const) {
  describePersonalLoans(`concurrent requests and the limit per ${name}`, (door) => {
    test('admits exactly as many concurrent requests as the limit allows', async () => {
      const caller = door.caller({ limits });
      const answers = await Promise.all(Array.from({ length: 60 }, () => create(caller)));
      const statuses = Map.groupBy(answers, ({ status }) => status);
      assert.deepEqual([statuses.get(200)?.length, statuses.get(429)?.length], [20, 40]);
    });
  });
}

describePersonalLoans('limits per day', (door) => {
  test('does not count a rejected session against the daily limit', async () => {
    const { market } = door;
    const caller = door.caller({ limits: { sessionsPerDay: 1 } });
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
    const midnightMs = (Math.floor(market.clock.wallMs() / dayMs) + 2) * dayMs;
    market.clock.advance(midnightMs - 10_000 - market.clock.wallMs());
    assert.equal((await create(caller)).status, 200);
    const rejected = await create(caller);
    assertError(rejected, 'RATE_LIMIT_EXCEEDED');
    assert.deepEqual([header(rejected, 'x-ratelimit-limit'), header(rejected, 'retry-after')], [1, 10]);
    assert.equal(header(rejected, 'x-ratelimit-reset') * 1000, midnightMs);
  });

  test('a repeated request with the same Idempotency-Key does not count towards the daily session limit', async () => {
    const caller = door.caller({ limits: { sessionsPerDay: 2 } });
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
    const caller = door.caller({ limits: { sessionsPerDay: 1 } });
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
