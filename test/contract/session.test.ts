import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused, assertShape, assertTimestamp } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { marker } from '../support/http-client.ts';

const fourHoursMs = 4 * 60 * 60 * 1000;
/** A single code point that consists of two UTF-16 code units. */
const astral = '\u{1F3E6}';

describeEveryVertical('POST /session', (door) => {
  test('returns a session with a lifetime of four hours', async () => {
    const { market, fixture } = door;
    const answer = await market.caller(fixture).post('session', { referrer_tag: 'hero_short-form2' });
    const session = assertOk<Record<string, unknown>>(answer);
    assertShape(session, {
      sub_id: 'string',
      referrer_tag: 'string',
      created_at: 'string',
      expires_at: 'string',
      sandbox: 'boolean',
    });
    assert.equal(session.referrer_tag, 'hero_short-form2');
    assert.equal(session.sandbox, false);
    const createdMs = assertTimestamp(session.created_at);
    assert.equal(createdMs, market.clock.wallMs());
    assert.equal(assertTimestamp(session.expires_at), createdMs + fourHoursMs);
  });

  test('returns unique session ids that are safe in a URL', async () => {
    const caller = door.market.caller(door.fixture);
    const ids = new Set<string>();
    for (let count = 0; count < 20; count++) ids.add((await caller.createSession('ids')).sub_id);
    assert.equal(ids.size, 20);
    assert.equal(new Set([...ids].map(({ length }) => length)).size, 1);
    for (const id of ids) assert.match(id, /^sub_[a-z0-9_-]+$/);
  });

  test('marks the session of a test key as sandbox', async () => {
    const { sandbox } = await door.market.caller(door.fixture, { mode: 'test' }).createSession('sandboxed');
    assert.equal(sandbox, true);
  });

  test('accepts tags of 3 to 64 lower-case letters, digits, underscores and hyphens', async () => {
    const caller = door.market.caller(door.fixture);
    for (const tag of ['abc', 'a'.repeat(64), '___', '---', '0123456789', 'a_b-c']) {
      assert.equal((await caller.createSession(tag)).referrer_tag, tag);
    }
  });

  test('rejects tags of other lengths or with other characters', async () => {
    const caller = door.market.caller(door.fixture);
    const texts = ['', 'ab', 'a'.repeat(65), `${marker}A`, `${marker} b`, ` ${marker}`, `${marker}\n`, `${marker}.b`];
    const others = [undefined, null, 123, true, ['abc'], { tag: 'abc' }];
    for (const tag of [...texts, `${marker}é`, `${marker}\u0000`, ...others]) {
      assertRefused(await caller.post('session', { referrer_tag: tag }), 'INVALID_REFERRER_TAG');
    }
  });

  test('accepts a user agent of up to 1024 characters', async () => {
    const caller = door.market.caller(door.fixture);
    for (const agent of ['', 'Mozilla/5.0', 'x'.repeat(1024), astral.repeat(1024)]) {
      await caller.createSession('agents', { user_agent: agent });
    }
  });

  test('rejects a longer user agent and a user agent of another type', async () => {
    const caller = door.market.caller(door.fixture);
    for (const agent of [`${marker}${'x'.repeat(1024)}`, astral.repeat(1025), null, 5, true, [marker], {}]) {
      const answer = await caller.post('session', { referrer_tag: 'agents', user_agent: agent });
      assertRefused(answer, 'INVALID_REQUEST', 'user_agent');
    }
  });

  test('accepts metadata with 10 keys and 256 code points per text', async () => {
    const caller = door.market.caller(door.fixture);
    const tenKeys = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`key${at}`, at]));
    const valid = [
      {},
      tenKeys,
      { ['k'.repeat(256)]: 'v'.repeat(256) },
      { [astral.repeat(256)]: astral.repeat(256) },
      { text: 'a', number: -1.5e-7, yes: true, no: false, nothing: null, '': '', '"\\': '"\\\n' },
    ];
    for (const metadata of valid) await caller.createSession('metadata', { metadata });
  });

  test('rejects metadata that is too large, nested or not an object', async () => {
    const caller = door.market.caller(door.fixture);
    const elevenKeys = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`${marker}${at}`, at]));
    const invalid = [
      elevenKeys,
      { ['k'.repeat(257)]: 1 },
      { key: 'v'.repeat(257) },
      { [astral.repeat(257)]: 1 },
      { key: astral.repeat(257) },
      { [marker]: { nested: marker } },
      { [marker]: [marker] },
      { '\n': [] },
      null,
      [],
      [marker],
      marker,
      7,
      true,
    ];
    for (const metadata of invalid) {
      const answer = await caller.post('session', { referrer_tag: 'metadata', metadata });
      assertRefused(answer, 'INVALID_REQUEST', 'metadata');
    }
  });

  test('ignores unknown members of the body', async () => {
    const caller = door.market.caller(door.fixture);
    const session = await caller.createSession('unknown-members', { sub_id: marker, sandbox: true, x: { y: [1] } });
    assert.equal(session.sandbox, false);
    assert.notEqual(session.sub_id, marker);
  });

  test('returns the first response for a repeated Idempotency-Key', async () => {
    const caller = door.market.caller(door.fixture, { limits: { sessionsPerDay: 5 } });
    const key = { 'Idempotency-Key': 'retry-of-a-page-load' };
    const first = await caller.post('session', { referrer_tag: 'idempotent' }, key);
    const repeat = await caller.post('session', { referrer_tag: 'idempotent' }, key);
    assert.equal(first.status, 200);
    assert.equal(first.headers.has('idempotency-replayed'), false);
    assert.equal(repeat.headers.get('idempotency-replayed'), 'true');
    assert.equal(repeat.text, first.text);
    assert.equal((await caller.summary({ referrer_tag: 'idempotent' })).sessions_total, 1);
    const next = await caller.post('session', { referrer_tag: 'idempotent' });
    assert.equal(next.headers.get('x-ratelimit-remaining'), '3');
  });

  test('rejects a repeated Idempotency-Key with another body', async () => {
    const caller = door.market.caller(door.fixture);
    const key = { 'Idempotency-Key': marker };
    await caller.post('session', { referrer_tag: 'idempotent-a' }, key);
    assertRefused(await caller.post('session', { referrer_tag: 'idempotent-b' }, key), 'IDEMPOTENCY_MISMATCH');
    assert.equal((await caller.summary({ referrer_tag: 'idempotent-b' })).sessions_total, 0);
  });

  test('rejects an invalid Idempotency-Key', async () => {
    const caller = door.market.caller(door.fixture);
    for (const key of ['a'.repeat(256), 'two words']) {
      const answer = await caller.post('session', { referrer_tag: 'idempotent' }, { 'Idempotency-Key': key });
      assertRefused(answer, 'INVALID_REQUEST', 'Idempotency-Key');
    }
  });
});
