import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import type { TestContext } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';

export interface Serving {
  readonly pid: number;
  readonly port: number;
  readonly operationsPort: number;
  /** Sends SIGTERM to it, or to the process of that id, and gives the code it ends with. */
  stop(pid?: number): Promise<number | null>;
}

/** Runs a command that serves a data folder for the first time, and waits until it has introduced itself. */
export async function startServing(
  t: TestContext,
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<Serving> {
  const server = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(server, 'close') as Promise<[number | null]>;
  // Where the test did not come to stop it. Its folder is removed next.
  afterwards(t, async () => {
    server.kill('SIGKILL');
    await Promise.allSettled([ended]);
  });
  let said = '';
  const introduced = new Promise<RegExpExecArray>((resolve, reject) => {
    server.once('error', reject);
    ended.then(([code]) => reject(new Error(`it ended with ${code} before it served:\n${said}`)), reject);
    const hear = (text: string) => {
      said += text;
      const found = /serving http:\S+?:(\d+)\/v1\S+, operations on \S+:(\d+)\n(?:.|\n)*first-keys\.txt/.exec(said);
      if (found !== null) resolve(found);
    };
    server.stdout!.setEncoding('utf8').on('data', hear);
    server.stderr!.setEncoding('utf8').on('data', hear);
  });
  const [, port, operationsPort] = await introduced;
  return {
    pid: server.pid!,
    port: Number(port),
    operationsPort: Number(operationsPort),
    async stop(pid = server.pid!) {
      process.kill(pid, 'SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}

/** Asks it for a session, as a partner does, with the sandbox's key of what its first start has written. */
export async function createSession({ port }: Serving, firstKeys: string): Promise<number> {
  const [, testKey = ''] = /^ {2}test {2}(\S+)$/m.exec(firstKeys) ?? [];
  const http = new HttpClient(port);
  try {
    const { status } = await new ApiCaller(http, 'personal-loans', testKey).post('session', {
      referrer_tag: 'first-try',
    });
    return status;
  } finally {
    http.close();
  }
}
