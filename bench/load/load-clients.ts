import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerMeasurement } from '../result/bench-result.ts';
import { runChildProcess } from '../target/owned-resources.ts';
import { autocannonClient } from './autocannon-client.ts';

/** Description of a load on one server. Each keep-alive connection has at most one pending request. */
export interface LoadPlan {
  /** Port of the server on 127.0.0.1. */
  readonly port: number;
  /** Path of a request file written by `writeRequestFile`. */
  readonly requestsFile: string;
  readonly connections: number;
  /** Duration of the load; maximum duration with `singleUse`. */
  readonly seconds: number;
  /**
   * Whether the client sends each request once and stops. Without `singleUse`, the client repeats the list of requests until `seconds` have
   * passed.
   */
  readonly singleUse: boolean;
  /** Expected HTTP status. Replies with a status other than `expectedStatus` and `alsoExpected` count as `unexpected`. */
  readonly expectedStatus: number;
  /** Additional expected statuses, for a load on several routes with different success statuses. */
  readonly alsoExpected?: readonly number[];
  /** Lower-case names of the response headers to return for each reply. Only autocannon supports this. */
  readonly recordHeaders?: readonly string[];
}

/** Status and recorded headers of a reply. The names are in lower case; absent headers have no entry. */
export interface RecordedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Result of a load, without the figures of the server. */
export interface LoadRunResult
  extends Pick<ServerMeasurement, 'requests' | 'seconds' | 'latencyMs' | 'clientCpuSeconds'> {
  /** Number of failed requests, including replies with an unexpected status. */
  readonly unexpected: number;
  /** Replies in received order; absent without `recordHeaders`. */
  readonly replies?: readonly RecordedReply[];
}

export interface LoadClient {
  readonly name: 'wrk' | 'autocannon';
  run(plan: LoadPlan): Promise<LoadRunResult>;
}

const wrkScript = fileURLToPath(new URL('../wrk/prepared.lua', import.meta.url));

/** Finds wrk on PATH. wrk uses a tenth of the CPU time of a JavaScript client. */
export async function findWrkClient(): Promise<LoadClient | null> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const command = join(folder, 'wrk');
    try {
      await access(command, constants.X_OK);
      return { name: 'wrk', run: (plan) => runWrk(command, plan) };
    } catch {
      // If a folder of PATH has no executable file `wrk`, the search continues with the next folder.
    }
  }
  return null;
}

async function runWrk(command: string, plan: LoadPlan): Promise<LoadRunResult> {
  const seconds = Math.max(1, Math.ceil(plan.seconds));
  const output = await runChildProcess(
    command,
    [
      ...['--threads', '1', '--connections', String(plan.connections), '--duration', `${seconds}s`],
      ...['--timeout', '10s', '--script', wrkScript, `http://127.0.0.1:${plan.port}`],
      ...[plan.requestsFile, plan.singleUse ? 'once' : 'repeat'],
    ],
    { timeoutMs: (seconds + 60) * 1000 },
  );
  const line = output.split('\n').find((text) => text.startsWith('{'));
  if (line === undefined) throw new Error(`the output of wrk contains no result: ${output}`);
  return JSON.parse(line) as LoadRunResult;
}

/** Parses the value of an option `--client`. */
export function parseClientName(name: string | undefined): LoadClient['name'] | undefined {
  if (name === undefined || name === 'wrk' || name === 'autocannon') return name;
  throw new Error('--client must be wrk or autocannon');
}

/** Returns the load client `name`, or by default autocannon and, if installed, wrk. Throws if `name` is wrk and wrk is not installed. */
export async function chooseLoadClients(
  name: LoadClient['name'] | undefined,
): Promise<{ readonly client: LoadClient; readonly crossCheck?: LoadClient }> {
  const wrk = name === 'autocannon' ? null : await findWrkClient();
  if (name !== 'wrk') return { client: autocannonClient, ...(wrk === null ? {} : { crossCheck: wrk }) };
  if (wrk === null) throw new Error('wrk is not on PATH');
  return { client: wrk };
}
