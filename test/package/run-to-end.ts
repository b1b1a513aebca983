import { execFile } from 'node:child_process';
import { plainEnvironment } from '../support/plain-environment.ts';

export interface Run {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command with no settings of ours but the ones given, and gives its standard output. Rejects with all it said when it fails. */
export function runToEnd(command: string, args: readonly string[], { folder, env = {} }: Run): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: { ...plainEnvironment(), ...env }, timeout: 120_000 };
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${[command, ...args].join(' ')} failed in ${folder}:\n${stdout}${stderr}`));
    });
  });
}

/** npm takes from its cache what it can, and looks at the registry again when that failed. */
export async function runNpm(args: readonly string[], folder: string): Promise<string> {
  const npm = (preferred: string) =>
    runToEnd('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error', preferred], { folder });
  try {
    return await npm('--prefer-offline');
  } catch {
    return npm('--prefer-online');
  }
}
