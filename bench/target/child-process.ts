import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

const runningChildren = new Set<ChildProcess>();

// Whatever way this process ends, none of its children outlives it.
process.on('exit', () => {
  for (const child of runningChildren) child.kill('SIGKILL');
});

/** Starts a process that never outlives this one. */
export function spawnChild(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  runningChildren.add(child);
  child.once('close', () => runningChildren.delete(child));
  child.once('error', () => runningChildren.delete(child));
  return child;
}

/** Runs a process to its end and gives what it printed; throws, with what it complained of, when it failed. */
export async function runChild(
  command: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly timeoutMs: number },
): Promise<string> {
  const child = spawnChild(command, args, { env: options.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs);
  let output = '';
  let complaint = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    if (code !== 0) {
      throw new Error(`${command} ended with ${code ?? signal}: ${complaint.trim() || output.trim() || 'no word'}`);
    }
    return output;
  } finally {
    clearTimeout(timer);
  }
}

/** Asks a process to end, insists after `remainingMs`, and resolves when it is gone. Idempotent. */
export async function stopChild(child: ChildProcess, graceMs = 10_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'close');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(timer);
}
