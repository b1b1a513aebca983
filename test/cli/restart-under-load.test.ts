import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { createMarketplace } from '../../src/index.ts';
import type { RawResponse } from '../http/raw-connection.ts';
import { afterwards } from '../support/afterwards.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { personalLoansFixture as fixture } from '../support/personal-loans-fixture.ts';
import { temporaryFolder } from '../support/running-marketplace.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { ServedProcess } from './served-process.ts';

const restarts = 2;
const clients = 24;
const sessionsBeforeStop = 40;
const tag = 'restarted';

type Operation = 'session' | 'inputs' | 'marketplace' | 'click';

/** What a session has been told is done. */
interface Acknowledged {
  readonly subId: string;
  inputs: boolean;
  clicks: number;
}

/** Everything that was acknowledged, and how many requests were sent whose fate nobody was told. */
interface Book {
  readonly sessions: Acknowledged[];
  readonly untold: { [Name in Operation]: number };
}

/** The connection has ended, after the stop was asked for. */
class ConnectionOver extends Error {}

/** One keep-alive connection of a partner. Whatever was sent before the stop was asked for must be answered. */
class LoadedConnection {
  readonly #connection: ServiceConnection;
  readonly #key: string;
  readonly #book: Book;
  readonly #stopAsked: () => boolean;
  #over = false;

  constructor(connection: ServiceConnection, key: string, book: Book, stopAsked: () => boolean) {
    this.#connection = connection;
    this.#key = key;
    this.#book = book;
    this.#stopAsked = stopAsked;
  }

  async ask(operation: Operation, method: 'GET' | 'POST', path: string, body = ''): Promise<RawResponse> {
    if (this.#over) throw new ConnectionOver();
    const sentBefore = !this.#stopAsked();
    const authorization = `Authorization: Bearer ${this.#key}\r\nContent-Type: application/json\r\n`;
    const length = method === 'POST' ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : '';
    this.#connection.send(`${method} ${path} HTTP/1.1\r\nHost: test\r\n${authorization}${length}\r\n${body}`);
    const answer = await this.#connection.responseOrEnd();
    if (answer === null) {
      if (sentBefore) throw new Error('a request that was there before the signal got no answer');
      this.#book.untold[operation] += 1;
      throw new ConnectionOver();
    }
    if (answer.headers.get('connection') === 'close') {
      assert.ok(this.#stopAsked(), 'a connection was ended though nobody had asked for a stop');
      await this.#connection.closed;
      this.#over = true;
    }
    return answer;
  }
}

/** Whether it was done; if not, it was refused as may be at the end. */
function done({ status, headers }: RawResponse, expected: number): boolean {
  if (status === expected) return true;
  assert.equal(status, 503);
  assert.ok(headers.get('retry-after'));
  return false;
}

/** Visits one after another until the connection is over. */
async function visit(connection: LoadedConnection, book: Book): Promise<never> {
  const base = '/v1/personal-loans';
  for (;;) {
    const created = await connection.ask('session', 'POST', `${base}/session`, JSON.stringify({ referrer_tag: tag }));
    if (!done(created, 200)) continue;
    const { sub_id: subId } = JSON.parse(created.body.toString()) as { sub_id: string };
    const session: Acknowledged = { subId, inputs: false, clicks: 0 };
    book.sessions.push(session);
    const fields = JSON.stringify({ sub_id: subId, fields: fixture.complete });
    session.inputs = done(await connection.ask('inputs', 'POST', `${base}/inputs`, fields), 200);
    if (!session.inputs) continue;
    const shown = await connection.ask('marketplace', 'GET', `${base}/marketplace?sub_id=${subId}&format=json`);
    if (!done(shown, 200)) continue;
    const { offers } = JSON.parse(shown.body.toString()) as { offers: { click_url: string }[] };
    for (const { click_url: url } of offers.slice(0, 2)) {
      const { pathname, search } = new URL(url);
      const clicked = await connection.ask('click', 'GET', pathname + search);
      assert.equal(clicked.status, 302);
      session.clicks += 1;
    }
  }
}

/** Runs the service under load, stops it in the middle, and returns when it is gone. */
async function loadAndStop(t: TestContext, settings: Readonly<Record<string, string>>, key: string, book: Book) {
  const served = new ServedProcess(t, settings);
  const { public: port } = await served.ports();
  let stopAsked = false;
  const enough = book.sessions.length + sessionsBeforeStop;
  const loads = Array.from({ length: clients }, async () => {
    const connection = await ServiceConnection.open(port);
    afterwards(t, () => connection.close());
    await visit(new LoadedConnection(connection, key, book, () => stopAsked), book).catch((fault: unknown) => {
      if (!(fault instanceof ConnectionOver)) throw fault;
    });
  });
  const loaded = Promise.all(loads);
  while (book.sessions.length < enough) {
    await Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, 1))]);
  }
  stopAsked = true;
  served.signal('SIGTERM');
  await loaded;
  assert.deepEqual(await served.ended, { code: 0, signal: null });
  assert.deepEqual([served.log, served.complaints], [[], []]);
}

for (const engine of ['uws', 'node']) {
  test(`restarts of ${engine} under load lose nothing that was acknowledged, and leave no request unanswered`, async (t) => {
    const folder = temporaryFolder();
    afterwards(t, () => rmSync(folder, { recursive: true }));
    const preparing = await createMarketplace({ dataDir: folder });
    const limits = { requestsPerMinute: 1_000_000, analyticsPerMinute: 1_000, sessionsPerDay: 1_000_000 };
    const { key } = preparing.keys.create({ account: 'load', vertical: 'personal-loans', mode: 'live', limits });
    await preparing.close();
    const settings = {
      SVC_DATA_DIR: folder,
      SVC_LISTENER: engine,
      SVC_MATCHER_THREADS: '1',
      SVC_LOG_LEVEL: 'warn',
    };
    const book: Book = { sessions: [], untold: { session: 0, inputs: 0, marketplace: 0, click: 0 } };
    for (let count = 0; count < restarts; count += 1) await loadAndStop(t, settings, key, book);

    const served = new ServedProcess(t, settings);
    const http = new HttpClient((await served.ports()).public);
    afterwards(t, () => http.close());
    const caller = new ApiCaller(http, fixture.vertical.segment, key);
    const figures = await caller.summary({ referrer_tag: tag });
    const { sessions, untold } = book;
    const clicks = sessions.reduce((sum, session) => sum + session.clicks, 0);
    assert.ok(clicks > 0);
    // What nobody was told of may have happened or not.
    const between = (value: number, least: number, untold: number) =>
      assert.ok(value >= least && value <= least + untold);
    between(figures.sessions_total, sessions.length, untold.session);
    between(figures.offer_clicks, clicks, untold.click);
    for (const { subId, inputs } of sessions) {
      const { status, text } = await caller.get('marketplace', { sub_id: subId, format: 'json' });
      if (inputs) assert.equal(status, 200, text);
      else assert.match(text, /INSUFFICIENT_INPUTS|offers/);
    }
    served.signal('SIGTERM');
    assert.deepEqual(await served.ended, { code: 0, signal: null });
  });
}
