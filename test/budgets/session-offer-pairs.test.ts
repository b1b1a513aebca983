import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type OfferKeyBits, SessionOfferPairs } from '../../src/budgets/session-offer-pairs.ts';
import { subIdBytes } from '../support/ledger-records.ts';

const minuteMs = 60 * 1000;
const noon = Date.UTC(2026, 4, 20, 12);
const marks: readonly OfferKeyBits[] = [
  { high: 0, low: 0 },
  { high: 0xffff_ffff, low: 0xffff_ffff },
  { high: 0, low: 1_000 },
];

/** Creates an id of a session within a few minutes. Serials never repeat, like random bits. */
function session(serial: number): Buffer {
  const sub = subIdBytes({ createdMs: noon + (serial % 5) * minuteMs, serial });
  sub.writeUInt32BE(Math.imul(serial, 0x9e37_79b1) >>> 0, 18);
  return sub;
}

describe('SessionOfferPairs', () => {
  it('SessionOfferPairs behaves like a Map whose keys are pairs of session and offer', () => {
    const step = fc.record({ serial: fc.nat(400), offer: fc.nat(2), clicked: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: 'max' }), (steps) => {
        const pairs = new SessionOfferPairs(1_000_000, noon);
        const model = new Map<string, 'shown' | 'clicked'>();
        for (const { serial, offer, clicked } of steps) {
          const name = `${serial} ${offer}`;
          if (clicked) pairs.markClicked(session(serial), marks[offer]!);
          else pairs.markShown(session(serial), marks[offer]!, noon);
          if (clicked || !model.has(name)) model.set(name, clicked ? 'clicked' : 'shown');
        }
        for (let serial = 0; serial <= 400; serial++) {
          for (const [offer, mark] of marks.entries()) {
            assert.equal(pairs.getPairState(session(serial), mark), model.get(`${serial} ${offer}`) ?? 'none');
          }
        }
        assert.equal(pairs.size, model.size);
      }),
      { numRuns: 30 },
    );
  });

  it('distinguishes 100,000 session-offer pairs of the same minute', () => {
    const pairs = new SessionOfferPairs(1_000_000, noon);
    for (let serial = 0; serial < 500_000; serial += 5) pairs.markShown(session(serial), marks[serial % 3]!, noon);
    for (let serial = 0; serial < 500_000; serial += 15) pairs.markClicked(session(serial), marks[serial % 3]!);
    for (let serial = 0; serial < 500_000; serial += 5) {
      const sub = session(serial);
      assert.equal(pairs.getPairState(sub, marks[serial % 3]!), serial % 15 === 0 ? 'clicked' : 'shown');
      assert.equal(pairs.getPairState(sub, marks[(serial + 1) % 3]!), 'none');
    }
    assert.equal(pairs.size, 100_000);
  });

  it('evictOldPairs keeps sessions created in the minute of the given time, and evicts older sessions', () => {
    const pairs = new SessionOfferPairs(1_000_000, noon - minuteMs);
    for (const serial of [0, 1]) pairs.markShown(session(serial), marks[0]!, noon);
    assert.ok(pairs.hasAllPairsSince(noon - minuteMs) && !pairs.hasAllPairsSince(noon - minuteMs - 1));
    pairs.evictOldPairs(noon + minuteMs - 1);
    assert.equal(pairs.getPairState(session(0), marks[0]!), 'shown');
    assert.ok(!pairs.hasAllPairsSince(noon));
    pairs.evictOldPairs(noon + minuteMs);
    assert.deepEqual(
      [0, 1].map((serial) => pairs.getPairState(session(serial), marks[0]!)),
      ['none', 'shown'],
    );
    assert.equal(pairs.size, 1);
    pairs.evictOldPairs(noon);
    assert.ok(pairs.hasAllPairsSince(noon + minuteMs) && !pairs.hasAllPairsSince(noon + minuteMs - 1));
  });

  it('evicts the oldest sessions when there are too many pairs of session and offer', () => {
    const pairs = new SessionOfferPairs(100, noon);
    for (let serial = 0; serial < 100; serial++) pairs.markShown(session(serial), marks[0]!, noon);
    assert.ok(pairs.size === 100 && pairs.hasAllPairsSince(noon));
    pairs.markShown(session(100), marks[1]!, noon);
    assert.equal(Number(pairs.size), 80);
    assert.ok(!pairs.hasAllPairsSince(noon + minuteMs - 1) && pairs.hasAllPairsSince(noon + minuteMs));
    assert.equal(pairs.getPairState(session(0), marks[0]!), 'none');
    assert.equal(pairs.getPairState(session(1), marks[0]!), 'shown');
  });

  it('merges the session-offer pairs of another set', () => {
    const [pairs, others] = [new SessionOfferPairs(1_000, noon), new SessionOfferPairs(1_000, noon - minuteMs)];
    for (let serial = 0; serial < 300; serial++) pairs.markShown(session(serial), marks[0]!, noon);
    for (let serial = 0; serial < 300; serial++) others.markShown(session(serial), marks[1]!, noon);
    for (let serial = 0; serial < 300; serial += 2) others.markClicked(session(serial), marks[1]!);
    for (const _ of pairs.addAllPairs(others)) assert.ok(pairs.size <= 600);
    assert.equal(pairs.size, 600);
    assert.ok(pairs.hasAllPairsSince(noon) && !pairs.hasAllPairsSince(noon - 1));
    for (let serial = 0; serial < 300; serial++) {
      assert.equal(pairs.getPairState(session(serial), marks[0]!), 'shown');
      assert.equal(pairs.getPairState(session(serial), marks[1]!), serial % 2 === 0 ? 'clicked' : 'shown');
    }
  });
});
