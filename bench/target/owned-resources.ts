import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

const runningChildren = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of runningChildren) child.kill('SIGKILL');
});

/** Starts a child process, which is killed when the current process exits. */
export function spawnChildProcess(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  runningChildren.add(child);
  child.once('close', () => runningChildren.delete(child));
  child.once('error', () => runningChildren.delete(child));
  return child;
}

/** Runs a process and returns its output. Throws an error with the standard error output if the process fails. */
export async function runChildProcess(
  command: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly timeoutMs: number },
): Promise<string> {
  const child = spawnChildProcess(command, args, { env: options.env, stdio: ['ignore', 'pipe', 'pipe'] });
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
      throw new Error(`${command} exited with ${code ?? signal}: ${complaint.trim() || output.trim() || 'no output'}`);
    }
    return output;
  } finally {
    clearTimeout(timer);
  }
}

/** Asks a child process to stop, kills it after `graceMs`, and resolves when the process has exited. Idempotent. */
export async function stopChildProcess(child: ChildProcess, graceMs = 10_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'close');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(timer);
}

const ownedFolders = new Set<string>();

process.on('exit', () => {
  // The deletion is retried, because a killed server may still complete a write.
  for (const folder of ownedFolders) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

/** Folder that is deleted when this process exits. */
interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
  /** Keeps the folder for inspection; `remove` has no effect afterwards. */
  skipFolderCleanup(): void;
}

export async function createTemporaryFolder(parent: string, prefix: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, prefix));
  ownedFolders.add(path);
  return {
    path,
    remove: async () => {
      if (!ownedFolders.has(path)) return;
      await rm(path, { recursive: true, force: true });
      ownedFolders.delete(path);
    },
    skipFolderCleanup: () => {
      ownedFolders.delete(path);
    },
  };
}
