import assert from 'node:assert/strict';
import { type ChildProcess, execFile, fork } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '../support/plain-environment.ts';
import type { HostedCommand } from './programs/command-host.ts';

const checkout = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));
const hostProgram = fileURLToPath(new URL('./programs/command-host.ts', import.meta.url));
const timeoutMs = 600_000;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command of `marketplace` with only the given settings. One process runs all commands in turn, because starting Node.js and
 * loading the modules takes longer than most commands. Commands that serve, depend on how they are started, or run concurrently need
 * their own process.
 */
export function runMarketplace(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
  { command = checkout, folder = process.cwd(), ownProcess = false } = {},
): Promise<Ran> {
  const env = { ...plainEnvironment(), ...settings };
  const isLaunched = command !== checkout || args[0] === 'serve';
  if (!isLaunched && !ownProcess) return runHosted({ args, env, folder });
  return new Promise((resolve, reject) => {
    execFile(command, args, { env, cwd: folder, timeout: timeoutMs }, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
      else reject(error);
    });
  });
}

/** Checks the exit code of a failed command and its message on standard error. The command must not have printed a result. */
export function assertFailed({ code, stdout, stderr }: Ran, expectedCode: number, message: RegExp): void {
  assert.deepEqual([code, stdout], [expectedCode, ''], stderr);
  assert.match(stderr, message);
}

let host: ChildProcess | null = null;
let lastCommand: Promise<unknown> = Promise.resolve();

/** Queues a command for the shared process. */
function runHosted(command: HostedCommand): Promise<Ran> {
  const ran = lastCommand.then(() => sendToHost(command));
  lastCommand = ran.catch(() => {});
  return ran;
}

function sendToHost(command: HostedCommand): Promise<Ran> {
  host ??= fork(hostProgram, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const child = host;
  child.ref();
  child.channel!.ref();
  return new Promise<Ran>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const finish = (done: () => void): void => {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit);
      // The idle command process must not keep the test process alive.
      child.unref();
      child.channel?.unref();
      done();
    };
    const onMessage = (ran: unknown): void => finish(() => resolve(ran as Ran));
    const onExit = (): void => {
      host = null;
      finish(() => reject(new Error(`the process exited while it ran marketplace ${command.args.join(' ')}`)));
    };
    child.once('message', onMessage).once('exit', onExit);
    child.send(command);
  });
}
