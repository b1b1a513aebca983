import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../bench/target/free-port.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { serveMarketplace } from '../cli/served-process.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const script = fileURLToPath(new URL('../../bin/with-demo-key.ts', import.meta.url));
const demo = fileURLToPath(new URL('../../bench/demo/main.ts', import.meta.url));

let server: Awaited<ReturnType<typeof serveMarketplace>>;
const dataDir = temporaryFolder();
before(async () => {
  server = await serveMarketplace(dataDir);
});
after(() => server.stop());

/** Settings of the server and of the script. */
const served = () => ({ SVC_DATA_DIR: dataDir, SVC_PORT: String(server.port) });

function withDemoKey(settings: Readonly<Record<string, string>>, args: readonly string[]) {
  const child = spawn(process.execPath, [script, 'visitor', ...args], {
    env: { ...plainEnvironment(), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, ended, stdout: text(child.stdout), stderr: text(child.stderr) };
}

/** Returns the states of the keys of the account that the script uses. */
async function keyStates(settings: Readonly<Record<string, string>>): Promise<string[]> {
  const { stdout } = await runMarketplace(['keys', 'list', '--json'], settings);
  const keys = JSON.parse(stdout) as { account: string; state: string }[];
  return keys.filter(({ account }) => account === 'visitor').map(({ state }) => state);
}

test('the demo works with a server on a custom port and data folder, and revokes the API key of the demo', async () => {
  const settings = served();
  const { ended, stdout, stderr } = withDemoKey(settings, ['--', process.execPath, demo, '--borrowers', '2']);
  assert.deepEqual([await ended, await stderr], [0, '']);
  assert.match(await stdout, /^ +sessions_total +1 +1$/m);
  assert.deepEqual(await keyStates(settings), ['revoked']);
});

test('Ctrl-C ends the program and revokes the API key', async () => {
  const settings = served();
  const waiting = `process.once('SIGINT', () => process.exit(3)); console.log('ready'); setInterval(() => {}, 1000)`;
  const { child, ended, stderr } = withDemoKey(settings, ['--', process.execPath, '-e', waiting]);
  child.stdout.once('data', () => child.kill('SIGINT'));
  assert.deepEqual([await ended, await stderr], [3, '']);
  // The first key was created in the previous test.
  assert.deepEqual(await keyStates(settings), ['revoked', 'revoked']);
});

test('the program gets a key for each served vertical, except for verticals whose key is already set', async () => {
  const settings = { ...served(), API_KEY_BANKING: 'my key' };
  const before = (await keyStates(settings)).length;
  const print = `console.log(JSON.stringify(Object.entries(process.env).filter(([name]) => name.startsWith('API_'))))`;
  const verticals = ['credit-cards', 'mortgage', 'banking', 'pet-insurance'];
  const options = verticals.flatMap((vertical) => ['--vertical', vertical]);
  const { ended, stdout, stderr } = withDemoKey(settings, [...options, '--', process.execPath, '-e', print]);
  assert.deepEqual([await ended, await stderr], [0, '']);
  const environment = Object.fromEntries(JSON.parse(await stdout) as [string, string][]);
  assert.equal(environment.API_URL, `http://127.0.0.1:${server.port}/v1`);
  assert.equal(environment.API_KEY_BANKING, 'my key');
  assert.match(environment.API_KEY_CREDIT_CARDS!, /^svc_cc_live_/);
  assert.match(environment.API_KEY_MORTGAGE!, /^svc_mo_live_/);
  assert.equal(Object.keys(environment).length, 4);
  assert.deepEqual((await keyStates(settings)).slice(before), ['revoked', 'revoked']);
});

test('if demo and server have different data folders, the demo revokes its API key and prints the path of its data folder', async (t) => {
  const settings = { ...served(), SVC_DATA_DIR: temporaryFolder(t) };
  const { ended, stdout, stderr } = withDemoKey(settings, ['--', process.execPath, '-e', '']);
  assert.deepEqual([await ended, await stdout], [1, '']);
  const said = await stderr;
  assert.ok(said.includes(`:${settings.SVC_PORT}/`) && said.includes(settings.SVC_DATA_DIR), said);
  assert.deepEqual(await keyStates(settings), ['revoked']);
});

test('the demo waits for a server that starts, and uses no connection twice', async (t) => {
  const settings = { SVC_DATA_DIR: temporaryFolder(t), SVC_PORT: String(await findFreePort()) };
  const { child, ended, stderr } = withDemoKey(settings, ['--', process.execPath, '-e', '']);
  await once(child.stderr, 'data');
  // Accepts every key but `none`, and would reset a connection that is used again.
  let requests = 0;
  const connections = new Set();
  const stub = createServer((request, response) => {
    requests++;
    if (connections.has(request.socket)) request.socket.resetAndDestroy();
    connections.add(request.socket);
    response.writeHead(request.headers.authorization === 'Bearer none' ? 401 : 400).end();
  });
  await once(stub.listen(Number(settings.SVC_PORT), '127.0.0.1'), 'listening');
  runAfterTest(t, () => stub.close());
  assert.equal(await ended, 0);
  assert.match(await stderr, /^visitor: waiting for the server at \S+\n$/);
  assert.ok(requests >= 3 && connections.size === requests, `${requests} requests, ${connections.size} connections`);
  assert.deepEqual(await keyStates(settings), ['revoked']);
});

test('no API key is created if no server is running, or the server serves none of the verticals', async (t) => {
  const settings = { SVC_DATA_DIR: temporaryFolder(t), SVC_PORT: String(await findFreePort()) };
  const { ended, stderr } = withDemoKey(settings, ['--wait', '0', '--', process.execPath, '-e', '']);
  assert.equal(await ended, 1);
  assert.match(await stderr, /^visitor: no answer from .*make run.*\n$/);
  assert.deepEqual(await keyStates(settings), []);

  const unserved = withDemoKey(served(), ['--vertical', 'pet-insurance', '--', process.execPath, '-e', '']);
  assert.equal(await unserved.ended, 1);
  assert.match(await unserved.stderr, /^visitor: http:\S+ does not serve pet-insurance; .*\n$/);
});
