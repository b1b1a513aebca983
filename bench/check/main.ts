/** Compares the speed of the current checkout with another version of the code: `make bench-check`. Options: `--help`. */
import { mkdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { chooseLoadClients, parseClientName } from '../load/load-clients.ts';
import { busyMachineWarning, describeMachine } from '../machine.ts';
import { createBenchContext, parseIntegerOption, resultsFolder, runBenchMain } from '../run-main.ts';
import { currentCheckout } from '../target/service-target.ts';
import { prepareBaseCheckout } from './base-checkout.ts';
import { checkedParts, checkScale, comparePart, defaultParts, measurePair } from './compare-part.ts';
import { formatComparison, isLoss, runsMin } from './comparison.ts';

const exitCodeLoss = 1;
const exitCodeNoComparison = 2;
const runsMax = 100;

const usage = `Usage: make bench-check [BASE=REVISION], or bin/with-node node bench/check/main.ts [options]

Measures the routes and single functions of this checkout and of another version in turn, in the same run. Possible losses are measured
again before they are reported.
Exit status: 0 without a loss, 1 with a loss, 2 if no comparison is possible.

  --base REVISION    version to compare with, or the folder of a checkout with installed packages; default: the last Git tag,
                     or before the first release the commit of the results in bench/README.md
  --only NAME        compare only this part; repeatable; default: ${defaultParts.join(', ')};
                     also: ${checkedParts.slice(defaultParts.length).join(', ')}
  --repeat N         number of runs, each with new processes, ${runsMin} to ${runsMax}; default: ${runsMin}
  --client NAME      wrk or autocannon; default: wrk if it is on PATH
  --help             print this help
`;

await runBenchMain('bench-check', check, exitCodeNoComparison);

async function check(): Promise<void> {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      only: { type: 'string', multiple: true, default: [...defaultParts] },
      repeat: { type: 'string', default: String(runsMin) },
      client: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  if (values.only.some((name) => !checkedParts.includes(name))) {
    throw new Error(`--only must be one of: ${checkedParts.join(', ')}`);
  }
  const repeat = parseIntegerOption('--repeat', values.repeat, runsMin, runsMax);
  const { client, crossCheck } = await chooseLoadClients(parseClientName(values.client));
  await mkdir(resultsFolder, { recursive: true });
  const warning = busyMachineWarning(describeMachine(resultsFolder));
  if (warning !== null) process.stderr.write(`${warning}\n`);
  const base = await prepareBaseCheckout(values.base, resultsFolder);
  // If wrk is installed, wrk sends the load, because it uses less CPU time than autocannon.
  const context = createBenchContext(checkScale, true, crossCheck ?? client);
  const checkouts = { base: base.folder, current: currentCheckout };
  let compared = 0;
  let losses = 0;
  for (const part of values.only) {
    const comparisons = await comparePart(repeat, (run) => {
      context.progress.printProgress(`${part}: run ${run + 1} of ${repeat}`);
      return measurePair(part, run, checkouts, context);
    });
    compared += comparisons.length;
    losses += comparisons.filter(isLoss).length;
    for (const comparison of comparisons) process.stdout.write(`${formatComparison(comparison)}\n`);
  }
  if (compared === 0) throw new Error(`nothing that was measured can be compared with ${base.description}`);
  process.stdout.write(
    `${losses} of ${compared} costs are higher than in ${base.description}, beyond the noise of the runs.\n`,
  );
  if (losses > 0) process.exitCode = exitCodeLoss;
}
