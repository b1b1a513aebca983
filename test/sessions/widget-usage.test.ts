import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { WidgetUsage } from '../../src/sessions/widget-usage.ts';

const { widgetRequestsPerMinute: perMinute } = bounds;
const idOf = (number: number): Buffer => {
  const id = Buffer.alloc(8);
  id.writeUInt32BE(number, 4);
  return id;
};

describe('WidgetUsage', () => {
  it('in any 60 seconds, admits at most 2 × widgetRequestsPerMinute requests', () => {
    const pauses = fc.array(fc.nat({ max: 2_000 }), { minLength: 300, maxLength: 600 });
    fc.assert(
      fc.property(pauses, fc.nat({ max: 1e9 }), (waits, startMs) => {
        const usage = new WidgetUsage();
        const admitted: number[] = [];
        let nowMs = startMs;
        for (const wait of waits) {
          const seconds = usage.checkRequestLimit(nowMs);
          if (seconds === 0) admitted.push(nowMs);
          else {
            assert.ok(Number.isInteger(seconds) && seconds >= 1);
            nowMs += seconds * 1000;
            assert.equal(usage.checkRequestLimit(nowMs), 0);
            admitted.push(nowMs);
          }
          nowMs += wait;
        }
        for (const [from, first] of admitted.entries()) {
          const within = admitted.slice(from).filter((ms) => ms < first + 60_000).length;
          assert.ok(within <= 2 * perMinute);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('admits a burst of all requests that are allowed per minute', () => {
    const usage = new WidgetUsage();
    for (let i = 0; i < perMinute; i++) assert.equal(usage.checkRequestLimit(5_000), 0);
    assert.equal(usage.checkRequestLimit(5_000), 1);
    assert.equal(usage.checkRequestLimit(5_000 + 60_000 / perMinute), 0);
    assert.equal(usage.checkRequestLimit(5_000 + 60_000 / perMinute), 1);
  });

  it('counts one view per widget load, up to the limit', () => {
    const usage = new WidgetUsage();
    for (let number = 0; number < bounds.widgetLoadsPerSessionMax; number++) {
      assert.ok(usage.shouldCountView(idOf(number)));
      usage.markViewCounted(idOf(number));
      usage.markViewCounted(idOf(number));
      assert.ok(!usage.shouldCountView(idOf(number)));
    }
    assert.ok(!usage.shouldCountView(idOf(bounds.widgetLoadsPerSessionMax)));
  });

  it('accepts each widget event once, up to the limit', () => {
    const usage = new WidgetUsage();
    for (let number = 0; number < bounds.widgetEventsPerSessionMax; number++) {
      assert.ok(usage.tryRememberEvent(idOf(number)));
      assert.ok(!usage.tryRememberEvent(idOf(number)));
    }
    assert.ok(!usage.tryRememberEvent(idOf(bounds.widgetEventsPerSessionMax)));
    usage.forgetEvent(idOf(3));
    assert.ok(usage.tryRememberEvent(idOf(3)));
  });
});

/** Generates a few different digests, some of which differ only in one half. */
const digest = fc
  .tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 }))
  .map(([first, second]) => Buffer.from([first, 0, 0, 0, second, 0, 0, 0]));

test('remembers exactly the events that were not forgotten, in random operations', () => {
  const command = fc.tuple(fc.constantFrom('remember', 'forget'), digest);
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      const usage = new WidgetUsage();
      const remembered = new Set<string>();
      for (const [name, item] of commands) {
        const text = item.toString('hex');
        if (name === 'remember') assert.equal(usage.tryRememberEvent(item), !remembered.has(text));
        else usage.forgetEvent(item);
        if (name === 'remember') remembered.add(text);
        else remembered.delete(text);
      }
      for (const text of remembered) assert.ok(!usage.tryRememberEvent(Buffer.from(text, 'hex')));
    }),
  );
});

test('stores a copy of each digest, and throws for a digest of the wrong length', () => {
  const usage = new WidgetUsage();
  const item = Buffer.alloc(8, 1);
  assert.ok(usage.tryRememberEvent(item));
  item.fill(2);
  assert.deepEqual(
    [Buffer.alloc(8, 1), item].map((each) => usage.tryRememberEvent(each)),
    [false, true],
  );
  assert.throws(() => usage.tryRememberEvent(Buffer.alloc(7)), RangeError);
});
