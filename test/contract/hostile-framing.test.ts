import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { RawResponse } from '../http/raw-connection.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { onEveryEngine } from '../support/doors.ts';
import { personalLoansFixture as fixture } from '../support/personal-loans-fixture.ts';
import { ServiceConnection } from '../support/service-connection.ts';

const crlf = '\r\n';
const sessionBody = '{"referrer_tag":"hostile"}';
const patienceMs = 5_000;

interface Attacker {
  readonly caller: ApiCaller;
  /** A request for a session up to its framing headers; all that is missing is a length, an empty line and a body. */
  readonly sessionHead: string;
  /** A request for analytics up to its last header; all that is missing is an empty line. */
  readonly analyticsHead: string;
  readonly open: () => Promise<ServiceConnection>;
  /** Sends bytes on a connection of their own and waits for the first answer, or for the connection to be closed: null. */
  readonly send: (bytes: string | Buffer) => Promise<RawResponse | null>;
  /** The same, and says that nothing more will come: an engine need not wait for the rest of what is no request. */
  readonly sendAll: (bytes: string | Buffer) => Promise<RawResponse | null>;
}

async function answerOrEnd(connection: ServiceConnection): Promise<RawResponse | null> {
  const late = pause(patienceMs, 'late' as const, { ref: false });
  const outcome = await Promise.race([finalResponse(connection), late]);
  assert.notEqual(outcome, 'late', 'the request was neither answered nor was its connection closed');
  return outcome as RawResponse | null;
}

async function finalResponse(connection: ServiceConnection): Promise<RawResponse | null> {
  for (;;) {
    const answer = await connection.responseOrEnd();
    if (answer === null || answer.status >= 200) return answer;
  }
}

function assertRefusedOrClosed(answer: RawResponse | null, ...statuses: number[]): void {
  if (answer === null) return;
  assert.ok(statuses.includes(answer.status), `${answer.status} ${answer.body}`);
}

onEveryEngine('hostile framing:', ({ running }) => {
  /** Runs the attack; afterwards the process must answer, and no session may have come of it. */
  const attacking = (attack: (attacker: Attacker) => Promise<void>) => async () => {
    const market = running();
    const caller = market.caller(fixture, { limits: { requestsPerMinute: 10_000 } });
    const connections: ServiceConnection[] = [];
    const open = async () => {
      const connection = await ServiceConnection.open(caller.http.port);
      connections.push(connection);
      return connection;
    };
    const common = `Host: test${crlf}Authorization: Bearer ${caller.key}${crlf}`;
    try {
      await attack({
        caller,
        sessionHead: `POST ${caller.basePath}/session HTTP/1.1${crlf}${common}Content-Type: application/json${crlf}`,
        analyticsHead: `GET ${caller.basePath}/analytics?referrer_tag=hostile HTTP/1.1${crlf}${common}`,
        open,
        send: async (bytes) => {
          const connection = await open();
          connection.send(bytes);
          return answerOrEnd(connection);
        },
        sendAll: async (bytes) => {
          const connection = await open();
          connection.sendLast(bytes);
          return answerOrEnd(connection);
        },
      });
    } finally {
      for (const connection of connections) connection.close();
    }
    assert.equal((await market.operations.send({ path: '/healthz' })).status, 200);
    assert.equal((await caller.summary({ referrer_tag: 'hostile' })).sessions_total, 0);
  };

  test(
    'lengths given twice, ill-written or beside a transfer coding are refused',
    attacking(async ({ sessionHead, send }) => {
      const length = sessionBody.length;
      const chunked = `${length.toString(16)}${crlf}${sessionBody}${crlf}0${crlf}${crlf}`;
      const framings: readonly (readonly [headers: readonly string[], body: string])[] = [
        [[`Content-Length: ${length}`, `Content-Length: ${length}`], sessionBody],
        [[`Content-Length: ${length}`, 'Content-Length: 0'], sessionBody],
        [['Content-Length: 0', `Content-Length: ${length}`], sessionBody],
        [[`Content-Length: ${length}, ${length}`], sessionBody],
        [[`Content-Length: +${length}`], sessionBody],
        [['Content-Length: -1'], sessionBody],
        [[`Content-Length: 0x${length.toString(16)}`], sessionBody],
        [['Content-Length: 99999999999999999999'], sessionBody],
        [['Content-Length: NaN'], sessionBody],
        [['Transfer-Encoding: Chunked', `Content-Length: ${length}`], chunked],
        [[`Content-Length: ${length}`, 'Transfer-Encoding: chunked'], chunked],
        [['Transfer-Encoding: gzip, chunked'], chunked],
        [['Transfer-Encoding: identity', `Content-Length: ${length}`], sessionBody],
        [['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], chunked],
        [['Transfer-Encoding : chunked'], chunked],
      ];
      for (const [headers, body] of framings) {
        const answer = await send(`${sessionHead}${headers.join(crlf)}${crlf}${crlf}${body}`);
        assertRefusedOrClosed(answer, 400, 413);
      }
    }),
  );

  test(
    'a request smuggled behind a body is never carried out',
    attacking(async ({ sessionHead, analyticsHead, open }) => {
      const smuggled = `${sessionHead}Content-Length: ${sessionBody.length}${crlf}${crlf}${sessionBody}`;
      const carriers = [
        `${sessionHead}Content-Length: ${smuggled.length + 5}${crlf}Transfer-Encoding: chunked${crlf}${crlf}0${crlf}${crlf}${smuggled}`,
        `${sessionHead}Content-Length: 0${crlf}Content-Length: ${smuggled.length}${crlf}${crlf}${smuggled}`,
        `${analyticsHead}Transfer-Encoding: chunked${crlf}${crlf}0${crlf}${crlf}${smuggled}`,
      ];
      for (const carrier of carriers) {
        const connection = await open();
        connection.send(carrier);
        await answerOrEnd(connection);
      }
      await pause(50);
    }),
  );

  test(
    'a request behind a body that was refused is not carried out: its sender was told that the connection ends',
    attacking(async ({ sessionHead, open }) => {
      const behind = `${sessionHead}Content-Length: ${sessionBody.length}${crlf}${crlf}${sessionBody}`;
      const connection = await open();
      connection.send(`${sessionHead}Content-Length: 70000${crlf}${crlf}${' '.repeat(70_000)}${behind}`);
      assertRefusedOrClosed(await answerOrEnd(connection), 413);
      await pause(50);
    }),
  );

  test(
    'heads over 40 KiB get 431, however they are made',
    attacking(async ({ caller, analyticsHead, send }) => {
      const long = 'x'.repeat(41 * 1024);
      const many = Array.from({ length: 2_000 }, (_, at) => `X-Header-${at}: ${'v'.repeat(12)}`).join(crlf);
      const heads = [
        `${analyticsHead}X-Long: ${long}${crlf}${crlf}`,
        `${analyticsHead}${long}: x${crlf}${crlf}`,
        `${analyticsHead}${many}${crlf}${crlf}`,
        `GET ${caller.basePath}/analytics?sub_id_list=${long} HTTP/1.1${crlf}Host: test${crlf}${crlf}`,
      ];
      for (const head of heads) assertRefusedOrClosed(await send(head), 431);
      const answers = await Promise.all(heads.map((head) => send(head)));
      assert.ok(answers.some((answer) => answer?.status === 431));
    }),
  );

  test(
    'a head of 40 KiB is read like any other',
    attacking(async ({ analyticsHead, send }) => {
      const rest = `X-Long: ${crlf}${crlf}`;
      const filling = 'x'.repeat(40 * 1024 - analyticsHead.length - rest.length);
      const answer = await send(`${analyticsHead}X-Long: ${filling}${crlf}${crlf}`);
      assert.equal(answer?.status, 200);
    }),
  );

  test(
    'a body of 10 MB is refused without being kept',
    attacking(async ({ sessionHead, open }) => {
      const piece = Buffer.alloc(1024 * 1024, ' ');
      const connection = await open();
      connection.send(`${sessionHead}Content-Length: ${10 * piece.length}${crlf}${crlf}`);
      for (let sent = 0; sent < 10; sent++) connection.send(piece);
      const answer = await answerOrEnd(connection);
      assert.equal(answer?.status, 413);
      assert.equal(JSON.parse(String(answer?.body)).error, 'PAYLOAD_TOO_LARGE');
      await connection.closed;
    }),
  );

  test(
    'bodies and heads of which only a part arrives come to nothing',
    attacking(async ({ sessionHead, open }) => {
      const whole = `${sessionHead}Content-Length: ${sessionBody.length}${crlf}${crlf}${sessionBody}`;
      for (let at = 1; at < whole.length; at += 7) {
        const connection = await open();
        connection.send(whole.slice(0, at));
        connection.socket.end();
        if (at % 2 === 0) connection.close();
      }
      await pause(50);
    }),
  );

  test(
    'a body that stays away is answered 503 at the deadline',
    attacking(async ({ sessionHead, send }) => {
      const answer = await send(`${sessionHead}Content-Length: 100${crlf}${crlf}{"referrer_tag":`);
      assert.equal(answer?.status, 503);
      assert.equal(JSON.parse(String(answer?.body)).error, 'SERVICE_UNAVAILABLE');
      assert.ok(Number(answer?.headers.get('retry-after')) >= 1);
    }),
  );

  test(
    'a client that leaves before its answer, or in the middle of it, harms nobody',
    attacking(async ({ caller, analyticsHead, open }) => {
      const subId = await caller.sessionWith('leaving', fixture.complete);
      const query = `sub_id=${subId}&format=json&max_offers=20`;
      const offers = analyticsHead.replace(/analytics\?\S+/, `marketplace?${query}`);
      for (let times = 0; times < 20; times++) {
        for (const request of [offers, analyticsHead]) {
          const connection = await open();
          connection.send(`${request}${crlf}`);
          if (times % 2 === 0) connection.close();
          else connection.socket.once('data', () => connection.socket.resetAndDestroy());
        }
      }
      await pause(50);
      assert.ok((await caller.offers(subId)).offers.length > 0);
    }),
  );

  test(
    'requests sent without waiting are answered in order, or the connection is closed',
    attacking(async ({ caller, open }) => {
      const connection = await open();
      const paths = ['/nothing', '/c', `${caller.basePath}/session`, `${caller.basePath}/analytics`];
      const statuses = [404, 404, 405, 401];
      const all = Array.from({ length: 25 }, () => paths).flat();
      connection.send(all.map((path) => `GET ${path} HTTP/1.1${crlf}Host: test${crlf}${crlf}`).join(''));
      for (const at of all.keys()) {
        const answer = await answerOrEnd(connection);
        if (answer === null) break;
        assert.equal(answer.status, statuses[at % statuses.length]);
      }
    }),
  );

  test(
    'request lines that are none, or name something else, are refused',
    attacking(async ({ caller, sendAll }) => {
      const rest = `Host: test${crlf}Authorization: Bearer ${caller.key}${crlf}${crlf}`;
      const path = `${caller.basePath}/analytics?referrer_tag=hostile`;
      const lines = [
        'GET * HTTP/1.1',
        'OPTIONS * HTTP/1.1',
        'CONNECT evil.example:443 HTTP/1.1',
        `get ${path} HTTP/1.1`,
        `Get ${path} HTTP/1.1`,
        `${'G'.repeat(2_000)} ${path} HTTP/1.1`,
        ` GET ${path} HTTP/1.1`,
        `GET\t${path}\tHTTP/1.1`,
        `GET ${path} HTTP/3.7`,
        `GET ${path} FTP/1.1`,
        'GET  HTTP/1.1',
        'PRI * HTTP/2.0',
        'GET ../../etc/passwd HTTP/1.1',
        'GET /../../etc/passwd HTTP/1.1',
        'GET //evil.example/%2e%2e/%2e%2e HTTP/1.1',
        'GET /%00 HTTP/1.1',
        'GET /%zz% HTTP/1.1',
        'GET /\x00 HTTP/1.1',
        'GET /\xff\xfe HTTP/1.1',
        'GET /v1/personal-loans/analytics#fragment HTTP/1.1',
      ];
      for (const line of lines) {
        const answer = await sendAll(Buffer.from(`${line}${crlf}${rest}`, 'latin1'));
        assertRefusedOrClosed(answer, 400, 404, 405, 501, 505);
      }
      for (const bytes of [
        '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
        '\x00'.repeat(100),
        `${crlf}${crlf}${crlf}x`,
      ]) {
        assertRefusedOrClosed(await sendAll(Buffer.from(`${bytes}${crlf}${crlf}`, 'latin1')), 400, 404, 505);
      }
    }),
  );

  test(
    'headers that are none, or come twice, are refused or read one way',
    attacking(async ({ caller, analyticsHead, sendAll }) => {
      const headers = [
        'No-Colon',
        ': no name',
        'Space : before',
        ' Folded: header',
        'X-Nul: a\x00b',
        'X-Return: a\rb',
        'X-High: \xff\xfe',
        'X-Empty:',
        'Host: other',
        'Authorization: Bearer other',
        'Content-Type: text/plain',
        'Expect: 100-continue',
        'Expect: something',
        'Upgrade: websocket',
        'Connection: Upgrade',
      ];
      for (const header of headers) {
        const answer = await sendAll(Buffer.from(`${analyticsHead}${header}${crlf}${crlf}`, 'latin1'));
        assertRefusedOrClosed(answer, 200, 400, 401);
      }
      const unkeyed = `GET ${caller.basePath}/analytics?referrer_tag=hostile HTTP/1.1${crlf}`;
      assertRefusedOrClosed(await sendAll(`${unkeyed}${crlf}`), 400, 401);
      const foreign = `Authorization: Bearer other${crlf}Authorization: Bearer ${caller.key}${crlf}`;
      assertRefusedOrClosed(await sendAll(`${unkeyed}Host: test${crlf}${foreign}${crlf}`), 400, 401);
    }),
  );

  test(
    'line breaks in values never become headers of an answer',
    attacking(async ({ caller }) => {
      const { offers } = await caller.offers(await caller.sessionWith('injecting', fixture.complete));
      const click = new URL(offers[0]?.click_url as string);
      const evil = '%0d%0aX-Injected:%20yes%0d%0a%0d%0a<html>';
      const paths = [
        `${caller.basePath}/marketplace?sub_id=${evil}&format=json`,
        `${caller.basePath}/analytics?referrer_tag=${evil}`,
        `/c?sub=${evil}&offer=${evil}&v=${evil}`,
        `${click.pathname}${click.search}&x=${evil}`,
        `${click.pathname}${click.search.replace(/offer=[^&]*/, `offer=${evil}`)}`,
        `/${evil}`,
      ];
      for (const path of paths) {
        const headers = { Authorization: `Bearer ${caller.key}` };
        const answer = await caller.http.send({ path, headers });
        assert.equal(answer.headers.has('x-injected'), false);
        assert.ok(!answer.text.includes('X-Injected'));
      }
    }),
  );
});
