import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { RecordRing } from '../../src/sessions/record-ring.ts';
import { memoryBesideHeap } from './collect-garbage.ts';

const layout = { recordWords: 4, keyWords: 2, hashWord: 1 };

function valueAt(ring: RecordRing, position: number): number {
  return ring.getChunk(position)[ring.getOffset(position) + 2]!;
}

/** Compares a ring with a list of records, oldest first. The value of a record is a serial number. */
class ModelComparison {
  readonly ring = new RecordRing({ ...layout, recordsMax: 5_000 });
  readonly #records: { readonly key: Int32Array; readonly value: number }[] = [];
  #lastValue = 0;

  add(key: Int32Array): void {
    const position = this.ring.add(key);
    const start = this.ring.getOffset(position);
    const record = this.ring.getChunk(position).subarray(start, start + layout.recordWords);
    assert.deepEqual([...record], [...key, 0, 0]);
    record[2] = ++this.#lastValue;
    this.#records.push({ key, value: this.#lastValue });
  }

  removeOldest(): void {
    if (this.#records.shift() !== undefined) this.ring.removeOldest();
  }

  compare(keys: readonly Int32Array[]): void {
    assert.equal(this.ring.size, this.#records.length);
    const latest = new Map(this.#records.map(({ key, value }) => [key.join(), value]));
    for (const key of keys) {
      const position = this.ring.find(key);
      assert.equal(position < 0 ? undefined : valueAt(this.ring, position), latest.get(key.join()), key.join());
    }
    if (this.ring.size > 0) assert.equal(valueAt(this.ring, this.ring.oldestPosition), this.#records[0]!.value);
  }
}

describe('RecordRing', () => {
  it('finds the latest record of each key if the hashes of many keys collide', () => {
    // Some hashes are at the end of a hash table of any size.
    const hash = fc.constantFrom(0, 1, 15, 31, 63, 0x00ff_ffff, 0x00ff_fffe, -1, 0x7fff_ffff, -0x8000_0000);
    const key = fc.tuple(fc.nat(40), hash).map((words) => Int32Array.from(words));
    const step = fc.record({ key, added: fc.nat(12), removed: fc.nat(10) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), (steps) => {
        const model = new ModelComparison();
        for (const {
          key: [first, hashed],
          added,
          removed,
        } of steps) {
          for (let i = 0; i < added; i++) model.add(Int32Array.of((first! + i) % 41, hashed!));
          for (let i = 0; i < removed; i++) model.removeOldest();
          model.compare(steps.map(({ key }) => key));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('finds the latest record of each key while the ring grows, wraps around and shrinks', () => {
    const model = new ModelComparison();
    const words = new Int32Array(randomBytes(6_000 * 8).buffer);
    const keys = Array.from({ length: 6_000 }, (_, i) => words.subarray(2 * i, 2 * i + 2));
    for (let i = 0, wanted = 5_000; i < 40_000; i++) {
      if (i % 10_000 === 0) wanted = wanted === 5_000 ? 30 : 5_000;
      while (model.ring.size >= wanted) model.removeOldest();
      model.add(keys[(i * 7_919) % keys.length]!);
      if (i % 1_000 === 999) model.compare(keys);
    }
  });

  it('distinguishes keys that differ in a single word', () => {
    const ring = new RecordRing({ ...layout, keyWords: 3, recordsMax: 10 });
    const key = Int32Array.of(1, 2, 3);
    ring.add(key);
    for (let word = 0; word < key.length; word++) assert.equal(ring.find(key.with(word, key[word]! ^ 0x80)), -1);
    assert.equal(ring.find(key), 0);
  });

  it('throws a RangeError if the ring is full, and accepts a record after the oldest record was removed', () => {
    const ring = new RecordRing({ ...layout, recordsMax: 2 });
    for (const first of [1, 2]) ring.add(Int32Array.of(first, first));
    assert.throws(() => ring.add(Int32Array.of(3, 3)), RangeError);
    assert.equal(ring.find(Int32Array.of(3, 3)), -1);
    ring.removeOldest();
    assert.equal(ring.add(Int32Array.of(3, 3)), 2);
    assert.equal(ring.size, 2);
  });

  it('overwrites a removed record', () => {
    const ring = new RecordRing({ ...layout, recordsMax: 2 });
    const position = ring.add(Int32Array.of(1, 2));
    const chunk = ring.getChunk(position);
    chunk[ring.getOffset(position) + 3] = 1984_03_21;
    ring.removeOldest();
    assert.ok(chunk.every((word) => word === 0));
  });

  it('frees memory when most records are removed', async () => {
    const ring = new RecordRing({ ...layout, recordWords: 20, recordsMax: 2 ** 18 });
    const words = new Int32Array(randomBytes(2 ** 17 * 8).buffer);
    const before = await memoryBesideHeap();
    for (let i = 0; i < words.length; i += 2) ring.add(words.subarray(i, i + 2));
    const taken = (await memoryBesideHeap()) - before;
    while (ring.size > 1) ring.removeOldest();
    const left = (await memoryBesideHeap()) - before;
    assert(left < taken / 20, `${left} bytes of ${taken} are left`);
    assert.equal(ring.find(words.subarray(-2)), 2 ** 17 - 1);
  });

  it('the index does not grow if the same key is added repeatedly', async () => {
    const ring = new RecordRing({ ...layout, recordsMax: 2 });
    ring.add(Int32Array.of(1, 1));
    const before = await memoryBesideHeap();
    for (let i = 0; i < 4_000; i++) {
      ring.add(Int32Array.of(1, 1));
      ring.removeOldest();
    }
    assert((await memoryBesideHeap()) - before < 1_000);
  });
});
