import { parseArgs } from 'node:util';

export interface CheckOptions {
  /** Stores the measured ratios as the baseline instead of comparing. */
  readonly store: boolean;
  readonly repeat: number;
  readonly baseline: string;
  /** Result files that are used instead of a measurement. */
  readonly from: readonly string[];
  readonly client: 'wrk' | 'autocannon' | undefined;
  readonly help: boolean;
}

const comparedRuns = 3;
const storedRuns = 5;
const runsMax = 50;

export const usage = `Usage: make bench-check, or bin/with-node node bench/check/main.ts [options]

Measures the routes and the hot functions ${comparedRuns} times, briefly, and compares their ratios (to the bare server, and to a
calibration) with those of bench/baseline.json. What seems lost is measured again before it is called a loss.
Ends with 0 without a loss, with 1 and a line for each loss, and with 2 where it cannot tell.

  --store          put what is measured (${storedRuns} runs) in place of the baseline; on a quiet machine
  --repeat N       so many runs, 1 to ${runsMax}
  --client NAME    wrk or autocannon; wrk when it is on PATH, else autocannon
  --baseline FILE  another baseline
  --from FILE      take the figures of a result file as a run, instead of measuring; may be given again
  --help           this text
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
