/** Writes a data folder with 90 days of demo data: `make demo-history`. Options: `--help`. */
import { parseArgs } from 'node:util';
import { formatTable } from '../../src/cli/output.ts';
import { runWithProgress } from '../../src/cli/progress-bar.ts';
import { InterruptedError } from '../../src/cli/signals.ts';
import { daysSinceEpoch, formatIsoDate } from '../../src/domain/calendar.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { demoExperiments, trueEffect } from './demo-experiments.ts';
import { type DemoHistory, writeDemoHistory } from './write-demo-history.ts';

const usage = `Usage: make demo-history [DIR=folder], or bin/with-node node bench/demo-history/main.ts [folder]

Writes a new data folder (default: demo-history) with 90 days of sessions, clicks, payouts and experiments of the account demo in each
vertical. The history ends yesterday. The folder has a test clock, so that no server takes it for a real one.
`;

try {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (values.help) process.stdout.write(usage);
  else await writeAndDescribe(positionals[0] ?? 'demo-history');
} catch (error) {
  process.stderr.write(`demo-history: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof InterruptedError ? error.exitCode : 1;
}

async function writeAndDescribe(dataDir: string): Promise<void> {
  const lastDay = daysSinceEpoch(Date.now()) - 1;
  const history = await runWithProgress({}, { total: 1, unit: null }, (onProgress, signal) =>
    writeDemoHistory({ dataDir, verticals: builtInVerticals.verticals, lastDay, onProgress, signal }),
  );
  process.stdout.write(describeHistory(dataDir, history, lastDay));
}

function describeHistory(dataDir: string, { firstDay, sessions, keys }: DemoHistory, lastDay: number): string {
  const dates = `${formatIsoDate(firstDay)} to ${formatIsoDate(lastDay)}`;
  const experiments = demoExperiments.map((experiment) => {
    const { name, decision, arms } = experiment;
    const effect = `${(trueEffect(experiment) * 100).toFixed(0)} %`;
    return [name, ...arms.map(({ tag }) => tag), `${arms[1].drawn * 100} %`, effect, decision];
  });
  const keyRows = keys.map(({ vertical, key }) => [vertical.segment, key]);
  return `Wrote ${sessions.toLocaleString('en-US')} sessions from ${dates} (UTC) into ${dataDir}. All data is invented.

${formatTable(['EXPERIMENT', 'CONTROL', 'OTHER ARM', 'SESSIONS IN OTHER ARM', 'TRUE EFFECT', 'DECISION'], experiments)}

${formatTable(['VERTICAL', 'LIVE KEY'], keyRows)}

Start a server:
  SVC_TEST_CLOCK=on SVC_DATA_DIR=${dataDir} make run

Compare the results of an experiment with its true effect:
  curl -sS http://127.0.0.1:8080/v1/${keys[0]!.vertical.segment}/experiments/${demoExperiments[0]!.name}/results -H 'Authorization: Bearer ${keys[0]!.key}'
`;
}
