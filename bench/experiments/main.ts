/** Simulates experiments and checks the error rates of their results; see `usage`. */

import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ProgressPrinter } from '../bench-part.ts';
import { parseIntegerOption, runBenchMain } from '../run-main.ts';
import { cellGroups } from './cells.ts';
import { findViolations } from './check-bounds.ts';
import { otherMethods } from './other-methods.ts';
import { type ControlResult, formatProof, type GroupResult } from './report.ts';
import { serviceMethods, simulateCell } from './simulate-cell.ts';
import { findSplitFailures, simulateSplit, splitCells } from './simulate-split.ts';

const usage = `Usage: bin/with-node node bench/experiments/main.ts [options]

Simulates experiments with the code that computes their results, and prints how often the intervals and the decisions are wrong. Exits
with 1 if a rate exceeds its bound. Takes about 10 minutes.

  --runs N           simulated experiments for each setting; default 5000
  --publish          writes the tables to docs/experiments-proof.md
  --help             prints this text
`;

const document = new URL('../../docs/experiments-proof.md', import.meta.url);
const progress = new ProgressPrinter();

await runBenchMain('experiments', async () => {
  const { values } = parseArgs({
    options: { runs: { type: 'string', default: '5000' }, publish: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const runs = parseIntegerOption('--runs', values.runs, 10, 1_000_000);
  const groups = simulateGroups(runs);
  const controls = simulateControls(runs);
  progress.printProgress('split check');
  const splits = splitCells.map((cell) => ({ cell, result: simulateSplit(cell, runs) }));
  const proof = formatProof(runs, groups, controls, splits);
  process.stdout.write(proof);
  if (values.publish) await writeFile(document, proof);
  const failures = [...findFailures(groups), ...findControlFailures(controls), ...findSplitFailures(splits)];
  if (failures.length > 0) throw new Error(`bounds violated\n${failures.join('\n')}`);
});

function simulateGroups(runs: number): GroupResult[] {
  const total = cellGroups.reduce((sum, { cells }) => sum + cells.length, 0);
  let done = 0;
  return cellGroups.map((group) => ({
    group,
    results: group.cells.map((cell) => {
      done++;
      progress.printProgress(`${done} of ${total}: ${cell.name}`);
      return simulateCell(cell, runs, serviceMethods);
    }),
  }));
}

function simulateControls(runs: number): ControlResult[] {
  return cellGroups[0]!.cells
    .filter(({ name }) => /^sigma 0.8, 50\/50, (equal|\+20 % payouts)$/.test(name))
    .map((cell) => {
      progress.printProgress(`other methods: ${cell.name}`);
      return { name: cell.name, result: simulateCell(cell, runs, otherMethods) };
    });
}

function findFailures(groups: readonly GroupResult[]): string[] {
  return groups.flatMap(({ group: { cells, coverageMin }, results }) =>
    coverageMin === null
      ? []
      : results.flatMap(({ methods }, index) =>
          methods.flatMap((method) =>
            findViolations(method, coverageMin).map((text) => `${cells[index]!.name}, ${method.method}: ${text}`),
          ),
        ),
  );
}

/** Daily looks at a plain interval must violate the bounds. */
function findControlFailures(controls: readonly ControlResult[]): string[] {
  const equalArms = controls[0]!.result.methods[0]!;
  return findViolations(equalArms, 0.95).length === 3 ? [] : [`${equalArms.method}: no violation found`];
}
