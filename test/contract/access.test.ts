import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type ApiCaller, assertRefused } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { type Answer, marker } from '../support/http-client.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const everyOperation = (caller: ApiCaller): Promise<Answer>[] => [
  caller.post('session', { referrer_tag: 'access' }),
  caller.post('inputs', { sub_id: 'x', fields: {} }),
  caller.get('marketplace', { sub_id: 'x', format: 'json' }),
  caller.get('analytics', { referrer_tag: 'access' }),
];

function assertUnauthorized(answer: Answer): void {
  assertRefused(answer, 'UNAUTHORIZED');
  assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
  for (const name of answer.headers.keys()) assert.doesNotMatch(name, /ratelimit/);
}

describePersonalLoans('authentication', (door) => {
  test('rejects every operation without a key with 401 and without rate limit headers', async () => {
    const { market, fixture } = door;
    for (const path of ['session', 'inputs', 'marketplace', 'analytics']) {
      const method = path === 'session' || path === 'inputs' ? 'POST' : 'GET';
      assertUnauthorized(await market.http.send({ method, path: `/v1/${fixture.vertical.segment}/${path}` }));
    }
  });

  test('rejects malformed and unknown API keys', async () => {
    const { market, fixture } = door;
    const { key } = market.issueKey(fixture);
    const { keyPrefix } = fixture.vertical;
    const headers = [
      '',
      'Bearer',
      'Bearer ',
      key,
      `Basic ${key}`,
      `Bearer${key}`,
      `Bearer ${key}0`,
      `Bearer ${key} ${key}`,
      `Bearer ${key},${key}`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key.toUpperCase()}`,
      `Bearer ${keyPrefix}live_${'0'.repeat(48)}`,
      `Bearer ${keyPrefix}test_${key.slice(-48)}`,
      `Bearer ${marker}`,
      `Bearer ${'x'.repeat(8_000)}`,
      `Bearer ${key.slice(0, -1)}\u00e9`,
    ];
    for (const authorization of headers) {
      const caller = market.callerWith(fixture, key);
      const answer = await caller.get('analytics', { referrer_tag: 'abc' }, { Authorization: authorization });
      assertUnauthorized(answer);
    }
  });

  test('accepts the authentication scheme in upper and lower case', async () => {
    const { market, fixture } = door;
    const { key } = market.issueKey(fixture);
    const caller = market.callerWith(fixture, key);
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const answer = await caller.get('analytics', { referrer_tag: 'abc' }, { Authorization: `${scheme} ${key}` });
      assert.equal(answer.status, 200);
    }
  });

  test('rejects the API key of another vertical with 403', async () => {
    const { market, fixture } = door;
    for (const elsewhere of allFixtures.filter(({ vertical }) => vertical !== fixture.vertical)) {
      const { key } = market.issueKey(elsewhere);
      for (const answer of await Promise.all(everyOperation(market.callerWith(fixture, key)))) {
        assertRefused(answer, 'VERTICAL_MISMATCH');
      }
      const there = market.callerWith(elsewhere, key);
      assert.equal((await there.summary({ referrer_tag: 'access' })).sessions_total, 0);
    }
  });

  test('rejects an expired API key from the millisecond of its expiry', async () => {
    const { market, fixture } = door;
    const { clock } = market;
    const expiresAt = new Date(clock.wallMs() + 60_000);
    const caller = market.caller(fixture, { expiresAt });
    clock.advance(expiresAt.getTime() - 1 - clock.wallMs());
    await caller.createSession('until-then');
    clock.advance(1);
    for (const answer of await Promise.all(everyOperation(caller))) assertUnauthorized(answer);
    const [elsewhere] = allFixtures.filter(({ vertical }) => vertical !== fixture.vertical);
    const there = market.callerWith(elsewhere as (typeof allFixtures)[0], caller.key);
    assertUnauthorized(await there.get('analytics', { referrer_tag: 'abc' }));
  });

  test('rejects a revoked key, and accepts the other keys of the account', async () => {
    const { market, fixture } = door;
    const account = `revokes in ${fixture.vertical.segment}`;
    const { key, id } = market.issueKey(fixture, { account, limits: { analyticsPerMinute: 1_000 } });
    const other = market.caller(fixture, { account });
    const caller = market.callerWith(fixture, key);
    await caller.createSession('revoked');
    assert.equal(market.marketplace.keys.revoke(id), 'revoked');
    let answer = await caller.get('analytics', { referrer_tag: 'revoked' });
    while (answer.status === 200) {
      await pause(50);
      answer = await caller.get('analytics', { referrer_tag: 'revoked' });
    }
    assertUnauthorized(answer);
    assert.equal((await other.summary({ referrer_tag: 'revoked' })).sessions_total, 1);
  });
});
