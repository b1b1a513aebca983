/** Writes a data folder with 90 days of demo data: `make demo-history`. Options: `--help`. */
import { parseArgs } from 'node:util';
import { formatTable } from '../../src/cli/output.ts';
import { runWithProgress } from '../../src/cli/progress-bar.ts';
import { InterruptedError } from '../../src/cli/signals.ts';
import { daysSinceEpoch, formatIsoDate } from '../../src/domain/calendar.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { demoExperiments, trueEffect } from './demo-experiments.ts';
import { type DemoHistory, writeDemoHistory } from './write-demo-history.ts';

const defaultFolder = 'demo-history';

const usage = `Usage: make demo-history [DIR=folder], or bin/with-node node bench/demo-history/main.ts [folder]

Writes a new data folder (default: demo-history) with 90 days of sessions, clicks, payouts and experiments of the account demo in each
vertical, and the sessions of today. The folder has a test clock, so that no server takes it for a real one.
`;

try {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (values.help) process.stdout.write(usage);
  else await writeAndDescribe(positionals[0] ?? defaultFolder);
} catch (error) {
  process.stderr.write(`demo-history: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof InterruptedError ? error.exitCode : 1;
}

async function writeAndDescribe(dataDir: string): Promise<void> {
  const endMs = Date.now();
  const history = await runWithProgress({}, { total: 1, unit: null }, (onProgress, signal) =>
    writeDemoHistory({ dataDir, verticals: builtInVerticals.verticals, endMs, onProgress, signal }),
  );
  process.stdout.write(describeHistory(dataDir, history, endMs));
}

function describeHistory(dataDir: string, { firstDay, sessions, keys }: DemoHistory, endMs: number): string {
  const dates = `${formatIsoDate(firstDay)} to ${formatIsoDate(daysSinceEpoch(endMs))}`;
  const experiments = demoExperiments.map((experiment) => {
    const { name, decision, arms } = experiment;
    const effect = `${(trueEffect(experiment) * 100).toFixed(0)} %`;
    return [name, ...arms.map(({ tag }) => tag), `${arms[1].drawn * 100} %`, effect, decision];
  });
  const liveKeys = keys.filter(({ mode, scope }) => mode === 'live' && scope === 'full');
  const folder = dataDir === defaultFolder ? '' : ` DIR=${dataDir}`;
  return `Wrote ${sessions.toLocaleString('en-US')} sessions from ${dates} (UTC) into ${dataDir}. All data is invented.

${formatTable(['EXPERIMENT', 'CONTROL', 'OTHER ARM', 'SESSIONS IN OTHER ARM', 'TRUE EFFECT', 'DECISION'], experiments)}

${formatTable(
  ['VERTICAL', 'LIVE KEY'],
  liveKeys.map(({ vertical, key }) => [vertical, key]),
)}

Start a server with the partner console and the operator console:
  make demo-console${folder}

Compare the results of an experiment with its true effect:
  curl -sS http://127.0.0.1:8080/v1/${keys[0]!.vertical}/experiments/${demoExperiments[0]!.name}/results -H 'Authorization: Bearer ${keys[0]!.key}'
`;
}
