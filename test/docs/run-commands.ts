import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { sampleResult } from '../capacity/sample-result.ts';
import { plainEnvironment } from '../support/plain-environment.ts';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** Makes a folder look like a checkout in which something was measured, with `marketplace` in a folder for the search path. */
export function lookLikeCheckout(folder: string): void {
  for (const name of ['Makefile', 'bench', 'bin', 'src', 'test', 'node_modules', 'package.json'])
    symlinkSync(join(checkout, name), join(folder, name));
  mkdirSync(join(folder, 'path'));
  symlinkSync(join(checkout, 'bin/marketplace'), join(folder, 'path/marketplace'));
  writeFileSync(join(folder, 'result.json'), JSON.stringify(sampleResult()));
}

export type Substitution = readonly [text: string | RegExp, instead: string];

/** What stands for a place of the reader's machine, or for something found there. */
const everywhere: readonly Substitution[] = [
  [/(?<![\w.])\/(backup|var\/lib\/marketplace|var\/log\/marketplace|etc\/marketplace)\b/g, '$PWD/$1'],
  ['0000000000000001.log:4096', '$DAMAGE'],
  ['marketplace capacity ', 'marketplace capacity --result result.json '],
];

export function substituted(script: string, substitutions: readonly Substitution[]): string {
  return [...substitutions, ...everywhere].reduce((text, [from, to]) => text.replaceAll(from, to), script);
}

/** Changes a byte in the first record of the ledger of $SVC_DATA_DIR, and tells in $DAMAGE where `log verify` finds that. */
export const damageLedger = `
  printf x | dd of="$SVC_DATA_DIR/ledger/0000000000000001.log" bs=1 seek=100 conv=notrunc status=none
  DAMAGE=$({ marketplace log verify 2>&1 || [ $? = 3 ]; } | grep -oE '[0-9]{16}\\.log:[0-9]+' | head -n 1)`;

const longestMs = 180_000;

export interface Ran {
  readonly code: number;
  readonly printed: string;
}

/** Runs commands, one after the other, in one shell of a folder that looks like a checkout. The first that fails ends it. */
export function runCommands(folder: string, script: string, settings: Readonly<Record<string, string>>): Promise<Ran> {
  const PATH = `${join(folder, 'path')}:${process.env.PATH}`;
  const env = { ...plainEnvironment(), PATH, CHECKOUT: checkout, ...settings };
  // Into a file: what Node.js gives a child for its output cannot be opened by name, as `tee /dev/stderr` does.
  const output = join(folder, 'printed');
  const shell = ['-e', '-u', '-o', 'pipefail', '-c', `exec >"${output}" 2>&1\n${script}`];
  return new Promise((resolve) => {
    // With a group of its own, so that a server it has started ends with it.
    const child = spawn('bash', shell, { cwd: folder, env, stdio: 'ignore', detached: true });
    const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), longestMs);
    child.once('close', (code) => {
      clearTimeout(late);
      resolve({ code: code ?? -1, printed: readFileSync(output, 'utf8') });
    });
  });
}
