import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IdempotencyKeys } from '../../src/sessions/idempotency-keys.ts';
import { secretSetOf } from '../support/identities.ts';
import { subIdBytes } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';

const retentionMs = 4 * 60 * 60 * 1000;

function setUp() {
  const clock = new ManualClock();
  const secrets = secretSetOf('ours');
  const keys = new IdempotencyKeys({ clock, secrets, retentionMs, keysMax: 1_000 });
  const digestsOf = (key: string) => {
    const found = keys.lookUpRequest(key, 'payload');
    assert(found.kind === 'new');
    return found.digests;
  };
  let serial = 0;
  /** Stores the first request with a key. Returns the sub_id of its session. */
  const store = (key: string, position: number): Buffer => {
    const digests = digestsOf(key);
    const sub = subIdBytes({ createdMs: clock.wallMs(), serial: ++serial });
    assert(keys.tryMakeRoom());
    keys.addPendingRequest(digests, { sub, position, durable: Promise.resolve() });
    keys.completePendingRequest(digests, true);
    return sub;
  };
  return { clock, keys, digestsOf, store };
}

describe('IdempotencyKeys', () => {
  it('returns the session and the ledger position of the first request, which later lookups do not change', () => {
    const { keys, store } = setUp();
    const stored = Array.from({ length: 500 }, (_, i) => store(`key ${i}`, 2 ** 40 + i));
    const found = stored.map((_, i) => keys.lookUpRequest(`key ${i}`, 'payload'));
    for (const [i, sub] of stored.entries()) {
      assert.deepEqual(found[i], { kind: 'repeat', first: { sub, position: 2 ** 40 + i, durable: null } });
      assert.deepEqual(keys.lookUpRequest(`key ${i}`, 'other payload'), { kind: 'mismatch' });
    }
  });

  it('a key is new again after the retention, even before its record is deleted', () => {
    const { clock, keys, store } = setUp();
    store('key', 1);
    clock.advance(retentionMs - 1);
    assert(keys.has('key'));
    clock.advance(1);
    assert(!keys.has('key'));
    const sub = store('key', 2);
    const found = keys.lookUpRequest('key', 'payload');
    assert.deepEqual(found, { kind: 'repeat', first: { sub, position: 2, durable: null } });
  });

  it('captures the pending requests for each snapshot', () => {
    const { clock, keys, digestsOf } = setUp();
    const captureHead = () => keys.capture().next().value!.id;
    const head = captureHead();
    assert.equal(captureHead(), head);
    const sub = subIdBytes({ createdMs: clock.wallMs(), serial: 1 });
    keys.addPendingRequest(digestsOf('key'), { sub, position: 1, durable: Promise.resolve() });
    assert.notEqual(captureHead(), head);
  });

  it('restores keys from the ledger with position 0', () => {
    const { clock, keys, digestsOf } = setUp();
    const sub = subIdBytes({ createdMs: clock.wallMs(), serial: 7 });
    keys.restoreKey(digestsOf('key'), sub);
    const found = keys.lookUpRequest('key', 'payload');
    assert.deepEqual(found, { kind: 'repeat', first: { sub, position: 0, durable: null } });
  });
});
