import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '../support/plain-environment.ts';

const checkout = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `bin/marketplace`, or a command of a folder, to its end as a real process, with no settings but the ones given. */
export function runMarketplace(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
  { command = checkout, folder = process.cwd() } = {},
): Promise<Ran> {
  const env = { ...plainEnvironment(), ...settings };
  return new Promise((resolve, reject) => {
    execFile(command, args, { env, cwd: folder, timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
      else reject(error);
    });
  });
}
