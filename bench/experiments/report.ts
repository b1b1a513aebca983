import { formatNumber, formatTable } from '../report/markdown.ts';
import type { CellGroup } from './cells.ts';
import { wrongMax } from './check-bounds.ts';
import { type CellResult, looksPerRun, type MethodResult } from './simulate-cell.ts';
import type { SplitCell, SplitResult } from './simulate-split.ts';

export interface GroupResult {
  readonly group: CellGroup;
  /** Results of the methods of the service, in the order of the cells. */
  readonly results: readonly CellResult[];
}

export interface ControlResult {
  readonly name: string;
  readonly result: CellResult;
}

export interface SplitCellResult {
  readonly cell: SplitCell;
  readonly result: SplitResult;
}

/** Formats the document with all results. */
export function formatProof(
  runs: number,
  groups: readonly GroupResult[],
  controls: readonly ControlResult[],
  splits: readonly SplitCellResult[],
): string {
  const blocks = [
    introduction(runs),
    formatRelative(groups),
    ...groups.map(formatGroup),
    formatSplits(splits),
    formatControls(controls),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function introduction(runs: number): string {
  return `# Error rates of experiments

\`make stats-check\` writes this page. It simulates ${formatNumber(runs)} experiments for each row, with the code that computes the results of experiments. The
seeds are fixed, so each run gives the same tables.

Each experiment has ${looksPerRun} daily looks at mature sessions. Unless a table says otherwise, 600 sessions a day are divided among the arms, 1.5 % of
them have revenue, and a payout has a mean of 100 USD. Every experiment is looked at in two ways: with a planned day, which is the last look, and
without one. [Decisions](contributing/decisions/experiments.md) explains the methods.

- **Joint coverage**: part of the experiments in which the intervals of all arms contained the true difference at *every* look. A row fails
  below the bound of its table, less three standard errors of the simulation.
- **Wrong**: part of the experiments with a decision for an arm that is equal to the control, or with the wrong sign. For equal arms, this is
  the rate of false winners and losers. A row fails above ${wrongMax}, plus three standard errors.
- **Found**: part of the experiments in which the better arm was found to be better.
- **Days**: median number of days until it was found.`;
}

function formatRelative(groups: readonly GroupResult[]): string {
  const coverages = groups
    .filter(({ group }) => group.coverageMin !== null)
    .flatMap(({ results }) =>
      results.flatMap(({ methods }) => methods.map(({ relativeCovered, opened }) => relativeCovered / opened)),
    );
  return (
    'The bounds of the joint coverage also apply to the intervals of the relative difference, which the tables do not show. Their lowest joint ' +
    `coverage is ${formatNumber(Math.min(...coverages), 3)}.`
  );
}

const methodHead = ['Coverage', 'Wrong', 'Found', 'Days'];
const share = (count: number, of: number): string => (of === 0 ? '-' : formatNumber(count / of, 3));

function methodCells({ runs, opened, covered, wrong, found, daysToFound }: MethodResult): string[] {
  return [
    share(covered, opened),
    share(wrong, opened),
    found === 0 ? '-' : share(found, runs),
    formatNumber(daysToFound),
  ];
}

function formatGroup({ group, results }: GroupResult): string {
  const bound = group.coverageMin === null ? '' : ` Bound of the joint coverage: ${group.coverageMin}.`;
  const table = formatTable({
    head: [
      'Arms',
      ...methodHead.map((head) => `${head}, planned day`),
      ...methodHead.map((head) => `${head}, none`),
      'Revenue counted',
    ],
    rows: group.cells.map(({ name, world }, index) => {
      const { methods, countedShare } = results[index]!;
      return [
        name,
        ...methods.flatMap(methodCells),
        world?.isCounted === undefined ? '-' : formatNumber(countedShare, 3),
      ];
    }),
  });
  return `## ${group.title}\n\n${group.text}${bound}\n\n${table}`;
}

function formatSplits(splits: readonly SplitCellResult[]): string {
  const table = formatTable({
    head: ['Split', 'Called invalid', 'Days'],
    rows: splits.map(({ cell, result: { runs, flagged, daysToFlag } }) => [
      cell.name,
      formatNumber(flagged / runs, 4),
      formatNumber(daysToFlag),
    ]),
  });
  return `## Split check

600 units a day are divided among the arms. The split check runs every day. An intended split may be called invalid in at most 0.001, plus three
standard errors.

${table}`;
}

function formatControls(controls: readonly ControlResult[]): string {
  const table = formatTable({
    head: ['Arms', 'Method', ...methodHead],
    rows: controls.flatMap(({ name, result }) =>
      result.methods.map((method) => [name, method.method, ...methodCells(method)]),
    ),
  });
  return `## Other methods

The same simulation with plain 95 % intervals. If daily looks at a plain interval did not fail here, the simulation could not find errors.

${table}`;
}
