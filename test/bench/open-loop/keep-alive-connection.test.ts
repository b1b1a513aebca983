import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { KeepAliveConnection, ResponseParser } from '../../../bench/open-loop/keep-alive-connection.ts';
import { listen } from '../../support/listen.ts';

const request = Buffer.from('GET / HTTP/1.1\r\n\r\n');
const answer = (status: number, headers = '') => `HTTP/1.1 ${status} Any\r\n${headers}Content-Length: 0\r\n\r\n`;

/** Connects to a server of the test. `sockets` emits each socket that the server accepts. */
async function connected(t: TestContext) {
  const sockets = new EventEmitter();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    sockets.emit('accepted', socket);
  });
  const port = await listen(t, server);
  const events = new EventEmitter();
  const accepted = once(sockets, 'accepted');
  const free = once(events, 'free');
  const connection = new KeepAliveConnection(port, {
    onResponse: (status) => events.emit('answer', status),
    onRequestFailed: () => events.emit('lost'),
    onIdle: () => events.emit('free'),
  });
  t.after(() => connection.end());
  const [socket] = (await accepted) as [Socket];
  await free;
  return { connection, events, sockets, socket };
}

test('sends the next request after each response', async (t) => {
  const { connection, events, socket } = await connected(t);
  for (const status of [200, 503]) {
    connection.send(request);
    assert.equal(connection.isIdle, false);
    const answered = once(events, 'answer');
    socket.write(answer(status));
    assert.deepEqual(await answered, [status]);
    assert.equal(connection.isIdle, true);
  }
});

for (const [name, event, end] of [
  ['that breaks', 'lost', (socket: Socket) => socket.destroy()],
  ['with an unreadable answer', 'lost', (socket: Socket) => socket.write('SSH-2.0-server\r\n\r\n')],
  [
    'that the server closes with a response',
    'answer',
    (socket: Socket) => socket.write(answer(200, 'Connection: close\r\n')),
  ],
] as const) {
  test(`opens a new connection after the current connection ${name}`, async (t) => {
    const { connection, events, sockets, socket } = await connected(t);
    connection.send(request);
    const next = Promise.all([once(events, event), once(sockets, 'accepted'), once(events, 'free')]);
    await once(socket, 'data');
    end(socket);
    await next;
    assert.equal(connection.isIdle, true);
  });
}

test('ignores a response that arrives after its request was abandoned', async (t) => {
  const { connection, events, sockets, socket } = await connected(t);
  const statuses: number[] = [];
  events.on('answer', (status: number) => statuses.push(status));
  connection.send(request);
  await once(socket, 'data');
  const next = Promise.all([once(sockets, 'accepted'), once(events, 'free')]);
  connection.abandonPendingRequest();
  socket.write(answer(500));
  const [[other]] = (await next) as [[Socket], unknown];
  connection.send(request);
  const answered = once(events, 'answer');
  other.write(answer(200));
  await answered;
  assert.deepEqual(statuses, [200]);
});

const answers =
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nab\r\n\r' +
  'HTTP/1.1 302 Found\r\ncontent-length:0\r\n\r\n' +
  'HTTP/1.1 204 No Content\r\nDate: today\r\n\r\n' +
  'HTTP/1.1 304 Not Modified\r\nContent-Length: 300\r\n\r\n' +
  'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 3\r\n\r\nHTT';
const parsed = [
  [200, false],
  [302, false],
  [204, false],
  [304, false],
  [503, true],
];

function parse(chunks: Iterable<Buffer>): (readonly [number, boolean])[] {
  const found: (readonly [number, boolean])[] = [];
  const parser = new ResponseParser();
  for (const chunk of chunks) parser.parseChunk(chunk, (status, closes) => found.push([status, closes]));
  return found;
}

test('parses the same responses from chunks of any size', () => {
  const bytes = Buffer.from(answers);
  for (let size = 1; size <= bytes.length; size++) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    assert.deepEqual(parse(chunks), parsed, `in pieces of ${size}`);
  }
});

for (const [name, text, error] of [
  ['something else than HTTP', 'SSH-2.0-server\r\n\r\n', /no status line/],
  ['an answer without a length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', /no Content-Length/],
  ['an informational response', 'HTTP/1.1 100 Continue\r\n\r\n', /informational/],
  ['a response head that is too long', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(70_000)}`, /too long/],
] as const) {
  test(`the response parser rejects ${name}`, () => {
    assert.throws(() => parse([Buffer.from(text)]), error);
  });
}
