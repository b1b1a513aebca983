import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { RawResponse } from '../http/raw-connection.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { describeService } from '../support/contract-suite.ts';
import { ServiceConnection } from '../support/service-connection.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const crlf = '\r\n';
const sessionBody = '{"referrer_tag":"hostile"}';
const timeoutMs = 5_000;

interface Attacker {
  readonly caller: ApiCaller;
  /** Headers of a request for a session, without framing headers, empty line and body. */
  readonly sessionHead: string;
  /** Headers of a request for analytics, without the empty line at the end. */
  readonly analyticsHead: string;
  readonly open: () => Promise<ServiceConnection>;
}

async function answerOrEnd(connection: ServiceConnection): Promise<RawResponse | null> {
  const late = pause(timeoutMs, 'late' as const, { ref: false });
  const outcome = await Promise.race([finalResponse(connection), late]);
  assert.notEqual(outcome, 'late', 'the request got no response and its connection stayed open');
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

describeService('hostile framing:', ({ running }) => {
  /** Runs an attack, then checks that the process still responds and that no session was created. */
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
      });
    } finally {
      for (const connection of connections) connection.close();
    }
    assert.equal((await market.operations.send({ path: '/healthz' })).status, 200);
    assert.equal((await caller.summary({ referrer_tag: 'hostile' })).sessions_total, 0);
  };

  test(
    'never handles a request that is hidden behind a body',
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
    'does not handle a request behind a rejected body',
    attacking(async ({ sessionHead, open }) => {
      const behind = `${sessionHead}Content-Length: ${sessionBody.length}${crlf}${crlf}${sessionBody}`;
      const connection = await open();
      connection.send(`${sessionHead}Content-Length: 70000${crlf}${crlf}${' '.repeat(70_000)}${behind}`);
      assertRefusedOrClosed(await answerOrEnd(connection), 413);
      await pause(50);
    }),
  );

  test(
    'rejects a body of 10 MB',
    attacking(async ({ sessionHead, open }) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const connection = await open();
      connection.send(`${sessionHead}Content-Length: ${10 * chunk.length}${crlf}${crlf}`);
      for (let sent = 0; sent < 10; sent++) connection.send(chunk);
      const answer = await answerOrEnd(connection);
      assert.equal(answer?.status, 413);
      assert.equal(JSON.parse(String(answer?.body)).error, 'PAYLOAD_TOO_LARGE');
      await connection.closed;
    }),
  );

  test(
    'creates no session from an incomplete request',
    attacking(async ({ sessionHead, open }) => {
      const whole = `${sessionHead}Content-Length: ${sessionBody.length}${crlf}${crlf}${sessionBody}`;
      for (let length = 1; length < whole.length; length += 7) {
        const connection = await open();
        connection.send(whole.slice(0, length));
        connection.socket.end();
        if (length % 2 === 0) connection.close();
      }
      await pause(50);
    }),
  );

  test(
    'never copies line breaks from parameters to response headers',
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
