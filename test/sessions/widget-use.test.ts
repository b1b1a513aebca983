import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { WidgetUse } from '../../src/sessions/widget-use.ts';

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
        const use = new WidgetUse();
        const admitted: number[] = [];
        let nowMs = startMs;
        for (const wait of waits) {
          const seconds = use.admit(nowMs);
          if (seconds === 0) admitted.push(nowMs);
          else {
            assert.ok(Number.isInteger(seconds) && seconds >= 1);
            nowMs += seconds * 1000;
            assert.equal(use.admit(nowMs), 0);
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
    const use = new WidgetUse();
    for (let asked = 0; asked < perMinute; asked++) assert.equal(use.admit(5_000), 0);
    assert.equal(use.admit(5_000), 1);
    assert.equal(use.admit(5_000 + 60_000 / perMinute), 0);
    assert.equal(use.admit(5_000 + 60_000 / perMinute), 1);
  });

  it('owes each load one view, up to the bound', () => {
    const use = new WidgetUse();
    for (let number = 0; number < bounds.widgetLoadsMax; number++) {
      assert.ok(use.isOwedView(idOf(number)));
      use.noteLoad(idOf(number));
      use.noteLoad(idOf(number));
      assert.ok(!use.isOwedView(idOf(number)));
    }
    assert.ok(!use.isOwedView(idOf(bounds.widgetLoadsMax)));
  });

  it('takes each event once, up to the bound, and again what was given back', () => {
    const use = new WidgetUse();
    for (let number = 0; number < bounds.widgetEventsMax; number++) {
      assert.ok(use.takeEvent(idOf(number)));
      assert.ok(!use.takeEvent(idOf(number)));
    }
    assert.ok(!use.takeEvent(idOf(bounds.widgetEventsMax)));
    use.giveBackEvent(idOf(3));
    assert.ok(use.takeEvent(idOf(3)));
  });
});
