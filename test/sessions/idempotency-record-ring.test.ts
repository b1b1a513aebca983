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

describe('IdempotencyRecordRing', () => {
  it('finds the latest record of each key even while the ring buffer wraps around', () => {
    const ring = new IdempotencyRecordRing(3_000);
    const expected = new Map<number, number>();
    const records: [name: number, serial: number][] = [];
    for (let serial = 1; serial <= 20_000; serial++) {
      // Sizes between 300 and 4,096, the capacity of the ring.
      const sizeMax = serial % 9_000 < 4_500 ? 4_096 : 300;
      for (let removed = 0; removed < 3 && records.length >= sizeMax; removed++) {
        const [name, oldest] = records.shift()!;
        assert.equal(ring.oldestCreationTimeMs, startMs + oldest);
        ring.removeOldestRecord();
        if (expected.get(name) === oldest) expected.delete(name);
      }
      const name = (serial * 7_919) % 6_000;
      ring.add(keyOf(name), requestOf(serial));
      records.push([name, serial]);
      expected.set(name, serial);
      assert.equal(ring.size, records.length);
      if (serial % 1_000 > 0) continue;
      for (let each = 0; each < 6_000; each++) {
        const request = expected.get(each);
        assert.deepEqual(ring.findRecord(keyOf(each), 0), request && requestOf(request), `key ${each} after ${serial}`);
      }
    }
  });

  it('does not return the record of an expired session', () => {
    const ring = new IdempotencyRecordRing(1);
    ring.add(keyOf(1), requestOf(5));
    assert.equal(ring.findRecord(keyOf(1), startMs + 5), undefined);
    assert.equal(ring.findRecord(keyOf(1), startMs + 4)?.position, 2 ** 40 + 5);
  });

  it('an IdempotencyRecordRing is empty after its last record is removed, and accepts new records', () => {
    const ring = new IdempotencyRecordRing(1);
    ring.add(keyOf(1), requestOf(5));
    ring.removeOldestRecord();
    assert.deepEqual([ring.size, ring.oldestCreationTimeMs], [0, Number.POSITIVE_INFINITY]);
    assert.equal(ring.findRecord(keyOf(1), 0), undefined);
    ring.add(keyOf(1), requestOf(6));
    assert.equal(ring.findRecord(keyOf(1), 0)?.position, 2 ** 40 + 6);
  });
});
