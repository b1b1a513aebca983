import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { IdempotencyRecordRing } from '../../src/sessions/idempotency-record-ring.ts';

const startMs = Date.UTC(2026, 4, 20, 12);
const keyOf = (name: number) => createHash('md5').update(String(name)).digest();

function requestOf(serial: number) {
  const sub = Buffer.alloc(32, serial % 251);
  sub.writeUIntBE(startMs + serial, 0, 6);
  return { payload: Buffer.alloc(16, serial % 241), sub, position: 2 ** 40 + serial };
}

describe('KeyedRequestRing', () => {
  it('finds what was added and not dropped, while it goes round several times and keys come again', () => {
    const ring = new IdempotencyRecordRing(3_000);
    const expected = new Map<number, number>();
    const held: [name: number, serial: number][] = [];
    for (let serial = 1; serial <= 20_000; serial++) {
      // Sizes between some hundred and the 4,096 that the ring's buffers have room for.
      const most = serial % 9_000 < 4_500 ? 4_096 : 300;
      for (let drops = 0; drops < 3 && held.length >= most; drops++) {
        const [name, oldest] = held.shift()!;
        assert.equal(ring.oldestCreatedMs, startMs + oldest);
        ring.removeOldest();
        if (expected.get(name) === oldest) expected.delete(name);
      }
      const name = (serial * 7_919) % 6_000;
      ring.add(keyOf(name), requestOf(serial));
      held.push([name, serial]);
      expected.set(name, serial);
      assert.equal(ring.size, held.length);
      if (serial % 1_000 > 0) continue;
      for (let each = 0; each < 6_000; each++) {
        const request = expected.get(each);
        assert.deepEqual(ring.find(keyOf(each), 0), request && requestOf(request), `key ${each} after ${serial}`);
      }
    }
  });

  it('does not find a session created up to the time given', () => {
    const ring = new IdempotencyRecordRing(1);
    ring.add(keyOf(1), requestOf(5));
    assert.equal(ring.find(keyOf(1), startMs + 5), undefined);
    assert.equal(ring.find(keyOf(1), startMs + 4)?.position, 2 ** 40 + 5);
  });

  it('is empty after its last request was dropped, and takes more', () => {
    const ring = new IdempotencyRecordRing(1);
    ring.add(keyOf(1), requestOf(5));
    ring.removeOldest();
    assert.deepEqual([ring.size, ring.oldestCreatedMs], [0, Number.POSITIVE_INFINITY]);
    assert.equal(ring.find(keyOf(1), 0), undefined);
    ring.add(keyOf(1), requestOf(6));
    assert.equal(ring.find(keyOf(1), 0)?.position, 2 ** 40 + 6);
  });
});
