import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertRefused } from '../support/answers.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { atEveryDoor } from '../support/doors.ts';
import type { Answer } from '../support/http-client.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { ServiceConnection } from '../support/service-connection.ts';

const dayMs = 24 * 60 * 60 * 1000;
const create = (caller: ApiCaller) => caller.post('session', { referrer_tag: 'day-limit' });
const header = (answer: Answer, name: string) => Number(answer.headers.get(name));

/** Moves time to this many milliseconds before a UTC midnight; returns that midnight. */
function beforeMidnight(clock: ManualClock, ms: number): number {
  clock.advance(2 * dayMs - (clock.wallMs() % dayMs) - ms);
  return clock.wallMs() + ms;
}

atEveryDoor('the sessions of a day', (door) => {
  test('are limited from one UTC midnight to the next', async () => {
    const { market, fixture } = door;
    const { clock } = market;
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 3 } });
    const midnightMs = beforeMidnight(clock, 10_000);
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(caller)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 429, 429]);
    const refusal = await create(caller);
    assertRefused(refusal, 'RATE_LIMIT_EXCEEDED');
    assert.equal(header(refusal, 'x-ratelimit-limit'), 3);
    assert.equal(header(refusal, 'x-ratelimit-reset') * 1000, midnightMs);
    assert.equal(header(refusal, 'retry-after'), 10);
    clock.advance(9_999);
    assertRefused(await create(caller), 'RATE_LIMIT_EXCEEDED');
    clock.advance(1);
    for (let times = 0; times < 3; times++) assert.equal((await create(caller)).status, 200);
    const next = await create(caller);
    assertRefused(next, 'RATE_LIMIT_EXCEEDED');
    assert.equal(header(next, 'x-ratelimit-reset') * 1000, midnightMs + dayMs);
  });

  test('are told with the answer while they are the tightest limit', async () => {
    const { market, fixture } = door;
    const midnightMs = beforeMidnight(market.clock, 60 * 60 * 1000);
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 3 } });
    const answer = await create(caller);
    assert.equal(header(answer, 'x-ratelimit-limit'), 3);
    assert.equal(header(answer, 'x-ratelimit-remaining'), 2);
    assert.equal(header(answer, 'x-ratelimit-reset') * 1000, midnightMs);
    assert.ok(answer.headers.get('ratelimit-policy')?.includes('q=3;w=86400'));
  });

  test('leave the other operations alone', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 1 } });
    const subId = await caller.sessionWith('day-limit', fixture.complete);
    assertRefused(await create(caller), 'RATE_LIMIT_EXCEEDED');
    assert.ok((await caller.offers(subId)).offers.length > 0);
  });

  test('are not charged for a session that was not created, whatever was wrong', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 1 } });
    const wrongs: (() => Promise<Answer>)[] = [
      () => caller.post('session', { referrer_tag: 'A' }),
      () => caller.post('session', { referrer_tag: 'abc', metadata: 1 }),
      () => caller.post('session', '{'),
      () => caller.post('session', {}, { 'Content-Type': 'text/plain' }),
      () => caller.post('session', { referrer_tag: 'abc' }, { 'Idempotency-Key': 'two words' }),
    ];
    for (const wrong of wrongs) {
      const { status } = await wrong();
      assert.ok(status >= 400 && status !== 429, String(status));
    }
    assert.equal((await create(caller)).status, 200);
    assertRefused(await create(caller), 'RATE_LIMIT_EXCEEDED');
  });

  test('do not limit a repeat of a request with its Idempotency-Key', async () => {
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
    assertRefused(await keyed('other', 'one'), 'IDEMPOTENCY_MISMATCH');
    assertRefused(await caller.post('session', '{', { 'Idempotency-Key': 'one' }), 'INVALID_REQUEST', 'body');
    assertRefused(await keyed('day-limit', 'two'), 'RATE_LIMIT_EXCEEDED');
    assertRefused(await create(caller), 'RATE_LIMIT_EXCEEDED');
    assert.equal((await caller.summary({ referrer_tag: 'day-limit' })).sessions_total, 2);
  });

  test('limit a repeat with the requests of a minute, like every request', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 1, requestsPerMinute: 2 } });
    const keyed = () => caller.post('session', { referrer_tag: 'day-limit' }, { 'Idempotency-Key': 'one' });
    for (let times = 0; times < 2; times++) assert.equal((await keyed()).status, 200);
    const refusal = await keyed();
    assertRefused(refusal, 'RATE_LIMIT_EXCEEDED');
    assert.equal(header(refusal, 'x-ratelimit-limit'), 2);
    assert.equal(header(refusal, 'retry-after'), 60);
    market.clock.advance(60_000);
    assert.equal((await keyed()).status, 200);
  });

  test('are not charged for a body that is too large', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { sessionsPerDay: 1 } });
    assertRefused(await caller.post('session', { referrer_tag: 'x'.repeat(70_000) }), 'PAYLOAD_TOO_LARGE');
    assert.equal((await create(caller)).status, 200);
  });

  test('are not charged for a body that never arrives', async () => {
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
    // Once this key is refused, the half request has been admitted and holds the place.
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
