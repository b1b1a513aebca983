import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { bounds } from '../../src/bounds.ts';
import type { RequestContext } from '../../src/http/engines/listener.ts';
import {
  ask,
  chunk,
  chunkedHead,
  closeWithDelay,
  echo,
  get,
  hello,
  lastChunk,
  post,
  refuses,
  test,
  testAlsoOverTls,
  text,
  unbufferedBody,
  until,
} from './listener-bench.ts';
import { RawConnection } from './raw-connection.ts';

test('replies in order to pipelined requests whose handlers reply immediately', async ({ serve, engine }) => {
  const { connection } = await serve((x) => x.reply(text(x.path)));
  connection.send(get('/1') + post('/2', 'body') + get('/3'));
  for (const path of ['/1', '/2', '/3']) assert.equal((await connection.response()).body.toString(), path);
  const many = Array.from({ length: engine === 'uws' ? 150 : bounds.pipelinedRequestsMax }, (_, at) => `/${at}`);
  connection.send(many.map((path) => get(path)).join(''));
  for (const path of many) assert.equal((await connection.response()).body.toString(), path);
});

test('never replies to pipelined requests out of order, even if the first is slow', async ({ serve, engine }) => {
  const { listener, connection } = await serve(async (x) => {
    if (x.path === '/slow') await new Promise((resolve) => setTimeout(resolve, 20));
    x.reply(text(x.path));
  });
  connection.send(get('/slow') + get('/next'));
  if (engine === 'uws') {
    // The native engine closes the connection instead of queueing requests.
    await connection.closed;
    assert.equal(connection.rest, '');
  } else {
    assert.equal((await connection.response()).body.toString(), '/slow');
    assert.equal((await connection.response()).body.toString(), '/next');
  }
  await until(() => listener.inFlightCount === 0);
});

test('closes a connection with too many pipelined requests', async ({ serve }) => {
  let most = 0;
  const { listener, connection } = await serve(() => {
    most = Math.max(most, listener.inFlightCount);
  });
  connection.send(get('/').repeat(1000));
  await connection.closed;
  await until(() => listener.inFlightCount === 0);
  assert(most <= bounds.pipelinedRequestsMax);
});

testAlsoOverTls('handles only the first of thousands of pipelined requests', async ({ start, open, engine }) => {
  let handled = 0;
  let parsed = 0;
  await start((x) => {
    handled += 1;
    if (x.path === '/read') return echo(x);
    return x.path === '/pending' ? undefined : hello(x);
  });
  const countRequest = (): void => {
    parsed += 1;
  };
  subscribe('http.server.request.start', countRequest);
  try {
    for (const request of [
      get('/'),
      get('/pending'),
      'GET / HTTP/1.1\r\n\r\n',
      post('/', '', 'Connection: keep-alive\r\n'),
      post('/', 'body'),
      ...(engine === 'node' ? [post('/read', 'body')] : []),
    ]) {
      [handled, parsed] = [0, 0];
      const connection = await open();
      connection.send(request.repeat(2_000));
      await connection.closed;
      const handledMax = engine === 'uws' ? bounds.repliesPerTurnMax + 1 : bounds.pipelinedRequestsMax;
      assert(handled <= handledMax, `${handled} requests handled: ${request}`);
      // Of the bytes that the socket has received, Node.js parses only one more request.
      assert(parsed <= bounds.pipelinedRequestsMax + 1, `${parsed} requests parsed: ${request}`);
    }
  } finally {
    unsubscribe('http.server.request.start', countRequest);
  }
});

testAlsoOverTls(
  'node:http parses only a part of a refused body with thousands of small chunks',
  async ({ start, open, engine }) => {
    if (engine === 'uws') return;
    let finished = 0;
    const countResponse = (): void => {
      finished += 1;
    };
    subscribe('http.server.response.finish', countResponse);
    await start((x) => x.reply(text('unauthorized', 401)));
    for (const [chunks, finishedReplies] of [
      [bounds.refusedBodyChunksPerTurnMax / 2, 1],
      [bounds.refusedBodyChunksPerTurnMax * 4, 0],
    ] as const) {
      finished = 0;
      const connection = await open();
      connection.send(chunkedHead('/') + chunk('x').repeat(chunks) + lastChunk);
      await connection.closed;
      // Node.js finishes the reply when the parser reaches the end of the body.
      assert.equal(finished, finishedReplies);
    }
    unsubscribe('http.server.response.finish', countResponse);
  },
);

test('replies to all concurrent requests, even if replying takes several event-loop turns', async ({ start, open }) => {
  await start(hello);
  const count = bounds.repliesPerTurnMax + 50;
  const connections = await Promise.all(Array.from({ length: count }, open));
  for (const connection of connections) connection.send(get('/'));
  for (const connection of connections) assert.equal((await connection.response()).body.toString(), 'hello');
});

test('handles no further request of a connection while a reply is unsent', async ({ serve, open, engine }) => {
  let handled = 0;
  const { listener, connection } = await serve((x) => {
    handled += 1;
    x.reply({ status: 200, headers: '', body: unbufferedBody });
  });
  connection.socket.pause();
  connection.send(get('/').repeat(3));
  await until(() => handled > 0);
  const other = await open();
  assert.equal((await ask(other, get('/'))).status, 200);
  assert.equal(handled, 2);
  connection.socket.resume();
  if (engine === 'uws') {
    // The native engine closes the connection instead of queueing requests.
    await connection.closed;
  } else {
    for (let at = 0; at < 3; at += 1) assert.deepEqual((await connection.response()).body, unbufferedBody);
    assert.equal(handled, 4);
  }
  await until(() => listener.inFlightCount === 0);
});

testAlsoOverTls(
  'keeps connections whose clients read, even if the replies of one turn exceed the limit of unsent bytes',
  async ({ start, open }) => {
    const body = 'x'.repeat(256 * 1024);
    const count = Math.ceil((2 * bounds.unsentReplyBytesMax) / body.length);
    let waiting: RequestContext[] = [];
    const answerTogether = (context: RequestContext): void => {
      waiting.push(context);
      if (waiting.length < count) return;
      for (const each of waiting) each.reply(text(body));
      waiting = [];
    };
    await start(answerTogether, { deadlineMs: 3_600_000 });
    const connections = await Promise.all(Array.from({ length: count }, open));
    for (let round = 0; round < 2; round += 1) {
      for (const connection of connections) connection.send(get('/'));
      for (const connection of connections) assert.equal((await connection.response()).body.length, body.length);
    }
  },
);

test('closes the connection with the oldest unsent reply if too many bytes are unsent', async ({ start, open }) => {
  let handled = 0;
  const listener = await start((x) => {
    handled += 1;
    x.reply({ status: 200, headers: '', body: unbufferedBody });
  });
  const connections: RawConnection[] = [];
  for (let at = 0; at < 5; at += 1) {
    const connection = await open();
    connection.socket.pause();
    connection.send(get('/'));
    connections.push(connection);
    await until(() => handled === connections.length);
  }
  await until(() => listener.inFlightCount <= 3);
  const [first, last] = [connections[0] as RawConnection, connections[4] as RawConnection];
  first.socket.resume();
  assert.equal(await first.responseOrEnd(), null);
  last.socket.resume();
  assert.deepEqual((await last.response()).body, unbufferedBody);
});

test('a handler can reply to requests of other connections, immediately or later', async ({ start, open }) => {
  let waiting: RequestContext[] = [];
  const answerAll = (how: string): void => {
    const due = waiting;
    waiting = [];
    for (const context of due) context.reply(text(how + context.path));
  };
  const listener = await start((x) => {
    waiting.push(x);
    if (x.path === '/within') answerAll('at once:');
    if (x.path === '/microtask') queueMicrotask(() => answerAll('microtask:'));
    if (x.path === '/later') setImmediate(answerAll, 'later:');
  });
  const turns = { '/within': 'at once:', '/microtask': 'microtask:', '/later': 'later:' };
  for (const [path, how] of Object.entries(turns)) {
    const others = await Promise.all([open(), open()]);
    for (const [index, other] of others.entries()) other.send(get(`/${index}`));
    await until(() => waiting.length === 2);
    const last = await open();
    assert.equal((await ask(last, get(path))).body.toString(), how + path);
    for (const [index, other] of others.entries()) {
      assert.equal((await other.response()).body.toString(), `${how}/${index}`);
    }
    await until(() => listener.inFlightCount === 0);
  }
});

test('drops a reply if the client disconnects before the reply is written', async ({ start, open }) => {
  let waiting: RequestContext[] = [];
  const listener = await start((x) => {
    if (x.path === '/hello') return hello(x);
    waiting.push(x);
    if (x.path !== '/all') return;
    for (const context of waiting) context.reply(text(context.path));
    waiting = [];
  });
  for (let round = 0; round < 50; round += 1) {
    const leaving = await open();
    leaving.send(get('/leaves'));
    await until(() => waiting.length === 1);
    const staying = await open();
    await ask(staying, get('/hello'));
    // The server reads both in one turn: first the request that triggers the reply, then the disconnect.
    staying.send(get('/all'));
    leaving.close();
    assert.equal((await staying.response()).body.toString(), '/all');
    staying.close();
  }
  await until(() => listener.inFlightCount === 0);
});

test('serves many requests with unique ids on a connection until `Connection: close`', async ({ serve }) => {
  const { connection } = await serve((x) => x.reply(text(x.requestId)));
  const ids = new Set<string | undefined>();
  for (let count = 0; count < 200; count += 1) {
    const response = await ask(connection, get('/'));
    assert.equal(response.body.toString(), response.headers.get('x-request-id'));
    ids.add(response.headers.get('x-request-id'));
  }
  assert.equal(ids.size, 200);
  connection.send(get('/', 'Connection: close\r\n'));
  assert.equal((await connection.response()).status, 200);
  await connection.closed;
});

testAlsoOverTls('sends a large body completely, also to a slow client', async ({ start, open }) => {
  const large = 'x'.repeat(8 * 1024 * 1024);
  let answered = Promise.withResolvers<void>();
  await start(async (x) => {
    if (x.path === '/later') await new Promise(setImmediate);
    x.reply(text(large));
    answered.resolve();
  });
  for (const path of ['/now', '/later']) {
    answered = Promise.withResolvers<void>();
    const connection = await open();
    connection.socket.pause();
    connection.send(get(path));
    await answered.promise;
    await new Promise(setImmediate);
    connection.socket.resume();
    assert.equal((await connection.response()).body.length, large.length);
    connection.close();
  }
});

test('reports the bound port, and rejects with the system error if the port is in use', async ({ start }) => {
  const listener = await start(hello);
  assert(listener.port > 0);
  await assert.rejects(start(hello, { port: listener.port }), { code: 'EADDRINUSE' });
  // By default, the native engine would share a port that is given.
  await listener.close(0);
  await start(hello, { port: listener.port });
  await assert.rejects(start(hello, { port: listener.port }), { code: 'EADDRINUSE' });
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  await assert.rejects(start(hello, { port: (other.address() as { port: number }).port }), { code: 'EADDRINUSE' });
  other.close();
  await once(other, 'close');
});

testAlsoOverTls('drain: refuses new connections, and closes the others', async ({ start, open }) => {
  const arrived = Promise.withResolvers<RequestContext>();
  const listener = await start((x) => (x.path === '/pending' ? arrived.resolve(x) : hello(x)));
  const idle = await open();
  assert.equal((await ask(idle, get('/'))).status, 200);
  const busy = await open();
  busy.send(get('/pending'));
  const context = await arrived.promise;
  let closed = false;
  const closing = listener.close(60_000).then(() => {
    closed = true;
  });
  await refuses(open);
  assert.equal(closed, false);
  assert.equal(listener.inFlightCount, 1);
  context.reply(text('last'));
  const response = await busy.response();
  assert.equal(response.body.toString(), 'last');
  assert.equal(response.headers.get('connection'), 'close');
  await Promise.all([busy.closed, idle.closed, closing]);
  assert.equal(listener.inFlightCount, 0);
  await listener.close(0);
});

test('drain: accepts connections during the delay, and closes each connection after its reply', async ({
  start,
  open,
}) => {
  const listener = await start(hello);
  const kept = await open();
  assert.equal((await ask(kept, get('/'))).headers.get('connection') === 'close', false);
  const silent = await open();
  const { closing, endDelay } = closeWithDelay(listener);
  for (const connection of [kept, await open()]) {
    const response = await ask(connection, get('/'));
    assert.equal(response.headers.get('connection'), 'close');
    await connection.closed;
  }
  endDelay();
  assert.equal(await closing, 0);
  await silent.closed;
  await assert.rejects(open(), { code: 'ECONNREFUSED' });
});

test('drain: replies to a request on a connection that the listener has not yet accepted', async ({ start }) => {
  const listener = await start(hello);
  const connecting = RawConnection.open(listener.port);
  // The system has established the connection by now, and the listener has not accepted it yet.
  const closing = listener.close(60_000);
  const connection = await connecting;
  const response = await ask(connection, get('/'));
  assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close']);
  await Promise.all([connection.closed, closing]);
});

test('drain: closes a connection after a reply without a body (HEAD or status 204)', async ({ start, open }) => {
  const waiting: RequestContext[] = [];
  const listener = await start((x) => void waiting.push(x));
  const connections = await Promise.all([open(), open()]);
  connections[0]?.send('HEAD / HTTP/1.1\r\nHost: test\r\n\r\n');
  connections[1]?.send(get('/'));
  await until(() => waiting.length === 2);
  const closing = listener.close(60_000);
  for (const context of waiting) context.reply(context.method === 'HEAD' ? text('four') : text('', 204));
  for (const connection of connections) {
    const response = await connection.response(true);
    assert.equal(response.headers.get('connection'), 'close');
    await connection.closed;
  }
  await closing;
});

testAlsoOverTls('drain: waits until a client has read the last large reply', async ({ serve, open }) => {
  const arrived = Promise.withResolvers<RequestContext>();
  const { listener, connection } = await serve((x) => arrived.resolve(x));
  connection.socket.pause();
  connection.send(get('/'));
  const context = await arrived.promise;
  const closing = listener.close(60_000);
  context.reply({ status: 200, headers: '', body: unbufferedBody });
  await refuses(open);
  connection.socket.resume();
  const response = await connection.response();
  assert.equal(response.headers.get('connection'), 'close');
  assert.deepEqual(response.body, unbufferedBody);
  await connection.closed;
  assert.equal(await closing, 0);
});

test('drain: closes connections with pending requests after the grace period', async ({ serve }) => {
  const arrived = Promise.withResolvers<RequestContext>();
  const { listener, connection } = await serve((x) => arrived.resolve(x), { deadlineMs: 60_000 });
  connection.send(get('/'));
  const context = await arrived.promise;
  assert.equal(await listener.close(10), 1);
  await connection.closed;
  assert.equal(context.ended, true);
  assert.equal(listener.inFlightCount, 0);
  context.reply(text('too late'));
  assert.equal(connection.rest, '');
});

testAlsoOverTls('drain: loses no reply under load', async ({ start, open }) => {
  let taken = 0;
  let draining = false;
  const listener = await start(async (x) => {
    taken += 1;
    await new Promise((resolve) => setTimeout(resolve, taken % 3));
    x.reply(text('x'.repeat(1000)));
  });
  let answered = 0;
  const client = async (): Promise<void> => {
    const connection = await open();
    for (;;) {
      connection.send(get('/'));
      const response = await connection.responseOrEnd();
      if (response === null) return;
      assert.equal(response.body.length, 1000);
      answered += 1;
      if (response.headers.get('connection') === 'close') {
        assert.equal(draining, true);
        return;
      }
    }
  };
  const clients = Array.from({ length: 32 }, client);
  await until(() => answered > 500);
  draining = true;
  await listener.close(60_000);
  await Promise.all(clients);
  assert.equal(answered, taken);
});
