import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { sampleResult } from '../capacity/sample-result.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { plainEnvironment } from '../support/plain-environment.ts';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the commands of a document: the text of its fenced `sh` blocks, without the indentation of a list. */
export function commandsOf(markdown: string): string {
  const blocks = [...markdown.matchAll(/^([ \t]*)```sh\n((?:.*\n)*?)\1```$/gm)];
  return blocks
    .map(([, indent = '', text = '']) =>
      text
        .split('\n')
        .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
        .join('\n'),
    )
    .join('\n');
}

/** Returns the languages of the fenced blocks of a document; an empty string for a block without a language. */
export function languagesOf(markdown: string): string[] {
  return [...markdown.matchAll(/^[ \t]*(```+)(.*)\n(?:.*\n)*?[ \t]*\1[ \t]*$/gm)].map(([, , language = '']) =>
    language.trim(),
  );
}

/** Lines of documents that the tests do not run, with the reason. */
export interface SkippedLine {
  /** Pattern of the beginning of the line. */
  readonly line: RegExp;
  readonly why: string;
}

/** Removes the skipped lines from a script, each with its continuation lines. */
export function withoutSkipped(
  commands: string,
  skippedLines: readonly SkippedLine[],
): { readonly rest: string; readonly skipped: readonly string[]; readonly used: readonly SkippedLine[] } {
  const skipped: string[] = [];
  const used: SkippedLine[] = [];
  const rest: string[] = [];
  for (const command of commands.split(/(?<!\\)\n/)) {
    const match = skippedLines.find(({ line }) => line.test(command));
    if (match === undefined) rest.push(command);
    else {
      used.push(match);
      skipped.push(command.replace(/ +#.*|\\\n.*/s, ''));
    }
  }
  return { rest: rest.join('\n'), skipped, used };
}

/** Runs `marketplace` through the socket of `hostCommands`, or in its own process without the socket or for `serve`. */
const commandScript = `#!/bin/bash
if [ -z "$COMMANDS" ] || [ "$1" = serve ]; then exec "$CHECKOUT/bin/marketplace" "$@"; fi
output=$(mktemp)
code=$({ printf '%s\\0' "$PWD" "$output"; env -0 | grep -z '^SVC_'; printf '\\0'; printf '%s\\0' "$@"; } |
  curl -sS --unix-socket "$COMMANDS" --data-binary @- http://host/)
cat "$output"
cat "$output.err" >&2
rm "$output" "$output.err"
exit "$code"
`;

/** Prepares a folder that looks like a checkout with a benchmark result. Adds a folder for PATH that contains `marketplace`. */
export function prepareCheckout(folder: string): void {
  for (const name of ['Makefile', 'bench', 'bin', 'src', 'test', 'node_modules', 'package.json'])
    symlinkSync(join(checkout, name), join(folder, name));
  mkdirSync(join(folder, 'path'));
  writeFileSync(join(folder, 'path/marketplace'), commandScript, { mode: 0o755 });
  writeFileSync(join(folder, 'result.json'), JSON.stringify(sampleResult()));
}

/** Listens on a Unix socket, and runs the commands that it receives in the shared process of `runMarketplace`. */
export async function hostCommands(socket: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const [folder = '', output = '', ...words] = (await text(request)).split('\0');
    const settingsEnd = words.indexOf('');
    const settings = words.slice(0, settingsEnd).map((each) => /^(\w+)=(.*)$/s.exec(each)!.slice(1));
    const ran = await runMarketplace(words.slice(settingsEnd + 1, -1), Object.fromEntries(settings), { folder });
    writeFileSync(output, ran.stdout);
    writeFileSync(`${output}.err`, ran.stderr);
    response.end(String(ran.code));
  });
  await once(server.listen(socket), 'listening');
  return server;
}

export type Substitution = readonly [text: string | RegExp, instead: string];

/** Replacements for paths and values of the reader's machine. */
const commonSubstitutions: readonly Substitution[] = [
  [/(?<![\w.])\/(backup|var\/lib\/marketplace|var\/log\/marketplace|etc\/marketplace)\b/g, '$PWD/$1'],
  ['0000000000000001.log:4096', '$DAMAGE'],
  ['marketplace capacity ', 'marketplace capacity --result result.json '],
];

export function substituted(script: string, substitutions: readonly Substitution[]): string {
  return [...substitutions, ...commonSubstitutions].reduce((line, [from, to]) => line.replaceAll(from, to), script);
}

/** Damages the first record of the ledger in $SVC_DATA_DIR, and sets $DAMAGE to the position that `log verify` prints. */
export const damageLedger = `
  printf xxxxxxxx | dd of="$SVC_DATA_DIR/ledger/0000000000000001.log" bs=1 seek=100 conv=notrunc status=none
  DAMAGE=$({ marketplace log verify 2>&1 || [ $? = 3 ]; } | grep -oE '[0-9]{16}\\.log:[0-9]+' | head -n 1)`;

const timeoutMs = 600_000;

/** Runs commands in one shell in a prepared folder. The first failure ends it. */
export function runCommands(
  folder: string,
  script: string,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly printed: string }> {
  const PATH = `${join(folder, 'path')}:${process.env.PATH}`;
  const env = { ...plainEnvironment(), PATH, CHECKOUT: checkout, ...settings };
  // Output goes to a file, because commands such as `tee /dev/stderr` cannot open the pipes of Node.js by name. `tee` empties the file, so the
  // shell appends to it.
  const output = join(folder, 'printed');
  const shell = ['-e', '-u', '-o', 'pipefail', '-c', `: >"${output}"\nexec >>"${output}" 2>&1\n${script}`];
  return new Promise((resolve) => {
    // In its own process group, so that a server it starts is killed with it.
    const child = spawn('bash', shell, { cwd: folder, env, stdio: 'ignore', detached: true });
    const timeout = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), timeoutMs);
    child.once('close', (code) => {
      clearTimeout(timeout);
      resolve({ code: code ?? -1, printed: readFileSync(output, 'utf8') });
    });
  });
}
