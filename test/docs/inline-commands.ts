import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { createProgram, flattenCommands } from '../../src/cli/program.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { checkout } from './run-commands.ts';

/** Ways to start the program, and its arguments. */
const marketplacePattern = /^(?:[A-Z_]+=\S+ )*(?:docker exec \S+ |npx |bin\/)?marketplace (.+)$/;

/** Returns the problem of a command in a document, null for a valid command, or undefined for other code. */
export async function problemOf(code: string): Promise<string | null | undefined> {
  const match = marketplacePattern.exec(code);
  if (match !== null) return commandLineProblem(match[1]!.split(' '));
  const [tool, ...words] = code.split(' ');
  if (tool === 'make' && words.length > 0) return targets.has(words[0]!) ? null : `make has no ${words[0]}`;
  if (tool === 'bin/with-node' && words[0] === 'node') {
    const file = words.find((word) => word.endsWith('.ts'));
    return file !== undefined && existsSync(join(checkout, file)) ? null : `there is no ${file}`;
  }
  return undefined;
}

const targets: ReadonlySet<string> = new Set(
  [...readFileSync(join(checkout, 'Makefile'), 'utf8').matchAll(/^([a-z-]+):/gm)].map(([, name = '']) => name),
);

/** Accepts a name alone, such as `keys create`, and parses anything longer like the program. */
async function commandLineProblem(words: readonly string[]): Promise<string | null> {
  const root = await createProgram('0.0.0', async () => builtInVerticals, { quiet: true });
  for (const each of flattenCommands(root)) {
    each.configureOutput({ writeOut: () => {}, writeErr: () => {} });
    if (each.commands.length === 0) each.action(() => {});
  }
  let command = root;
  for (const [index, word] of words.entries()) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) return parseProblem(root, words, index);
    command = next;
  }
  return null;
}

/** Valid values for placeholders in a synopsis. */
const placeholders: Readonly<Record<string, string>> = {
  COMMAND: 'keys',
  FILE: 'payouts.csv',
  URL: 'http://127.0.0.1:9090',
};

/** Parses a command or a synopsis, including optional parts in brackets. Returns the error message or null. */
async function parseProblem(root: Command, words: readonly string[], nameCount: number): Promise<string | null> {
  const rest = words.slice(nameCount).map((word) => word.replaceAll(/[[\]]/g, ''));
  const given = [...words.slice(0, nameCount), ...rest.map((word) => placeholders[word] ?? word)];
  try {
    await root.parseAsync(given, { from: 'user' });
    return null;
  } catch (error) {
    // Help and version throw too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? null : error.message;
    throw error;
  }
}
