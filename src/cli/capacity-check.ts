import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { CheckFindings, CheckOrder } from '../capacity/check.ts';
import { CommandLineError } from './command-line-error.ts';
import { Interrupted } from './interruptible.ts';

/** Part of a checkout, not of the package: found by its path, never imported (docs/contributing/decisions/packaging.md). */
const script = join(fileURLToPath(new URL('../..', import.meta.url)), 'bench', 'capacity-check', 'main.ts');

/** Has the benchmarks put a load on a server started for it, and gives what they found. */
export async function runCapacityCheck(order: CheckOrder): Promise<CheckFindings> {
  if (!existsSync(script)) {
    throw new CommandLineError(
      'the check needs the benchmarks, which only a checkout has: run make capacity-check KEYS=n SLO=ms in one',
    );
  }
  // It ends by itself when the channel breaks, however this command comes to its end.
  const child = spawn(process.execPath, [script, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  // Whoever ends this command ends the check, which takes its server and its client along.
  let interrupted: Interrupted | null = null;
  const end = (signal: NodeJS.Signals): void => {
    interrupted = new Interrupted(signal, 'the check was interrupted');
    child.kill('SIGTERM');
  };
  process.once('SIGINT', end).once('SIGTERM', end);
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  process.off('SIGINT', end).off('SIGTERM', end);
  if (interrupted !== null) throw interrupted;
  if (code !== 0) throw new CommandLineError('the check could not be carried out; the reason is above');
  return JSON.parse(output) as CheckFindings;
}
