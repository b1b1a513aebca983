import { parseArgs } from 'node:util';
import type { BenchPart } from './bench-part.ts';

export interface BenchOptions {
  readonly quick: boolean;
  /** Names of the parts to run; empty for all parts. */
  readonly only: readonly string[];
  /** Name of the only load client; see `chooseLoadClients` for the default. */
  readonly client: 'wrk' | 'autocannon' | undefined;
  /** Writes the tables to bench/README.md and, after a full run, the result to src/capacity/reference-result.json. */
  readonly publish: boolean;
  readonly help: boolean;
}

export function usage(parts: readonly BenchPart[]): string {
  const width = Math.max(...parts.map(({ name }) => name.length));
  const lines = parts.map(({ name, group, description }) => {
    const kind = group === undefined ? '' : ` (${group})`;
    return `  ${name.padEnd(width)}  ${description}${kind}`;
  });
  return `Usage: make bench, or bin/with-node node bench/main.ts [options]

  --quick            fewer and shorter rounds: less than two minutes, figures are only indicative
  --only NAME        run only this part or group (listed below); repeatable
  --client NAME      wrk or autocannon; default: autocannon, and wrk if it is on PATH
  --publish          write the tables to bench/README.md, and the data of \`marketplace capacity\` to
                     src/capacity/reference-result.json (not with --quick or --only)
  --help             print this help

Parts, in order:

${lines.join('\n')}
`;
}

/** Throws a one-line error that names the invalid option. */
export function parseBenchOptions(args: readonly string[], names: readonly string[]): BenchOptions {
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
  for (const name of values.only) {
    if (!names.includes(name)) throw new Error(`--only must be one of: ${names.join(', ')}`);
  }
  const { client } = values;
  if (client !== undefined && client !== 'wrk' && client !== 'autocannon') {
    throw new Error('--client must be wrk or autocannon');
  }
  return { quick: values.quick, only: values.only, client, publish: values.publish, help: values.help };
}
