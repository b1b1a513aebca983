import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { startServer } from '../../src/cli/commands/serve.ts';
import { loadConfig } from '../../src/config/config.ts';
import { readEnv } from '../../src/config/env.ts';
import { lockFolder } from '../../src/files/folder-lock.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { ApiCaller } from '../support/api-caller.ts';
import type { HttpClient } from '../support/http-client.ts';
import { plainEnvironment } from '../support/plain-environment.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runMarketplace } from './run-marketplace.ts';
import { createKey } from './sample-data-folder.ts';
import { ServedProcess } from './served-process.ts';

const logo = 'GET /cdn/none.svg HTTP/1.1\r\nHost: test\r\n\r\n';

async function connectionTo(t: TestContext, port: number): Promise<ServiceConnection> {
  const connection = await ServiceConnection.open(port);
  runAfterTest(t, () => connection.close());
  return connection;
}

/** Waits until the server is stopping, and checks the reason in the readiness response. */
async function waitUntilStopping(operations: HttpClient): Promise<void> {
  for (;;) {
    const { status, text } = await operations.send({ path: '/readyz' });
    if (status === 200) continue;
    assert.equal(status, 503);
    assert.deepEqual(JSON.parse(text), { status: 'not ready', reasons: ['the service is stopping'] });
    return;
  }
}

test('during the drain delay, /readyz fails and the server still accepts requests', async (t) => {
  const { folder, served, ports, operations, busy } = await withPendingRequest(t, { SVC_DRAIN_DELAY_SECONDS: '600' });
  assert.equal((await operations.send({ path: '/readyz' })).status, 200);
  served.signal('SIGTERM');
  await waitUntilStopping(operations);
  const late = await connectionTo(t, ports.public);
  late.send(logo);
  const answer = await late.response();
  assert.deepEqual([answer.status, answer.headers.get('connection')], [404, 'close']);
  await late.closed;

  served.signal('SIGINT');
  assert.deepEqual(await served.ended, { code: 1, signal: null });
  await busy.closed;
  const { level, msg, signal, requestsInFlight } = served.log.at(-1)!;
  assert.equal(msg, 'second signal received; exiting without draining');
  assert.deepEqual([level, signal, requestsInFlight, served.complaints], [40, 'SIGINT', 1, []]);
  lockFolder(folder).release();
});

test('a stop waits for pending requests while the operations listener stays open', async (t) => {
  const { served, ports, operations, busy } = await withPendingRequest(t, {});
  served.signal('SIGINT');
  await waitUntilStopping(operations);
  busy.send('}');
  const answer = await busy.response();
  assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close']);
  await busy.closed;
  assert.deepEqual(await served.ended, { code: 0, signal: null });
  assert.equal(served.log.at(-1)?.msg, 'service stopped');
  await assert.rejects(ServiceConnection.open(ports.public), { code: 'ECONNREFUSED' });
});

test('a stop closes connections with pending requests when the drain deadline expires', async (t) => {
  const { served, busy } = await withPendingRequest(t, { SVC_DRAIN_DEADLINE_SECONDS: '1' });
  served.signal('SIGTERM');
  await busy.closed;
  assert.equal(busy.rest, '');
  const line = await served.logged('drain deadline exceeded; connections with pending requests closed');
  assert.equal(line.requestsInFlight, 1);
  assert.deepEqual(await served.ended, { code: 0, signal: null });
});

for (const [moment, settings, preload] of [
  ['loading modules', { LOADING: 'src/cli/command-line.ts', SIGNAL: 'SIGTERM' }, 'programs/signals-while-loading.ts'],
  [
    'loading the service',
    { LOADING: 'src/server/start-service.ts', SIGNAL: 'SIGINT' },
    'programs/signals-while-loading.ts',
  ],
  ['starting the service', {}, 'programs/stops-while-starting.ts'],
] as const) {
  test(`a stop signal while the process is ${moment} cancels the start and unlocks the data folder`, async (t) => {
    const folder = temporaryFolder(t);
    const served = new ServedProcess(t, { SVC_DATA_DIR: folder, ...settings }, preload);
    assert.deepEqual(await served.ended, { code: 0, signal: null });
    await assert.rejects(served.greeting);
    assert.deepEqual([served.log.map(({ msg }) => msg), served.complaints], [['start canceled by a signal'], []]);
    // Before the service starts, no file may be written.
    assert.equal(readdirSync(folder).length === 0, preload === 'programs/signals-while-loading.ts');
    lockFolder(folder).release();
  });
}

test('SIGHUP during the start does not stop the server', async (t) => {
  const settings = { SVC_DATA_DIR: temporaryFolder(t), LOADING: 'src/cli/commands/serve.ts', SIGNAL: 'SIGHUP' };
  const served = new ServedProcess(t, settings, 'programs/signals-while-loading.ts');
  await served.greeting;
  served.signal('SIGTERM');
  assert.deepEqual([await served.ended, served.complaints], [{ code: 0, signal: null }, []]);
});

const exampleWarning = 'live API keys are served by example catalogs with made-up offers; set SVC_CATALOG';

test('warns once for each vertical whose live keys get offers of an example catalog, also for keys created later', async (t) => {
  const folder = temporaryFolder(t);
  await createKey(folder);
  await createKey(folder, 'mortgage', 'test');
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder });
  assert.deepEqual((await served.logged(exampleWarning)).verticals, ['personal-loans']);
  for (const vertical of ['personal-loans', 'banking', 'banking', 'mortgage']) await createKey(folder, vertical);
  const warned: unknown[] = [];
  for (let index = 1; warned.length < 2; index++) {
    warned.push(...((await served.logged(exampleWarning, index)).verticals as string[]));
  }
  assert.deepEqual(warned, ['banking', 'mortgage']);
  assert.equal(await served.stop(), 0);
});

test('does not warn about live keys that get offers of other catalogs, and names vertical and file of a failed reload', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { SVC_DATA_DIR: join(folder, 'data'), SVC_CATALOG: join(folder, 'catalogs') };
  mkdirSync(settings.SVC_CATALOG);
  const files = new Map<string, string>();
  for (const vertical of builtInVerticals.verticals) {
    const file = join(settings.SVC_CATALOG, `${vertical.segment}.json`);
    copyFileSync(builtInVerticals.exampleCatalogFile(vertical), file);
    files.set(vertical.segment, file);
  }
  const served = new ServedProcess(t, settings);
  await served.logged('service started');
  let failures = 0;
  for (const [vertical, file] of files) {
    writeFileSync(file, '{}');
    served.signal('SIGHUP');
    const msg = 'catalog reload failed; keeping the current catalog';
    // Each reload also reports the files that became invalid before.
    for (;;) {
      const line = await served.logged(msg, failures++);
      assert.equal(line.file, files.get(String(line.vertical)));
      assert.deepEqual([line.mode, Array.isArray(line.errors)], ['live', true]);
      if (line.vertical === vertical && line.file === file) break;
    }
  }
  assert.equal(await served.stop(), 0);
  assert.ok(served.log.every(({ msg }) => msg !== exampleWarning));
});

test('a stop during a catalog reload cancels the reload without logging an error', async (t) => {
  const served = new ServedProcess(t, { SVC_DATA_DIR: temporaryFolder(t) });
  await served.greeting;
  for (const signal of ['SIGHUP', 'SIGTERM'] as const) served.signal(signal);
  assert.deepEqual(await served.ended, { code: 0, signal: null });
  assert.deepEqual(
    served.log.flatMap(({ msg }) => (msg === exampleWarning ? [] : msg)),
    ['service started', 'service draining', 'service stopped'],
  );
});

for (const [signal, origin, message] of [
  ['SIGUSR2', 'uncaughtException', 'a bug'],
  ['SIGWINCH', 'unhandledRejection', 'an unhandled bug'],
] as const) {
  test(`after an ${origin} error, the server exits with code 1 and loses no acknowledged event`, async (t) => {
    const folder = temporaryFolder(t);
    const { key } = await createKey(folder);
    const served = new ServedProcess(t, { SVC_DATA_DIR: folder }, 'programs/faults-on-signals.ts');
    await new ApiCaller(await served.client(t), 'personal-loans', key).createSession('kept');

    served.signal(signal);
    assert.deepEqual(await served.ended, { code: 1, signal: null });
    assert.deepEqual(served.complaints, []);
    const [line, ...more] = served.log.filter(({ level, msg }) => level >= 40 && msg !== exampleWarning);
    assert.deepEqual(more, []);
    assert.deepEqual([line?.level, line?.origin], [60, origin]);
    const { message: loggedMessage } = (line?.err ?? {}) as { readonly message?: unknown };
    assert.equal(loggedMessage, message);
    assert.match(JSON.stringify(line), /"at [^"]*faults-on-signals/);
    assert.doesNotMatch(JSON.stringify(line), /not-to-be-logged/);
    const verified = await runMarketplace(['log', 'verify'], { SVC_DATA_DIR: folder });
    assert.equal(verified.code, 0, verified.stderr);
    assert.match(verified.stdout, /^records +1,/m);
  });
}

for (const [engine, reason, preload] of [
  ['uws', /^uWebSockets\.js \d+\.\d+\.\d+ /, undefined],
  ['node', /no binary for this machine/, 'programs/without-uws.ts'],
] as const) {
  test(`on ${engine}, the server logs its engine, addresses, settings and warnings at the start`, async (t) => {
    const folder = temporaryFolder(t);
    const settings = { SVC_DURABILITY: 'write', SVC_FLAVOUR: '1', SVC_WIDGET_URL: 'http://127.0.0.1:6000' };
    const served = new ServedProcess(t, { SVC_DATA_DIR: folder, ...settings }, preload);
    const { time, level, msg, version, httpEngineReason, maxSessions, ...line } =
      await served.logged('service started');
    const ports = await served.ports();
    assert.deepEqual([typeof time, level, typeof maxSessions], ['number', 30, 'number']);
    assert.match(String(version), /^\d+\.\d+\.\d+/);
    assert.deepEqual(line, {
      node: process.version,
      httpEngine: engine,
      url: `http://127.0.0.1:${ports.public}`,
      public: { host: '127.0.0.1', port: ports.public },
      operations: { host: '127.0.0.1', port: ports.operations },
      dataDir: folder,
      verticals: ['personal-loans', 'credit-cards', 'mortgage', 'banking', 'find-advisor'],
      matcherThreads: 0,
      durability: 'write',
    });
    assert.match(String(httpEngineReason), reason);
    const warnings = served.log.filter((each) => each.level === 40 && each.msg !== exampleWarning);
    const reasons = warnings.flatMap((each) => each.reason ?? []);
    assert.deepEqual(reasons, engine === 'uws' ? [] : [httpEngineReason]);
    assert.deepEqual(
      warnings.flatMap((each) => (each.reason === undefined ? each.msg : [])),
      [
        'SVC_FLAVOUR is set, but no setting has this name.',
        'SVC_WIDGET_URL has port 6000, which browsers and fetch block; choose another port.',
      ],
    );
    assert.deepEqual(served.complaints, []);
  });
}

test('a second server on the same data folder cannot start until the first process has ended', async (t) => {
  const folder = temporaryFolder(t);
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder });
  const operations = await served.client(t, 'operations');
  const { config } = loadConfig(readEnv({ SVC_DATA_DIR: folder }));
  await assert.rejects(startServer(config, builtInVerticals, pino({ level: 'silent' }), new AbortController().signal), {
    message: `${folder} is in use by another instance of this service; stop it first`,
  });
  assert.equal((await operations.send({ path: '/readyz' })).status, 200);
  // The operating system releases the lock when the process ends.
  served.signal('SIGKILL');
  await served.ended;
  lockFolder(folder).release();
});

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

/** Starts a server and sends it a session request without the last byte. */
async function withPendingRequest(t: TestContext, settings: Readonly<Record<string, string>>) {
  const folder = temporaryFolder(t);
  const { key } = await createKey(folder);
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder, ...settings });
  const ports = await served.ports();
  const operations = await served.client(t, 'operations');
  const busy = await connectionTo(t, ports.public);
  const body = '{"referrer_tag":"last"}';
  busy.send(sessionHead(key, body.length) + body.slice(0, -1));
  for (;;) {
    const { text } = await operations.send({ path: '/metrics' });
    if (/^marketplace_requests_in_flight 1$/m.test(text)) return { folder, served, ports, operations, busy };
  }
}

test('the first start with a locked key file succeeds without creating API keys', async (t) => {
  const folder = temporaryFolder(t);
  await createKey(folder);
  const database = new Database(keyFilePath(folder));
  runAfterTest(t, () => database.close());
  database.exec('DELETE FROM keys');
  database.exec('BEGIN IMMEDIATE');
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder });
  await served.greeting;
  served.signal('SIGTERM');
  assert.deepEqual([await served.ended, served.complaints], [{ code: 0, signal: null }, []]);
});

const keyText = /svc_pl_(?:live|test)_[0-9a-f]{48}/g;

test('the first start writes the new API keys and the operator token to private files and prints the paths', async (t) => {
  const folder = temporaryFolder(t);
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder });
  const http = await served.client(t);
  await served.firstKeys();
  const path = join(folder, 'first-keys.txt');
  const printed = served.printed.join('\n');
  assert.ok(printed.includes(path));
  assert.doesNotMatch(printed, keyText);
  const tokenFile = join(folder, 'operator-token');
  assert.ok(printed.includes(`is in ${tokenFile}\n`));
  assert.ok(!printed.includes(readFileSync(tokenFile, 'utf8').trim()));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const [live = '', sandbox = '', exampleKey] = readFileSync(path, 'utf8').match(keyText) ?? [];
  assert.equal(exampleKey, sandbox);
  for (const [key, isSandbox] of [
    [live, false],
    [sandbox, true],
  ] as const) {
    const session = await new ApiCaller(http, 'personal-loans', key).createSession('first-try');
    assert.equal(session.sandbox, isSandbox);
  }
});

const noTerminals = spawnSync('script', ['--version']).status !== 0 && 'the script command is missing';

test('the first start on a terminal prints the API keys and writes no file', { skip: noTerminals }, async (t) => {
  const folder = temporaryFolder(t);
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
