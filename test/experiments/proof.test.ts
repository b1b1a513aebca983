import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cellGroups } from '../../bench/experiments/cells.ts';
import { findViolations } from '../../bench/experiments/check-bounds.ts';
import { otherMethods } from '../../bench/experiments/other-methods.ts';
import { serviceMethods, simulateCell } from '../../bench/experiments/simulate-cell.ts';
import { findSplitFailures, simulateSplit, splitCells } from '../../bench/experiments/simulate-split.ts';

/** `make stats-check` simulates all cells with 5,000 runs. */
const runs = 150;

const cells = cellGroups.flatMap(({ cells, coverageMin }) => cells.map((cell) => ({ cell, coverageMin })));

function findCell(name: string) {
  const found = cells.find(({ cell }) => cell.name === name);
  assert.ok(found, name);
  return found;
}

describe('error rates of simulated experiments', () => {
  for (const name of [
    'flat, 50/50, equal',
    'flat, 90/10, +50 % payouts',
    'sigma 0.8, 50/50, +20 % per payout',
    'sigma 1.5, 90/10, equal',
    'sigma 0.8, 5 arms, equal',
    'visitors with 1 to 4 sessions, equal',
    'reversals, equal',
  ]) {
    it(`stay within their bounds: ${name}`, () => {
      const { cell, coverageMin } = findCell(name);
      for (const result of simulateCell(cell, runs, serviceMethods).methods) {
        assert.deepEqual(findViolations(result, coverageMin!), [], result.method);
        assert.ok(result.opened > runs * 0.9);
      }
    });
  }

  it('exceed their bounds with daily looks at a plain interval, so that the simulation would find errors', () => {
    const { cell } = findCell('sigma 0.8, 50/50, equal');
    const [daily, single] = simulateCell(cell, runs, otherMethods).methods;
    assert.equal(findViolations(daily!, 0.95).length, 3);
    assert.deepEqual(findViolations(single!, 0.95), []);
  });

  it('hold for the split check', () => {
    const results = splitCells.map((cell) => ({ cell, result: simulateSplit(cell, 50) }));
    assert.deepEqual(findSplitFailures(results), []);
    const uneven = results.find(({ cell }) => cell.name === '52/48 instead of 50/50')!.result;
    assert.ok(uneven.flagged > 40);
  });

  it('find a gain of 20 % more often with a planned day than without', () => {
    const { cell } = findCell('sigma 0.8, 50/50, +20 % payouts');
    const [planned, open] = simulateCell(cell, runs, serviceMethods).methods;
    assert.ok(planned!.found > 0.5 * runs && open!.found < 0.5 * runs);
  });
});
