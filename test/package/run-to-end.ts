import { execFile } from 'node:child_process';
import { plainEnvironment } from '../support/plain-environment.ts';

export interface Run {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command with only the given settings, and returns its standard output. Rejects with all output if the command fails. */
export function runToEnd(command: string, args: readonly string[], { folder, env = {} }: Run): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: { ...plainEnvironment(), ...env }, timeout: 120_000 };
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${[command, ...args].join(' ')} failed in ${folder}:\n${stdout}${stderr}`));
    });
  });
}

/** Runs npm with its cache, and again with the registry if that fails. */
export async function runNpm(args: readonly string[], folder: string): Promise<string> {
  const npm = (preferred: string) =>
    runToEnd('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error', preferred], { folder });
  try {
    return await npm('--prefer-offline');
  } catch {
    return npm('--prefer-online');
  }
}
