import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, test } from 'node:test';
import type { PreparedBenchmark, RepeatedBenchmark } from '../../../bench/micro/micro-benchmark.ts';
import { measureRepeatedly } from '../../../bench/micro/micro-part.ts';

const place = { folder: tmpdir(), quick: true };

function microOf(prepared: PreparedBenchmark): RepeatedBenchmark {
  return { name: 'a/b: c', call: 'one', prepare: () => prepared };
}

describe('measureRepeatedly', () => {
  for (const [kind, given] of [
    ['of a synchronous function', (runs: number) => runs],
    ['of an asynchronous one', (runs: number) => Promise.resolve(runs)],
  ] as const) {
    test(`repeats a benchmark ${kind}, prepares each run, and closes the benchmark at the end`, async () => {
      let made = 0;
      let runs = 0;
      let closed = 0;
      const { medianNs, p99Ns } = await measureRepeatedly(
        microOf({
          calls: 10,
          beforeEach: () => {
            made++;
          },
          run: () => {
            runs++;
            assert.equal(made, runs);
            return given(runs);
          },
          close: () => {
            closed++;
          },
        }),
        place,
      );
      assert.ok(runs > 3);
      assert.equal(closed, 1);
      assert.ok(medianNs >= 0 && p99Ns >= medianNs);
    });
  }

  test('closes a benchmark and fails if a run throws or returns 0 or NaN', async () => {
    let closed = 0;
    const close = () => {
      closed++;
    };
    await assert.rejects(measureRepeatedly(microOf({ calls: 1, run: () => 0, close }), place), /a\/b: c returned 0/);
    await assert.rejects(measureRepeatedly(microOf({ calls: 1, run: () => Number.NaN, close }), place), /returned NaN/);
    let runs = 0;
    const third = () => {
      if (++runs === 3) throw new Error('the third run');
      return 1;
    };
    await assert.rejects(measureRepeatedly(microOf({ calls: 1, run: third, close }), place), /the third run/);
    assert.equal(closed, 3);
  });
});
