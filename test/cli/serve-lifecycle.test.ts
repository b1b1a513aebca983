import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { lockFolder } from '../../src/files/folder-lock.ts';
import { afterwards } from '../support/afterwards.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { runMarketplace } from './run-marketplace.ts';
import { serveMarketplace } from './serve-marketplace.ts';
import { ServedProcess } from './served-process.ts';

const engines = ['uws', 'node'] as const;
const logo = 'GET /cdn/none.svg HTTP/1.1\r\nHost: test\r\n\r\n';

function folderFor(t: TestContext): string {
  const folder = temporaryFolder();
  afterwards(t, () => rmSync(folder, { recursive: true }));
  return folder;
}

async function connectionTo(t: TestContext, port: number): Promise<ServiceConnection> {
  const connection = await ServiceConnection.open(port);
  afterwards(t, () => connection.close());
  return connection;
}

function operationsOf(t: TestContext, port: number): HttpClient {
  const client = new HttpClient(port, false);
  afterwards(t, () => client.close());
  return client;
}

/** Waits until a stop that was asked for is noticed, and checks what is said of it. */
async function stopping(operations: HttpClient): Promise<void> {
  for (;;) {
    const { status, text } = await operations.send({ path: '/readyz' });
    if (status === 200) continue;
    assert.equal(status, 503);
    assert.deepEqual(JSON.parse(text), { status: 'not ready', reasons: ['the service is stopping'] });
    return;
  }
}

for (const engine of engines) {
  test(`a stop with a delay turns readiness red first, and ${engine} serves on, ending each connection`, async (t) => {
    const folder = folderFor(t);
    const settings = { SVC_DATA_DIR: folder, SVC_LISTENER: engine, SVC_DRAIN_DELAY_SECONDS: '600' };
    const served = new ServedProcess(t, settings);
    const ports = await served.ports();
    const operations = operationsOf(t, ports.operations);
    assert.equal((await operations.send({ path: '/readyz' })).status, 200);
    const kept = await connectionTo(t, ports.public);
    kept.send(logo);
    assert.notEqual((await kept.response()).headers.get('connection'), 'close');

    served.signal('SIGTERM');
    await stopping(operations);
    const late = await connectionTo(t, ports.public);
    for (const connection of [kept, late]) {
      connection.send(logo);
      const answer = await connection.response();
      assert.deepEqual([answer.status, answer.headers.get('connection')], [404, 'close']);
      await connection.closed;
    }

    // The second signal waits for nothing.
    served.signal('SIGTERM');
    assert.deepEqual(await served.ended, { code: 1, signal: null });
    assert.equal(served.log.at(-1)?.msg, 'service ended by a second signal');
    lockFolder(folder).release();
  });

  test(`a second signal is logged with what ${engine} had not answered`, async (t) => {
    const { served, busy } = await withSessionUnderWay(t, { SVC_LISTENER: engine, SVC_DRAIN_DEADLINE_SECONDS: '600' });
    served.signal('SIGTERM');
    await served.logged('service draining');
    served.signal('SIGINT');
    assert.deepEqual(await served.ended, { code: 1, signal: null });
    await busy.closed;
    const { level, signal, requestsInFlight } = await served.logged('service ended by a second signal');
    assert.deepEqual([level, signal, requestsInFlight, served.complaints], [40, 'SIGINT', 1, []]);
    assert.equal(served.log.at(-1)?.msg, 'service ended by a second signal');
  });

  test(`a stop lets ${engine} answer what is in flight, while the operations listener stays, and ends with 0`, async (t) => {
    const { served, ports, operations, busy } = await withSessionUnderWay(t, { SVC_LISTENER: engine });
    const idle = await connectionTo(t, ports.public);
    idle.send(logo);
    await idle.response();

    served.signal('SIGINT');
    await stopping(operations);
    busy.send('}');
    const answer = await busy.response();
    assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close']);
    await Promise.all([busy.closed, idle.closed]);
    assert.deepEqual(await served.ended, { code: 0, signal: null });
    assert.equal(served.log.at(-1)?.msg, 'service stopped');
    await assert.rejects(ServiceConnection.open(ports.public), { code: 'ECONNREFUSED' });
  });

  test(`a stop of ${engine} gives up what is unanswered at its deadline, and says how much`, async (t) => {
    const { served, busy } = await withSessionUnderWay(t, { SVC_LISTENER: engine, SVC_DRAIN_DEADLINE_SECONDS: '1' });
    served.signal('SIGTERM');
    await busy.closed;
    assert.equal(busy.rest, '');
    assert.equal(
      (await served.logged('drain deadline exceeded; connections with pending requests closed')).requestsInFlight,
      1,
    );
    assert.deepEqual(await served.ended, { code: 0, signal: null });
  });
}

for (const [signal, moment] of [
  ['SIGTERM', 'src/cli/command-line.ts'],
  ['SIGINT', 'src/cli/actions/run-server.ts'],
  ['SIGTERM', 'src/server/start-service.ts'],
] as const) {
  test(`${signal} while ${moment} is loaded ends the start with 0, and nothing is written`, async (t) => {
    const folder = folderFor(t);
    const settings = { SVC_DATA_DIR: folder, LOADING: moment, SIGNAL: signal };
    const served = new ServedProcess(t, settings, 'signals-while-loading.ts');
    await stopsDuringStart(served);
    assert.deepEqual(readdirSync(folder), []);
  });
}

test('SIGTERM in the midst of the start ends it with 0, and leaves the folder free', async (t) => {
  const folder = folderFor(t);
  await stopsDuringStart(new ServedProcess(t, { SVC_DATA_DIR: folder }, 'stops-while-starting.ts'));
  assert.notDeepEqual(readdirSync(folder), []);
  lockFolder(folder).release();
});

test('SIGHUP while it is loaded does not end it', async (t) => {
  const settings = { SVC_DATA_DIR: folderFor(t), LOADING: 'src/cli/actions/run-server.ts', SIGNAL: 'SIGHUP' };
  const served = new ServedProcess(t, settings, 'signals-while-loading.ts');
  await served.greeting;
  served.signal('SIGTERM');
  assert.deepEqual([await served.ended, served.complaints], [{ code: 0, signal: null }, []]);
});

test('a stop gives up a catalog that is being read, and does not call it faulty', async (t) => {
  const served = new ServedProcess(t, { SVC_DATA_DIR: folderFor(t) });
  await served.greeting;
  for (const signal of ['SIGHUP', 'SIGTERM'] as const) served.signal(signal);
  assert.deepEqual(await served.ended, { code: 0, signal: null });
  assert.deepEqual(
    served.log.map(({ msg }) => msg),
    ['service started', 'service draining', 'service stopped'],
  );
});

async function stopsDuringStart(served: ServedProcess): Promise<void> {
  assert.deepEqual(await served.ended, { code: 0, signal: null });
  await assert.rejects(served.greeting);
  assert.deepEqual([served.log.map(({ msg }) => msg), served.complaints], [['service stopped during its start'], []]);
}

for (const [signal, origin, message] of [
  ['SIGUSR2', 'uncaughtException', 'a bug'],
  ['SIGWINCH', 'unhandledRejection', 'a bug nobody waited for'],
] as const) {
  test(`an ${origin} ends the process with 1 and one line of log, and what was acknowledged stays`, async (t) => {
    const folder = folderFor(t);
    const key = await keyIn(folder);
    const served = new ServedProcess(t, { SVC_DATA_DIR: folder }, 'faults-on-signals.ts');
    const connection = await connectionTo(t, (await served.ports()).public);
    const body = '{"referrer_tag":"kept"}';
    connection.send(`${sessionHead(key, body.length)}${body}`);
    assert.equal((await connection.response()).status, 200);

    served.signal(signal);
    assert.deepEqual(await served.ended, { code: 1, signal: null });
    assert.deepEqual(served.complaints, []);
    const [line, ...more] = served.log.filter(({ level }) => level >= 40);
    assert.deepEqual(more, []);
    assert.deepEqual([line?.level, line?.origin], [60, origin]);
    const { type, message: said, stack, ...others } = (line?.err ?? {}) as Record<string, unknown>;
    assert.deepEqual([type, said, others], ['Error', message, {}]);
    assert.match(String((stack as string[])[0]), /^at .*faults-on-signals/);
    const verified = await runMarketplace(['log', 'verify'], { SVC_DATA_DIR: folder });
    assert.equal(verified.code, 0, verified.stderr);
    assert.match(verified.stdout, /^records +1,/m);
  });
}

for (const [engine, reason, preload] of [
  ['uws', /^uWebSockets\.js \d+\.\d+\.\d+ /, undefined],
  ['node', /no binary for this machine/, 'without-uws.ts'],
] as const) {
  test(`the log of a start tells what runs where, on ${engine}`, async (t) => {
    const folder = folderFor(t);
    const served = new ServedProcess(t, { SVC_DATA_DIR: folder, SVC_DURABILITY: 'write' }, preload);
    const { time, level, msg, version, engineReason, maxSessions, ...line } = await served.logged('service started');
    const ports = await served.ports();
    assert.deepEqual([typeof time, level, typeof maxSessions], ['number', 30, 'number']);
    assert.match(String(version), /^\d+\.\d+\.\d+/);
    assert.deepEqual(line, {
      node: process.version,
      engine,
      url: `http://127.0.0.1:${ports.public}`,
      public: { host: '127.0.0.1', port: ports.public },
      operations: { host: '127.0.0.1', port: ports.operations },
      dataDir: folder,
      verticals: ['personal-loans'],
      matcherThreads: 0,
      durability: 'write',
    });
    const warned = served.log.filter(({ level }) => level === 40).map(({ reason }) => reason);
    assert.match(String(engineReason), reason);
    assert.deepEqual(warned, engine === 'uws' ? [] : [engineReason]);
  });
}

test('what is probably not meant is warned of in the log, where standard error has nothing else', async (t) => {
  const settings = { SVC_DATA_DIR: folderFor(t), SVC_FLAVOUR: '1', SVC_HOST: '0.0.0.0' };
  const served = new ServedProcess(t, settings);
  await served.logged('service started');
  const warned = served.log.filter(({ level }) => level === 40).map(({ msg }) => msg);
  assert.equal(warned[0], 'SVC_FLAVOUR is set, but no setting has this name.');
  assert.match(warned[1] ?? '', /set SVC_PUBLIC_URL\.$/);
  assert.deepEqual(served.complaints, []);
});

test('a second process on the same folder is refused in one line, and the first goes on', async (t) => {
  const folder = folderFor(t);
  const first = new ServedProcess(t, { SVC_DATA_DIR: folder });
  const operations = operationsOf(t, (await first.ports()).operations);
  const second = new ServedProcess(t, { SVC_DATA_DIR: folder });
  assert.deepEqual(await second.ended, { code: 1, signal: null });
  assert.deepEqual(second.complaints, [`marketplace: ${folder} is in use by another instance of this service`]);
  assert.equal((await operations.send({ path: '/readyz' })).status, 200);
  // A lock outlives no process, however it ends.
  first.signal('SIGKILL');
  await first.ended;
  const third = new ServedProcess(t, { SVC_DATA_DIR: folder });
  await third.ports();
});

async function keyIn(folder: string): Promise<string> {
  const create = ['keys', 'create', '--account', 'demo', '--vertical', 'personal-loans', '--mode', 'live', '--raw'];
  const { stdout } = await runMarketplace(create, { SVC_DATA_DIR: folder });
  return stdout.trim();
}

function sessionHead(key: string, length: number): string {
  return [
    'POST /v1/personal-loans/session HTTP/1.1',
    'Host: test',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n');
}

/** A server that has been asked for a session, whose last byte is still to come. */
async function withSessionUnderWay(t: TestContext, settings: Readonly<Record<string, string>>) {
  const folder = folderFor(t);
  const key = await keyIn(folder);
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder, ...settings }, 'patient-requests.ts');
  const ports = await served.ports();
  const operations = operationsOf(t, ports.operations);
  const busy = await connectionTo(t, ports.public);
  const body = '{"referrer_tag":"last"}';
  busy.send(sessionHead(key, body.length) + body.slice(0, -1));
  for (;;) {
    const { text } = await operations.send({ path: '/metrics' });
    if (/^marketplace_requests_in_flight 1$/m.test(text)) return { served, ports, operations, busy };
  }
}

test('a first start beside somebody who holds the key file serves, and says that there is no key yet', async (t) => {
  const folder = folderFor(t);
  const key = await keyIn(folder);
  assert.ok(key !== '');
  const database = new Database(keyFilePath(folder));
  afterwards(t, () => database.close());
  database.exec('DELETE FROM keys');
  database.exec('BEGIN IMMEDIATE');
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder });
  await served.greeting;
  served.signal('SIGTERM');
  assert.deepEqual([await served.ended, served.complaints], [{ code: 0, signal: null }, []]);
});

const keyText = /svc_pl_(?:live|test)_[0-9a-f]{48}/g;

test('a first start writes its keys into a file of the owner alone, and prints where it is and no key', async (t) => {
  const folder = folderFor(t);
  const served = await serveMarketplace(folder);
  afterwards(t, () => served.stop());
  const path = join(folder, 'first-keys.txt');
  assert.ok(served.greeting().includes(path));
  assert.doesNotMatch(served.greeting(), keyText);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const [live = '', sandbox = '', tried] = readFileSync(path, 'utf8').match(keyText) ?? [];
  assert.equal(tried, sandbox);
  const http = new HttpClient(served.port);
  afterwards(t, () => http.close());
  for (const [key, isSandbox] of [
    [live, false],
    [sandbox, true],
  ] as const) {
    const session = await new ApiCaller(http, 'personal-loans', key).createSession('first-try');
    assert.equal(session.sandbox, isSandbox);
  }
});

const noTerminals = spawnSync('script', ['--version']).status !== 0 && 'the script command is missing';

test('a first start prints its keys on a terminal, and into no file', { skip: noTerminals }, async (t) => {
  const folder = folderFor(t);
  const m = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));
  const settings = { SVC_DATA_DIR: folder, SVC_PORT: '0', SVC_OPS_PORT: '0', SVC_MATCHER_THREADS: '0' };
  const terminal = spawn('script', ['-qec', 'echo pid $$; exec "$m" serve 2> /dev/null', '/dev/null'], {
    env: { ...plainEnvironment(), ...settings, m, SHELL: '/bin/sh' },
  });
  const ended = once(terminal, 'exit');
  let printed = '';
  for await (const text of terminal.stdout.setEncoding('utf8')) {
    printed += text;
    if (printed.includes('first-try')) break;
  }
  process.kill(Number(/pid (\d+)/.exec(printed)?.[1]), 'SIGTERM');
  await ended;
  assert.equal(printed.match(keyText)?.length, 3, printed);
  assert.ok(!readdirSync(folder).includes('first-keys.txt'));
});
