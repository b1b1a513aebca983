/**
 * Runs a program with new API keys for a running server:
 *
 * node bin/with-demo-key.ts ACCOUNT [--vertical VERTICAL]... [--origin ORIGIN]... [--wait SECONDS] -- PROGRAM [ARGUMENT]...
 *
 * Waits up to SECONDS (default: 30) for a server that starts. Creates a live key for ACCOUNT and each VERTICAL (default: personal-loans) in the data folder (SVC_DATA_DIR), allows the origins for its
 * widgets, and starts the program. The environment of the program contains each key in a variable such as API_KEY_CREDIT_CARDS, and the URL
 * of the API without a vertical in API_URL. Verticals that the server does not serve get no key. The keys are revoked when the program ends,
 * also after Ctrl-C or SIGTERM. A key that is not revoked expires the next day. A variable that is already set is not changed, and its
 * vertical gets no new key.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Part of the output of `marketplace check-config --json` that this program reads. */
interface CheckedConfig {
  readonly settings: Readonly<
    Record<
      'SVC_HOST' | 'SVC_PORT' | 'SVC_DATA_DIR' | 'SVC_TLS_CERT' | 'SVC_PUBLIC_URL',
      { readonly value: string | number | null }
    >
  >;
}

/** Maximum time to wait for a new key. A running server accepts a new key within two seconds. */
const newKeyTimeoutMs = 4_000;
const pollMs = 250;
const responseTimeoutMs = 10_000;
const dayMs = 24 * 60 * 60 * 1000;

/** Error that is reported as one line and states what to do. */
class SetupError extends Error {}

const projectFolder = fileURLToPath(new URL('..', import.meta.url));

const { positionals, values } = parseArgs({
  options: {
    vertical: { type: 'string', multiple: true, default: ['personal-loans'] },
    origin: { type: 'string', multiple: true, default: [] },
    wait: { type: 'string', default: '30' },
  },
  allowPositionals: true,
});
const [account, program, ...programArguments] = positionals as [string, string, ...string[]];

/** `childProcess` is the started program. `earlySignal` is a signal that arrived before the program started. */
let childProcess: ChildProcess | undefined;
let earlySignal: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (childProcess === undefined) earlySignal = signal;
    else childProcess.kill(signal);
  });
}

try {
  process.exitCode = await run();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`${account}: ${error.message}\n`);
  process.exitCode = 1;
}

interface DemoKey {
  readonly vertical: string;
  readonly id: string;
  readonly key: string;
}

/** Creates the keys, runs the program and returns its exit code. */
async function run(): Promise<number> {
  const { settings } = JSON.parse(runMarketplace('check-config', '--json')) as CheckedConfig;
  const apiUrl = process.env.API_URL || `${serverUrl(settings)}/v1`;
  const verticals = await findServedVerticals(apiUrl);
  const keys: DemoKey[] = [];
  try {
    for (const vertical of verticals) {
      if (!process.env[keyName(vertical)]) keys.push(createKey(vertical));
    }
    if (keys.length > 0 && values.origin.length > 0) {
      runMarketplace('origins', 'allow', '--account', account, ...values.origin);
    }
    for (const key of keys) await waitForKey(apiUrl, key, String(settings.SVC_DATA_DIR.value));
    const environment = Object.fromEntries(keys.map(({ vertical, key }) => [keyName(vertical), key]));
    return await runProgram({ API_URL: apiUrl, ...environment });
  } finally {
    for (const { id } of keys) runMarketplace('keys', 'revoke', id);
  }
}

/** Returns the requested verticals that the server serves. Waits for a server that starts. Throws `SetupError` if there are none. */
async function findServedVerticals(apiUrl: string): Promise<readonly string[]> {
  await waitForServer(`${apiUrl}/${values.vertical[0]}`);
  const served: string[] = [];
  for (const vertical of values.vertical) {
    if ((await statusOf(`${apiUrl}/${vertical}`)) !== 404) served.push(vertical);
  }
  if (served.length > 0) return served;
  throw new SetupError(`${apiUrl} does not serve ${values.vertical.join(', ')}; another program may use this port`);
}

async function waitForServer(verticalUrl: string): Promise<void> {
  for (let waitedMs = 0; earlySignal === undefined; waitedMs += pollMs) {
    try {
      await statusOf(verticalUrl);
      return;
    } catch (error) {
      if (waitedMs >= Number(values.wait) * 1000) throw error;
    }
    if (waitedMs === 0) process.stderr.write(`${account}: waiting for the server at ${verticalUrl}\n`);
    await sleep(pollMs);
  }
}

/** Returns the name of the environment variable with the key of a vertical. */
function keyName(vertical: string): string {
  return `API_KEY_${vertical.toUpperCase().replaceAll('-', '_')}`;
}

function createKey(vertical: string): DemoKey {
  const tomorrow = new Date(Date.now() + dayMs).toISOString().slice(0, 10);
  const options = ['--account', account, '--vertical', vertical, '--mode', 'live', '--expires', tomorrow];
  const { id, key } = JSON.parse(runMarketplace('keys', 'create', ...options, '--json')) as Omit<DemoKey, 'vertical'>;
  return { vertical, id, key };
}

/** Returns the URL of the public listener on this machine, or the public URL if the server uses TLS. */
function serverUrl({ SVC_HOST, SVC_PORT, SVC_TLS_CERT, SVC_PUBLIC_URL }: CheckedConfig['settings']): string {
  if (SVC_TLS_CERT.value !== null) return String(SVC_PUBLIC_URL.value);
  if (SVC_PORT.value === 0) throw new SetupError('SVC_PORT is 0; set API_URL to the address that the server printed');
  const host = String(SVC_HOST.value);
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${SVC_PORT.value}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${SVC_PORT.value}`;
}

async function waitForKey(apiUrl: string, { vertical, key }: DemoKey, dataDir: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < newKeyTimeoutMs; waitedMs += pollMs) {
    if (earlySignal !== undefined || (await statusOf(`${apiUrl}/${vertical}`, key)) !== 401) return;
    await sleep(pollMs);
  }
  throw new SetupError(
    `the server at ${apiUrl} does not use the data folder ${dataDir}, where the key was created; ` +
      `set SVC_DATA_DIR to the data folder of this server, or ${keyName(vertical)} to a key of this server`,
  );
}

/**
 * Sends a request for offers and returns the HTTP status. A healthy server returns 401 without a valid key. Each request has a connection of
 * its own: `execFileSync` blocks this program longer than the server keeps idle connections, so a kept connection may be closed.
 */
async function statusOf(verticalUrl: string, key = 'none'): Promise<number> {
  try {
    const headers = { Authorization: `Bearer ${key}`, Connection: 'close' };
    const signal = AbortSignal.timeout(responseTimeoutMs);
    const { status } = await fetch(`${verticalUrl}/marketplace`, { headers, signal });
    return status;
  } catch {
    throw new SetupError(
      `no answer from ${verticalUrl}; start the server with \`make run\` in another terminal, with the same SVC_ settings as here`,
    );
  }
}

/** Runs a subcommand of `marketplace` and returns its standard output. The standard error of the subcommand goes to the terminal. */
function runMarketplace(...args: string[]): string {
  try {
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    return execFileSync('bin/marketplace', args, { cwd: projectFolder, encoding: 'utf8', stdio });
  } catch {
    throw new SetupError(`\`marketplace ${args.slice(0, 2).join(' ')}\` failed; the reason is above`);
  }
}

/** Runs the program in a separate process group, so that only this script receives Ctrl-C from the terminal and forwards the signal. */
function runProgram(environment: Readonly<Record<string, string>>): Promise<number> {
  if (earlySignal !== undefined) return Promise.resolve(128 + constants.signals[earlySignal]);
  const started = spawn(program, programArguments, {
    stdio: 'inherit',
    detached: true,
    env: { ...process.env, ...environment },
  });
  childProcess = started;
  return new Promise((resolve, reject) => {
    started.once('error', reject);
    started.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  });
}
