import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { createProgram, withSubcommands } from '../../src/cli/program.ts';
import { proseOf } from '../support/markdown-links.ts';
import { checkout } from './run-commands.ts';

/** What stands between single backticks in the prose of a document, on one line or broken over two. */
export function inlineCodeOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));
}

/** The ways to start the program that documents use; what follows belongs to it. */
const ourProgram = /^(?:[A-Z_]+=\S+ )*(?:docker exec \S+ |npx |bin\/)?marketplace (.+)$/;

/** What is wrong with a command of a document; null where it could be entered, undefined where there is nothing to hold it against. */
export async function problemOf(code: string): Promise<string | null | undefined> {
  const own = ourProgram.exec(code);
  if (own !== null) return commandLineProblem(own[1]!.split(' '));
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

/** A name alone, such as `keys` or `keys create`, need not be complete; whatever has more is parsed as the program would. */
async function commandLineProblem(words: readonly string[]): Promise<string | null> {
  const root = createProgram('0.0.0', { quiet: true });
  for (const each of withSubcommands(root)) {
    each.configureOutput({ writeOut: () => {}, writeErr: () => {} });
    if (each.commands.length === 0) each.action(() => {});
  }
  let command = root;
  for (const [at, word] of words.entries()) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) return parsed(root, words, at);
    command = next;
  }
  return null;
}

/** What a synopsis names and the program wants in a certain shape. */
const placeholders: Readonly<Record<string, string>> = {
  COMMAND: 'keys',
  FILE: 'payouts.csv',
  URL: 'http://127.0.0.1:9090',
};

/** `[--option VALUE]` is how a synopsis writes what may be left out: here it is given. */
async function parsed(
  root: ReturnType<typeof createProgram>,
  words: readonly string[],
  named: number,
): Promise<string | null> {
  const rest = words.slice(named).map((word) => word.replaceAll(/[[\]]/g, ''));
  const given = [...words.slice(0, named), ...rest.map((word) => placeholders[word] ?? word)];
  try {
    await root.parseAsync(given, { from: 'user' });
    return null;
  } catch (error) {
    // Help and the version end by throwing too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? null : error.message;
    throw error;
  }
}
