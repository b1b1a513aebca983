import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';

export interface Serving {
  readonly port: number;
  readonly operationsPort: number;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

/** Runs a command that serves a new data folder, and waits until it has printed the addresses and the path of the first keys. */
export async function startServing(
  t: TestContext,
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<Serving> {
  const server = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(server, 'close') as Promise<[number | null]>;
  // If the test fails before it stops the server.
  afterwards(t, async () => {
    server.kill('SIGKILL');
    await Promise.allSettled([ended]);
  });
  let output = '';
  const started = new Promise<RegExpExecArray>((resolve, reject) => {
    server.once('error', reject);
    ended.then(([code]) => reject(new Error(`the process exited with ${code} before it served:\n${output}`)), reject);
    const read = (text: string) => {
      output += text;
      const found = /serving http:\S+?:(\d+)\/v1\S+, operations on \S+:(\d+)\n(?:.|\n)*first-keys\.txt/.exec(output);
      if (found !== null) resolve(found);
    };
    server.stdout!.setEncoding('utf8').on('data', read);
    server.stderr!.setEncoding('utf8').on('data', read);
  });
  const [, port, operationsPort] = await started;
  return {
    port: Number(port),
    operationsPort: Number(operationsPort),
    async stop() {
      server.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}

/** Creates a session with the test key of `first-keys.txt`. Returns the status. */
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
