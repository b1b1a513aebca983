import { parseArgs } from 'node:util';
import type { BenchPart } from './bench-part.ts';
import { type LoadClient, parseClientName } from './load/load-clients.ts';
import { benchParts } from './parts.ts';

export interface BenchOptions {
  readonly quick: boolean;
  /** Names of the parts and groups to run; if empty, all parts run. */
  readonly only: readonly string[];
  /** Name of the load client to use; see `chooseLoadClients` for the default. */
  readonly client: LoadClient['name'] | undefined;
  /** Whether to write the results to bench/README.md and, after a full run, the result to bench/capacity/reference-result.json. */
  readonly publish: boolean;
  readonly help: boolean;
}

export function formatUsage(): string {
  const width = Math.max(...benchParts.map(({ name }) => name.length));
  const lines = benchParts.map(
    ({ name, group, description }) =>
      `  ${name.padEnd(width)}  ${description}${group === undefined ? '' : ` (${group})`}`,
  );
  return `Usage: make bench, or bin/with-node node bench/main.ts [options]

  --quick            fewer and shorter rounds: less than two minutes, figures are only indicative
  --only NAME        run only this part or group (listed below); repeatable
  --client NAME      wrk or autocannon; default: autocannon, and wrk if it is on PATH
  --publish          write the results to bench/README.md, bench/tables.md and docs/images, and the data of
                     \`marketplace capacity\` to bench/capacity/reference-result.json (not with --quick or --only);
                     refuses to publish from a busy machine
  --help             print this help

Parts, in order:

${lines.join('\n')}
`;
}

/** Throws a one-line error that names the invalid option. */
export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      client: { type: 'string' },
      publish: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const names = new Set(benchParts.flatMap(({ name, group }) => (group === undefined ? [name] : [group, name])));
  for (const name of values.only) {
    if (!names.has(name)) throw new Error(`--only must be one of: ${[...names].join(', ')}`);
  }
  return { ...values, client: parseClientName(values.client) };
}

/** Returns the benchmark parts with the given part or group names, in a fixed order, or all benchmark parts if `only` is empty. */
export function selectBenchParts(only: readonly string[]): readonly BenchPart[] {
  if (only.length === 0) return benchParts;
  return benchParts.filter(({ name, group }) => only.includes(name) || (group !== undefined && only.includes(group)));
}
