import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { sampleResult } from '../capacity/sample-result.ts';
import { plainEnvironment } from '../support/plain-environment.ts';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** Prepares a folder like a checkout with a benchmark result, and with `marketplace` in a folder for PATH. */
export function lookLikeCheckout(folder: string): void {
  for (const name of ['Makefile', 'bench', 'bin', 'src', 'test', 'node_modules', 'package.json'])
    symlinkSync(join(checkout, name), join(folder, name));
  mkdirSync(join(folder, 'path'));
  symlinkSync(join(checkout, 'bin/marketplace'), join(folder, 'path/marketplace'));
  writeFileSync(join(folder, 'result.json'), JSON.stringify(sampleResult()));
}

export type Substitution = readonly [text: string | RegExp, instead: string];

/** Replacements for paths and values of the reader's machine. */
const commonSubstitutions: readonly Substitution[] = [
  [/(?<![\w.])\/(backup|var\/lib\/marketplace|var\/log\/marketplace|etc\/marketplace)\b/g, '$PWD/$1'],
  ['0000000000000001.log:4096', '$DAMAGE'],
  ['marketplace capacity ', 'marketplace capacity --result result.json '],
];

export function substituted(script: string, substitutions: readonly Substitution[]): string {
  return [...substitutions, ...commonSubstitutions].reduce((text, [from, to]) => text.replaceAll(from, to), script);
}

/** Damages the first record of the ledger in $SVC_DATA_DIR, and sets $DAMAGE to the position that `log verify` prints. */
export const damageLedger = `
  printf x | dd of="$SVC_DATA_DIR/ledger/0000000000000001.log" bs=1 seek=100 conv=notrunc status=none
  DAMAGE=$({ marketplace log verify 2>&1 || [ $? = 3 ]; } | grep -oE '[0-9]{16}\\.log:[0-9]+' | head -n 1)`;

const timeoutMs = 180_000;

export interface Ran {
  readonly code: number;
  readonly printed: string;
}

/** Runs commands in one shell in a prepared folder. The first failure ends it. */
export function runCommands(folder: string, script: string, settings: Readonly<Record<string, string>>): Promise<Ran> {
  const PATH = `${join(folder, 'path')}:${process.env.PATH}`;
  const env = { ...plainEnvironment(), PATH, CHECKOUT: checkout, ...settings };
  // Output goes to a file, because commands such as `tee /dev/stderr` cannot open the pipes of Node.js by name.
  const output = join(folder, 'printed');
  const shell = ['-e', '-u', '-o', 'pipefail', '-c', `exec >"${output}" 2>&1\n${script}`];
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
