import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { afterwards } from '../support/afterwards.ts';
import { ServiceConnection } from '../support/service-connection.ts';

/** No service would answer so, so what answers is none: it says what it is told, whatever it is asked. */
async function connectionAnswered(
  t: TestContext,
  ...answers: readonly (string | Buffer)[]
): Promise<ServiceConnection> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(Buffer.concat(answers.map((answer) => Buffer.from(answer))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = await ServiceConnection.open((server.address() as AddressInfo).port);
  afterwards(t, () => {
    connection.close();
    server.close();
  });
  return connection;
}

const id = 'X-Content-Type-Options: nosniff\r\nX-Request-Id: 0123456789-1';
const bare = 'Content-Length: 0\r\n\r\n';
const click = 'GET /c HTTP/1.1\r\nHost: test\r\n\r\n';
const script = 'GET /w/widget.js HTTP/1.1\r\nHost: test\r\n\r\n';
const notModified = `HTTP/1.1 304 Not Modified\r\n${id}\r\n\r\n`;
const askAgain = `HTTP/1.1 503 Service Unavailable\r\n${id}\r\nCache-Control: no-store\r\nRetry-After: 1\r\n${bare}`;

function json(status: string, body: unknown): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status}\r\n${id}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

const malformed = (code: string) => json('400 Bad Request', { error: code, message: '' });

test('an answer is held against what the document says of its own request', async (t) => {
  const right = await connectionAnswered(t, askAgain, notModified);
  right.send(click + script);
  assert.deepEqual([(await right.response()).status, (await right.response()).status], [503, 304]);
  const wrong = await connectionAnswered(t, askAgain, notModified);
  wrong.send(script + click);
  await assert.rejects(wrong.response(), /no application\/json|has no|media|knows no/);
});

test('a compressed body is unpacked for it', async (t) => {
  const bytes = gzipSync('const a = 1;');
  const head = `HTTP/1.1 200 OK\r\n${id}\r\nContent-Type: text/javascript\r\nContent-Encoding: gzip\r\n`;
  const right = await connectionAnswered(t, `${head}Content-Length: ${bytes.length}\r\n\r\n`, bytes);
  right.send(script);
  assert.deepEqual((await right.response()).body, bytes);
  const wrong = await connectionAnswered(t, `${head}Content-Length: 5\r\n\r\nplain`);
  wrong.send(script);
  await assert.rejects(wrong.response(), { code: 'Z_DATA_ERROR' });
});

test('what is no request gets an error that the document has', async (t) => {
  const right = await connectionAnswered(t, malformed('INVALID_REQUEST'));
  right.send('nonsense\r\n\r\n');
  assert.equal((await right.response()).status, 400);
  for (const answer of [malformed('NO_REQUEST'), malformed('NOT_FOUND'), notModified]) {
    const wrong = await connectionAnswered(t, answer);
    wrong.send('nonsense\r\n\r\n');
    await assert.rejects(wrong.response());
  }
});

test('an answer without an id is one of the few that an engine gives, with nothing of ours in it and nothing behind', async (t) => {
  for (const answer of [
    'HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n<h1>431</h1>',
    `HTTP/1.1 505 HTTP Version Not Supported\r\n${bare}`,
  ]) {
    const right = await connectionAnswered(t, answer);
    right.send(click);
    await right.response();
  }
  for (const answer of [
    `HTTP/1.1 200 OK\r\n${bare}`,
    `HTTP/1.1 417 Expectation Failed\r\n${bare}`,
    `HTTP/1.1 400 Bad Request\r\nX-RateLimit-Limit: 1\r\n${bare}`,
    `HTTP/1.1 400 Bad Request\r\n${bare}${notModified}`,
    malformed('INVALID_REQUEST').replace(`${id}\r\n`, ''),
  ]) {
    const wrong = await connectionAnswered(t, answer);
    wrong.send(click);
    await assert.rejects(wrong.response(), assert.AssertionError);
  }
});

test('a failed check is told to whoever waits for the end of a connection', async (t) => {
  const wrong = await connectionAnswered(t, notModified);
  wrong.send(click);
  await assert.rejects(wrong.responseOrEnd(), assert.AssertionError);
});
