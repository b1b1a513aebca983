/** Serves the demo history with both consoles: `make demo-console`. Options: `--help`. */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runWithProgress } from '../../src/cli/progress-bar.ts';
import { InterruptedError } from '../../src/cli/signals.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { writeDemoHistory } from '../demo-history/write-demo-history.ts';
import { assertPortsFree, loadDemoConfig, serveDemo } from './serve-demo.ts';

const usage = `Usage: make demo-console [DIR=folder], or bin/with-node node bench/demo-console/main.ts [options] [folder]

Serves the data folder of make demo-history (default: demo-history) with the partner console and the operator console, and prints their
addresses and logins. Writes the folder first if it does not exist. SVC_PORT and SVC_OPS_PORT choose other ports than 8080 and 9090.

  --vertical NAME  write only this vertical; repeatable
  --help           print this help
`;

try {
  const { values, positionals } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      vertical: { type: 'string', multiple: true },
    },
    allowPositionals: true,
  });
  if (values.help) process.stdout.write(usage);
  else await run(positionals[0] ?? 'demo-history', values.vertical);
} catch (error) {
  process.stderr.write(`demo-console: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof InterruptedError ? error.exitCode : 1;
}

async function run(dataDir: string, segments: readonly string[] | undefined): Promise<void> {
  const config = loadDemoConfig(dataDir);
  // The check comes first, because writing the folder can take a minute.
  await assertPortsFree(config);
  if (!existsSync(dataDir)) {
    const verticals = selectVerticals(segments);
    process.stderr.write(`demo-console: writing 91 days of invented data into ${dataDir}; this can take a minute\n`);
    await runWithProgress({}, { total: 1, unit: null }, (onProgress, signal) =>
      writeDemoHistory({ dataDir, verticals, endMs: Date.now(), onProgress, signal }),
    );
  }
  await serveDemo(dataDir, config);
}

function selectVerticals(segments: readonly string[] | undefined): readonly Vertical[] {
  const { verticals } = builtInVerticals;
  if (segments === undefined) return verticals;
  return segments.map((segment) => {
    const vertical = verticals.find((each) => each.segment === segment);
    if (vertical !== undefined) return vertical;
    throw new Error(`--vertical must be one of: ${verticals.map((each) => each.segment).join(', ')}`);
  });
}
