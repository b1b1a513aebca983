import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { WidgetUsage } from '../../src/sessions/widget-usage.ts';

const { widgetRequestsPerMinute: perMinute } = bounds;
const idOf = (number: number): Buffer => {
  const id = Buffer.alloc(8);
  id.writeUInt32BE(number, 4);
  return id;
};

describe('WidgetUse', () => {
  it('never admits more than two minutes of requests in any minute, and tells truly when the next one will be', () => {
    const pauses = fc.array(fc.nat({ max: 2_000 }), { minLength: 300, maxLength: 600 });
    fc.assert(
      fc.property(pauses, fc.nat({ max: 1e9 }), (waits, startMs) => {
        const use = new WidgetUsage();
        const admitted: number[] = [];
        let nowMs = startMs;
        for (const wait of waits) {
          const seconds = use.admitRequest(nowMs);
          if (seconds === 0) admitted.push(nowMs);
          else {
            assert.ok(Number.isInteger(seconds) && seconds >= 1);
            nowMs += seconds * 1000;
            assert.equal(use.admitRequest(nowMs), 0);
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

  it('admits a burst of a minute, then none until time has passed', () => {
    const use = new WidgetUsage();
    for (let asked = 0; asked < perMinute; asked++) assert.equal(use.admitRequest(5_000), 0);
    assert.equal(use.admitRequest(5_000), 1);
    assert.equal(use.admitRequest(5_000 + 60_000 / perMinute), 0);
    assert.equal(use.admitRequest(5_000 + 60_000 / perMinute), 1);
  });

  it('owes each load one view, up to the bound', () => {
    const use = new WidgetUsage();
    for (let number = 0; number < bounds.widgetLoadsPerSessionMax; number++) {
      assert.ok(use.shouldCountView(idOf(number)));
      use.markViewCounted(idOf(number));
      use.markViewCounted(idOf(number));
      assert.ok(!use.shouldCountView(idOf(number)));
    }
    assert.ok(!use.shouldCountView(idOf(bounds.widgetLoadsPerSessionMax)));
  });

  it('takes each event once, up to the bound, and again what was given back', () => {
    const use = new WidgetUsage();
    for (let number = 0; number < bounds.widgetEventsPerSessionMax; number++) {
      assert.ok(use.claimEvent(idOf(number)));
      assert.ok(!use.claimEvent(idOf(number)));
    }
    assert.ok(!use.claimEvent(idOf(bounds.widgetEventsPerSessionMax)));
    use.releaseEvent(idOf(3));
    assert.ok(use.claimEvent(idOf(3)));
  });
});
