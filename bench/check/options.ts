import { parseArgs } from 'node:util';

export interface CheckOptions {
  /** Whether to store the measured ratios as the baseline instead of comparing them. */
  readonly store: boolean;
  readonly repeat: number;
  readonly baseline: string;
  /** Paths of result files that are compared instead of a new measurement. */
  readonly from: readonly string[];
  readonly client: 'wrk' | 'autocannon' | undefined;
  readonly help: boolean;
}

const comparedRuns = 3;
const storedRuns = 5;
const runsMax = 50;

export const usage = `Usage: make bench-check, or bin/with-node node bench/check/main.ts [options]

Measures routes and single functions ${comparedRuns} times and compares their ratios (to the bare server and to a calibration) with
bench/baseline.json. Possible losses are measured again before they are reported.
Exit status: 0 without a loss, 1 with a loss, 2 if no comparison is possible.

  --store          store ${storedRuns} runs as the new baseline; use an idle machine
  --repeat N       number of runs, 1 to ${runsMax}
  --client NAME    wrk or autocannon; default: wrk if it is on PATH
  --baseline FILE  baseline file
  --from FILE      use a result file as a run instead of measuring; repeatable
  --help           print this help
`;

/** Throws a one-line error that names the invalid option. */
export function parseCheckOptions(args: readonly string[], defaultBaseline: string): CheckOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'boolean', default: false },
      repeat: { type: 'string' },
      baseline: { type: 'string', default: defaultBaseline },
      from: { type: 'string', multiple: true, default: [] },
      client: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { store, baseline, from, client, help } = values;
  const repeat = values.repeat === undefined ? (store ? storedRuns : comparedRuns) : Number(values.repeat);
  if (!Number.isInteger(repeat) || repeat < 1 || repeat > runsMax) {
    throw new Error(`--repeat must be an integer from 1 to ${runsMax}`);
  }
  if (client !== undefined && client !== 'wrk' && client !== 'autocannon') {
    throw new Error('--client must be wrk or autocannon');
  }
  return { store, repeat, baseline, from, client, help };
}
