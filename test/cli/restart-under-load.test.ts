import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createMarketplace } from '../../src/index.ts';
import type { RawResponse } from '../http/raw-connection.ts';
import { afterwards } from '../support/afterwards.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { ServedProcess } from './served-process.ts';

const restarts = 1;
const clients = 24;
const sessionsBeforeStop = 40;
const tag = 'restarted';

type Operation = 'session' | 'inputs' | 'marketplace' | 'click';

/** Acknowledged operations of a session. */
interface AcknowledgedSession {
  readonly subId: string;
  inputs: boolean;
  clicks: number;
}

/** All acknowledged operations, and the number of requests without a response. */
interface AcknowledgedWork {
  readonly sessions: AcknowledgedSession[];
  readonly unanswered: { [Name in Operation]: number };
}

/** The server closed the connection after the stop signal. */
class ConnectionClosed extends Error {}

/** Keep-alive connection of a partner. Requests sent before the stop signal must get a response. */
class LoadedConnection {
  readonly #connection: ServiceConnection;
  readonly #key: string;
  readonly #work: AcknowledgedWork;
  readonly #stopRequested: () => boolean;
  #closed = false;

  constructor(connection: ServiceConnection, key: string, work: AcknowledgedWork, stopRequested: () => boolean) {
    this.#connection = connection;
    this.#key = key;
    this.#work = work;
    this.#stopRequested = stopRequested;
  }

  async request(operation: Operation, method: 'GET' | 'POST', path: string, body = ''): Promise<RawResponse> {
    if (this.#closed) throw new ConnectionClosed();
    const sentBefore = !this.#stopRequested();
    const authorization = `Authorization: Bearer ${this.#key}\r\nContent-Type: application/json\r\n`;
    const length = method === 'POST' ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : '';
    this.#connection.send(`${method} ${path} HTTP/1.1\r\nHost: test\r\n${authorization}${length}\r\n${body}`);
    const answer = await this.#connection.responseOrEnd();
    if (answer === null) {
      if (sentBefore) throw new Error('a request sent before the signal got no response');
      this.#work.unanswered[operation] += 1;
      throw new ConnectionClosed();
    }
    if (answer.headers.get('connection') === 'close') {
      assert.ok(this.#stopRequested(), 'the server closed a connection before the signal');
      await this.#connection.closed;
      this.#closed = true;
    }
    return answer;
  }
}

/** Returns whether the operation succeeded; if not, it must have been refused with 503. */
function succeeded({ status, headers }: RawResponse, expected: number): boolean {
  if (status === expected) return true;
  assert.equal(status, 503);
  assert.ok(headers.get('retry-after'));
  return false;
}

/** Runs sessions one after the other until the connection is closed. */
async function visit(connection: LoadedConnection, work: AcknowledgedWork): Promise<never> {
  const base = '/v1/personal-loans';
  for (;;) {
    const created = await connection.request(
      'session',
      'POST',
      `${base}/session`,
      JSON.stringify({ referrer_tag: tag }),
    );
    if (!succeeded(created, 200)) continue;
    const { sub_id: subId } = JSON.parse(created.body.toString()) as { sub_id: string };
    const session: AcknowledgedSession = { subId, inputs: false, clicks: 0 };
    work.sessions.push(session);
    const fields = JSON.stringify({ sub_id: subId, fields: fixture.complete });
    session.inputs = succeeded(await connection.request('inputs', 'POST', `${base}/inputs`, fields), 200);
    if (!session.inputs) continue;
    const shown = await connection.request('marketplace', 'GET', `${base}/marketplace?sub_id=${subId}&format=json`);
    if (!succeeded(shown, 200)) continue;
    const { offers } = JSON.parse(shown.body.toString()) as { offers: { click_url: string }[] };
    for (const { click_url: url } of offers.slice(0, 2)) {
      const { pathname, search } = new URL(url);
      const clicked = await connection.request('click', 'GET', pathname + search);
      assert.equal(clicked.status, 302);
      session.clicks += 1;
    }
  }
}

/** Runs the service under load, stops it, and waits for its exit. */
async function loadAndStop(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
  key: string,
  work: AcknowledgedWork,
) {
  const served = new ServedProcess(t, settings);
  const { public: port } = await served.ports();
  let stopRequested = false;
  const stopAtSessions = work.sessions.length + sessionsBeforeStop;
  const loads = Array.from({ length: clients }, async () => {
    const connection = await ServiceConnection.open(port);
    afterwards(t, () => connection.close());
    await visit(new LoadedConnection(connection, key, work, () => stopRequested), work).catch((error: unknown) => {
      if (!(error instanceof ConnectionClosed)) throw error;
    });
  });
  const loaded = Promise.all(loads);
  while (work.sessions.length < stopAtSessions) {
    await Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, 1))]);
  }
  stopRequested = true;
  served.signal('SIGTERM');
  await loaded;
  assert.deepEqual(await served.ended, { code: 0, signal: null });
  assert.deepEqual([served.log, served.complaints], [[], []]);
}

test('a restart under load loses no acknowledged event and leaves no request without a response', async (t) => {
  const folder = temporaryFolder();
  afterwards(t, () => rmSync(folder, { recursive: true }));
  const marketplace = await createMarketplace({ dataDir: folder });
  const limits = { requestsPerMinute: 1_000_000, analyticsPerMinute: 1_000, sessionsPerDay: 1_000_000 };
  const { key } = marketplace.keys.create({ account: 'load', vertical: 'personal-loans', mode: 'live', limits });
  await marketplace.close();
  const settings = {
    SVC_DATA_DIR: folder,
    SVC_MATCHER_THREADS: '1',
    SVC_LOG_LEVEL: 'warn',
  };
  const work: AcknowledgedWork = { sessions: [], unanswered: { session: 0, inputs: 0, marketplace: 0, click: 0 } };
  for (let count = 0; count < restarts; count += 1) await loadAndStop(t, settings, key, work);

  const served = new ServedProcess(t, settings);
  const http = new HttpClient((await served.ports()).public);
  afterwards(t, () => http.close());
  const caller = new ApiCaller(http, fixture.vertical.segment, key);
  const figures = await caller.summary({ referrer_tag: tag });
  const { sessions, unanswered } = work;
  const clicks = sessions.reduce((sum, session) => sum + session.clicks, 0);
  assert.ok(clicks > 0);
  // Requests without a response may have been processed or not.
  const between = (value: number, min: number, extra: number) => assert.ok(value >= min && value <= min + extra);
  between(figures.sessions_total, sessions.length, unanswered.session);
  between(figures.offer_clicks, clicks, unanswered.click);
  for (const { subId, inputs } of sessions) {
    const { status, text } = await caller.get('marketplace', { sub_id: subId, format: 'json' });
    if (inputs) assert.equal(status, 200, text);
    else assert.match(text, /INSUFFICIENT_INPUTS|offers/);
  }
  served.signal('SIGTERM');
  assert.deepEqual(await served.ended, { code: 0, signal: null });
});
