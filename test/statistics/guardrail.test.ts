import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawSuccesses } from '../../bench/population/random.ts';
import { mixtureTime, sequenceMultiplier, tuneSequence } from '../../src/statistics/confidence-sequence.ts';
import { compareGuardrail, type GuardrailSums } from '../../src/statistics/guardrail.ts';
import { seededRandom } from '../support/random-catalog.ts';
import { assertClose } from './close-to.ts';

/** Sums of units that have one event or none, such as sessions with a click. */
function rate(events: number, units: number): GuardrailSums {
  return {
    units,
    denominator: units,
    denominatorSquared: units,
    numerator: events,
    numeratorSquared: events,
    product: events,
    unitsWithEvents: events,
  };
}

describe('compareGuardrail', () => {
  it('is worse if the interval is on the harmful side of 0', () => {
    const [low, high] = [rate(300, 2_000), rate(600, 2_000)];
    assert.equal(compareGuardrail(high, low, 'if higher')!.isWorse, true);
    assert.equal(compareGuardrail(low, high, 'if higher')!.isWorse, false);
    assert.equal(compareGuardrail(low, high, 'if lower')!.isWorse, true);
    const slightlyHigher = rate(310, 2_000);
    assert.equal(compareGuardrail(slightlyHigher, low, 'if higher')!.isWorse, false);
    assert.equal(compareGuardrail(low, slightlyHigher, 'if lower')!.isWorse, false);
    const { control, value, difference } = compareGuardrail(high, low, 'if higher')!;
    assert.deepEqual([control, value, difference.value], [0.15, 0.3, 0.15]);
    assertClose((difference.low + difference.high) / 2, 0.15);
  });

  it('sees harm in events that the control does not have', () => {
    const { difference, isWorse } = compareGuardrail(rate(80, 2_000), rate(0, 2_000), 'if higher')!;
    assert.ok(isWorse);
    // The variance of 80 events in the arm, and of 40 in the control, as if both had the same rate.
    const standardError = Math.sqrt((0.04 * 0.96) / 1_999 + (0.02 * 0.98) / 1_999.5);
    const time = mixtureTime(tuneSequence(0.01), 40, 40);
    assertClose(difference.high - difference.value, sequenceMultiplier(time, 0.01) * standardError, 6);
  });

  it('returns null with few events, and without units', () => {
    assert.equal(compareGuardrail(rate(24, 2_000), rate(25, 2_000), 'if higher'), null);
    assert.notEqual(compareGuardrail(rate(25, 2_000), rate(25, 2_000), 'if higher'), null);
    assert.equal(compareGuardrail(rate(0, 0), rate(500, 2_000), 'if higher'), null);
    assert.equal(compareGuardrail(rate(0, 0), rate(0, 0), 'if higher'), null);
    assert.equal(compareGuardrail(rate(2_000, 2_000), rate(2_000, 2_000), 'if lower'), null);
  });

  it('calls a harmless page worse in at most 1 % of experiments with daily looks', () => {
    for (const [seed, eventRate, armShare] of [
      [1, 0.1, 0.5],
      [2, 0.003, 0.5],
      [3, 0.02, 0.1],
    ] as const) {
      const random = seededRandom(seed);
      let worse = 0;
      for (let run = 0; run < 1_000; run++) {
        const events: [number, number] = [0, 0];
        const units: [number, number] = [0, 0];
        for (let day = 0; day < 60; day++) {
          for (const [arm, share] of [armShare, 1 - armShare].entries()) {
            units[arm as 0 | 1] += 600 * share;
            events[arm as 0 | 1] += drawSuccesses(random, 600 * share, eventRate);
          }
          const look = compareGuardrail(rate(events[0], units[0]), rate(events[1], units[1]), 'if higher');
          if (look?.isWorse) {
            worse++;
            break;
          }
        }
      }
      // 1 % on both sides together, plus three standard errors of 1,000 runs.
      assert.ok(worse <= 1_000 * (0.01 + 3 * Math.sqrt(0.01 / 1_000)), `${worse} of 1,000 at ${eventRate}`);
    }
  });
});
