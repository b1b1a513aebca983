import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Encoder } from '@msgpack/msgpack';
import { bounds } from '../../src/bounds.ts';
import type { HandlingOptions, RequestContext, RequestHandler } from '../../src/http/engines/listener.ts';
import { startListener } from '../../src/http/engines/start-listener.ts';
import { errorReply } from '../../src/http/routes/replies.ts';
import { ForwardClient, type OwnedRequest, type RelayableClick } from '../../src/shards/forward-client.ts';
import { ForwardListener } from '../../src/shards/forward-listener.ts';
import { forwardedHeaders } from '../../src/shards/forwarded-headers.ts';
import type { RelayedClick } from '../../src/shards/relayed-clicks.ts';
import { RawConnection } from '../http/raw-connection.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface PairOptions {
  readonly isOwner?: boolean;
  readonly deadlineMs?: number;
  readonly relayedClicksMax?: number;
  /** Whether the other shard records relayed clicks. */
  readonly isRecording?: boolean;
  readonly forward?: (client: ForwardClient, context: RequestContext, owned: OwnedRequest) => void;
}

const forwardRequest: NonNullable<PairOptions['forward']> = (client, context, owned) => client.forward(context, owned);

/** Starts a public listener that forwards every request over a Unix socket to `handler`. */
async function startPair(
  t: TestContext,
  handler: RequestHandler,
  {
    isOwner = true,
    deadlineMs = 60_000,
    relayedClicksMax = 1_000,
    isRecording = true,
    forward = forwardRequest,
  }: PairOptions = {},
) {
  const path = join(temporaryFolder(t), '1.sock');
  const deadlines: string[] = [];
  const handling = (name: string): Omit<HandlingOptions, 'handler'> => ({
    errorReply,
    onHandlerError: (error) => assert.fail(String(error)),
    onDeadline: () => deadlines.push(name),
    bodyBytesMax: 1_000,
    deadlineMs,
  });
  const taken: RelayedClick[] = [];
  const listenerOptions = {
    ...handling('owner'),
    handler,
    path,
    shard: 1,
    isOwner: () => isOwner,
    recordRelayedClick: async (relayedClick: RelayedClick, isConnected: () => boolean) => {
      taken.push(relayedClick);
      await until(() => isRecording || !isConnected());
      return isRecording;
    },
    onRelayError: (error: unknown) => assert.fail(String(error)),
  };
  const listener = await ForwardListener.listen(listenerOptions);
  const connected = Promise.withResolvers<void>();
  const failures: string[] = [];
  const changes: boolean[] = [];
  const client = new ForwardClient({
    path,
    ownShard: 0,
    shard: 1,
    relayedClicksMax,
    onClickRelayed: () => {},
    onFailure: (context, reason) => {
      failures.push(reason);
      context.reply(errorReply({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 }, context.requestId));
    },
    onConnectionChange: (isConnected) => {
      changes.push(isConnected);
      if (isConnected) connected.resolve();
    },
  });
  await connected.promise;
  const arrivals: RequestContext[] = [];
  const server = await startListener('uws', {
    ...handling('arrival'),
    host: '127.0.0.1',
    port: 0,
    handler: (context) => {
      arrivals.push(context);
      forward(client, context, { route: 'api', account: 65_537, verticalAndMode: 2 });
    },
  });
  runAfterTest(t, async () => {
    await client.close(0);
    await listener.close(0);
    await server.close(0);
  });
  return {
    path,
    listener,
    client,
    taken,
    changes,
    failures,
    deadlines,
    arrivals,
    open: () => RawConnection.open(server.port),
  };
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
const post = (body: string, length = body.length) =>
  `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`;

async function ask(connection: RawConnection, request: string) {
  connection.socket.write(request);
  return connection.response();
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('the handler of the other shard gets method, path, query, headers and body, and its reply is sent with the same request ID', async (t) => {
  const { open } = await startPair(t, (context) => {
    const { method, path, query, requestId, hasIdempotencyKey } = context;
    const seen = [method, path, query, hasIdempotencyKey, context.getRequestHeader('authorization')];
    assert.throws(() => context.getRequestHeader('x-other'), /not forwarded/);
    context.readBody((body) => {
      const text = JSON.stringify([...seen, body.toString(), requestId]);
      context.reply({ status: 201, headers: '\r\nX-One: 1', body: text.padEnd(100_000) });
    });
  });
  const connection = await open();
  const head = 'Host: a\r\nAuthorization: Bearer key\r\nIdempotency-Key: 1\r\n';
  const sent = await ask(connection, `POST /a%20b?c=%zz HTTP/1.1\r\n${head}Content-Length: 4\r\n\r\nbody`);
  const requestId = sent.headers.get('x-request-id');
  assert.equal(sent.status, 201);
  assert.equal(sent.headers.get('x-one'), '1');
  const seen = JSON.parse(sent.body.toString());
  assert.deepEqual(seen, ['POST', '/a%20b', 'c=%zz', true, 'Bearer key', 'body', requestId]);
  const { status, body } = await ask(connection, get('/'));
  assert.deepEqual([status, JSON.parse(body.toString())[5]], [201, '']);
});

test('the other shard refuses a body that is too large', async (t) => {
  const { open } = await startPair(t, (context) => {
    context.errorHeaders = '\r\nX-Limit: 3';
    context.readBody(() => assert.fail('no body'));
  });
  for (const request of [
    post('x'.repeat(1_001)),
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`,
  ]) {
    const { status, headers } = await ask(await open(), request);
    assert.deepEqual([status, headers.get('x-limit'), headers.get('connection')], [413, '3', 'close']);
  }
});

test('the other shard replies before the body has arrived', async (t) => {
  const { open } = await startPair(t, (context) => context.reply({ status: 429, headers: '', body: 'limit' }));
  const { status } = await ask(await open(), post('ab', 100));
  assert.equal(status, 429);
});

test('a client that disconnects, and the deadline, end the request on the other shard', async (t) => {
  const contexts: RequestContext[] = [];
  let unavailable = 0;
  const { open, listener, deadlines } = await startPair(
    t,
    (context) => {
      contexts.push(context);
      context.readBody(
        () => {},
        () => unavailable++,
      );
    },
    { deadlineMs: 400 },
  );
  const leaving = await open();
  leaving.socket.write(post('', 10));
  await until(() => contexts.length === 1);
  leaving.socket.destroy();
  await until(() => contexts[0]!.ended);
  assert.deepEqual([unavailable, deadlines.length, listener.inFlightRequests.count], [1, 0, 0]);
  const { status } = await ask(await open(), post('', 10));
  assert.equal(status, 503);
  await until(() => contexts[1]!.ended);
  assert.equal(listener.inFlightRequests.count, 0);
  assert.ok(deadlines.length > 0);
});

test('pending requests get an error when the connection is lost, and later requests when there is none', async (t) => {
  const contexts: RequestContext[] = [];
  const { open, listener, failures } = await startPair(t, (context) => void contexts.push(context));
  const connection = await open();
  connection.socket.write(get('/'));
  await until(() => contexts.length === 1);
  await listener.close(0);
  assert.equal((await connection.response()).status, 503);
  assert.equal(contexts[0]!.ended, true);
  assert.equal((await ask(connection, get('/'))).status, 503);
  assert.deepEqual(failures, ['lost', 'unreachable']);
});

test('a full connection refuses further requests', async (t) => {
  const contexts: RequestContext[] = [];
  const { open, failures } = await startPair(t, (context) => void contexts.push(context));
  const { forwardedRequestsMax } = bounds;
  runAfterTest(t, () => Object.assign(bounds, { forwardedRequestsMax }));
  Object.assign(bounds, { forwardedRequestsMax: 2 });
  const [one, two, three] = [await open(), await open(), await open()];
  for (const connection of [one, two]) connection.socket.write(get('/'));
  await until(() => contexts.length === 2);
  assert.equal((await ask(three, get('/'))).status, 503);
  assert.deepEqual(failures, ['full']);
  for (const context of contexts) context.reply({ status: 200, headers: '', body: 'late' });
  assert.equal((await one.response()).status, 200);
});

test('a body that does not fit into the unsent bytes ends the request on both shards', async (t) => {
  const contexts: RequestContext[] = [];
  let unavailable = 0;
  const { open, failures } = await startPair(t, (context) => {
    contexts.push(context);
    context.readBody(
      (body) => context.reply({ status: 200, headers: '', body: `${body.length}` }),
      () => unavailable++,
    );
  });
  const { forwardedBytesUnsentMax } = bounds;
  runAfterTest(t, () => Object.assign(bounds, { forwardedBytesUnsentMax }));
  Object.assign(bounds, { forwardedBytesUnsentMax: 900 });
  const connection = await open();
  assert.equal((await ask(connection, post('x'.repeat(1_000)))).status, 503);
  assert.deepEqual(failures, ['full']);
  await until(() => contexts.length === 1 && contexts[0]!.ended);
  assert.equal(unavailable, 1);
  assert.equal((await ask(connection, post('ab'))).body.toString(), '2');
});

test('a shard refuses a forwarded request of an account of another shard', async (t) => {
  const { open } = await startPair(t, () => assert.fail('handled'), { isOwner: false });
  assert.equal((await ask(await open(), get('/'))).status, 503);
});

test('a reply that is too large for a frame becomes an internal error', async (t) => {
  const path = join(temporaryFolder(t), '1.sock');
  let errors = 0;
  const listener = await ForwardListener.listen({
    path,
    shard: 1,
    isOwner: () => true,
    recordRelayedClick: async () => true,
    onRelayError: () => {},
    errorReply,
    onHandlerError: () => errors++,
    bodyBytesMax: 10,
    deadlineMs: 60_000,
    handler: (context) => context.reply({ status: 200, headers: '', body: 'x'.repeat(bounds.replyFrameBytesMax) }),
  });
  runAfterTest(t, () => listener.close(0));
  const socket = connect({ path });
  runAfterTest(t, () => socket.destroy());
  socket.write(frame([0, 1, 0, 1]));
  socket.write(frame(requestFrame));
  const [reply] = await once(socket, 'data');
  assert.match(reply.toString('latin1'), /INTERNAL_ERROR/);
  assert.equal(errors, 1);
});

const relayed: RelayedClick = [5, new Uint8Array(32).fill(7), 'version', 'offer', 'lender', 9, null];
const retryReply = { status: 503, headers: '', body: 'again later' };
const click: RelayableClick = {
  redirect: async (addClick) => ({ status: 302, headers: '', body: addClick(relayed) ? 'kept' : 'lost' }),
  retryReply,
};

test('a click that this shard cannot redirect waits for the answer of the other shard, or asks for a repetition if there is none', async (t) => {
  const contexts: RequestContext[] = [];
  const tries = { count: 0 };
  const pair = await startPair(t, (context) => void contexts.push(context), {
    forward: (client, context, owned) =>
      client.forwardClick(context, owned, {
        redirect: async () => {
          tries.count += 1;
          return null;
        },
        retryReply,
      }),
  });
  const connection = await pair.open();
  connection.socket.write(get('/c'));
  await until(() => tries.count === 1);
  contexts[0]!.reply({ status: 404, headers: '', body: 'unknown' });
  assert.equal((await connection.response()).body.toString(), 'unknown');
  connection.socket.write(get('/c'));
  await until(() => tries.count === 2);
  await pair.listener.close(0);
  assert.equal((await connection.response()).body.toString(), 'again later');
  const { status, body } = await ask(connection, get('/c'));
  assert.deepEqual([status, body.toString()], [503, 'again later']);
  assert.deepEqual([tries.count, pair.failures], [4, []]);
});

test('a click that the other shard answers while this shard prepares the redirect is not relayed', async (t) => {
  const contexts: RequestContext[] = [];
  const started = Promise.withResolvers<void>();
  const prepared = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const pair = await startPair(t, (context) => void contexts.push(context), {
    forward: (client, context, owned) =>
      client.forwardClick(context, owned, {
        redirect: async (addClick) => {
          started.resolve();
          await prepared.promise;
          const isKept = addClick(relayed);
          ended.resolve();
          return { status: 302, headers: '', body: `${isKept}` };
        },
        retryReply,
      }),
  });
  const connection = await pair.open();
  connection.socket.write(get('/c'));
  await started.promise;
  contexts[0]!.reply({ status: 302, headers: '', body: 'in time' });
  assert.equal((await connection.response()).body.toString(), 'in time');
  prepared.resolve();
  await ended.promise;
  assert.equal(await pair.client.close(60_000), 0);
  assert.deepEqual(pair.taken, []);
});

test('a click that the other shard does not answer in time is redirected, and the late answer is ignored', async (t) => {
  const contexts: RequestContext[] = [];
  const pair = await startPair(t, (context) => void contexts.push(context), {
    forward: (client, context, owned) => client.forwardClick(context, owned, click),
  });
  const connection = await pair.open();
  const { body } = await ask(connection, get('/c'));
  assert.equal(body.toString(), 'kept');
  await until(() => pair.taken.length > 0);
  assert.deepEqual(pair.taken, [relayed]);
  await until(() => contexts[0]!.ended);
  contexts[0]!.reply({ status: 302, headers: '', body: 'late' });
  connection.socket.write(get('/c'));
  await until(() => contexts.length === 2);
  contexts[1]!.reply({ status: 302, headers: '', body: 'in time' });
  assert.equal((await connection.response()).body.toString(), 'in time');
  assert.equal(await pair.client.close(1_000), 0);
  assert.equal(pair.taken.length, 1);
});

test('relayed clicks wait in memory without a connection, up to a maximum, and are sent after the next connection', async (t) => {
  const pair = await startPair(t, () => assert.fail('handled'), {
    relayedClicksMax: 2,
    forward: (client, context, owned) => client.forwardClick(context, owned, click),
  });
  await pair.listener.close(0);
  await until(() => pair.changes.includes(false));
  const connection = await pair.open();
  const kept: string[] = [];
  for (let count = 0; count < 3; count++) kept.push((await ask(connection, get('/c'))).body.toString());
  assert.deepEqual(kept, ['kept', 'kept', 'lost']);
  const again = await ForwardListener.listen({ ...pair.listener.options });
  runAfterTest(t, () => again.close(0));
  await until(() => pair.taken.length === 2);
  assert.equal(await pair.client.close(60_000), 0);
});

test('a relayed click that the other shard has not recorded is sent again after a lost connection', async (t) => {
  const pair = await startPair(t, () => {}, {
    forward: (client, context, owned) => client.forwardClick(context, owned, click),
    isRecording: false,
  });
  await ask(await pair.open(), get('/c'));
  await until(() => pair.taken.length === 1);
  await pair.listener.close(0);
  const again = await ForwardListener.listen({
    ...pair.listener.options,
    recordRelayedClick: async (taken) => pair.taken.push(taken) > 0,
  });
  runAfterTest(t, () => again.close(0));
  await until(() => pair.taken.length === 2);
  assert.equal(await pair.client.close(60_000), 0);
});

const encoder = new Encoder();
function frame(items: unknown): Buffer {
  const bytes = encoder.encode(items);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

const hello = frame([0, 1, 0, 1]);
const requestFrame = [
  1,
  7,
  'api',
  65_537,
  2,
  'id',
  'GET',
  '/',
  '',
  0,
  false,
  false,
  '',
  ...forwardedHeaders.api.map(() => ''),
];

test('an invalid frame closes the connection and changes nothing else', async (t) => {
  let handled = 0;
  const { path, open } = await startPair(t, (context) => {
    handled += 1;
    context.reply({ status: 200, headers: '', body: 'ok' });
  });
  const invalid: Readonly<Record<string, Buffer>> = {
    garbage: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    'no msgpack': Buffer.concat([hello, Buffer.from([0, 0, 0, 1, 0xc1])]),
    'an empty frame': Buffer.concat([hello, Buffer.alloc(4)]),
    'a huge length': Buffer.concat([hello, Buffer.from([0xff, 0xff, 0xff, 0xff])]),
    'deep nesting': Buffer.concat([hello, Buffer.from([0, 7, 0xa1, 0x20]), Buffer.alloc(500_000, 0x91)]),
    'a map': Buffer.concat([hello, frame({ a: 1 })]),
    'a huge array': Buffer.concat([hello, Buffer.from([0, 0, 0, 5, 0xdd, 0xff, 0xff, 0xff, 0xff])]),
    'a request before the first frame': frame(requestFrame),
    'another version': frame([0, 2, 0, 1]),
    'another shard': frame([0, 1, 0, 2]),
    'an unknown kind': Buffer.concat([hello, frame([99, 1])]),
    'an unknown route': Buffer.concat([hello, frame(requestFrame.with(2, 'constructor'))]),
    'a missing header': Buffer.concat([hello, frame(requestFrame.slice(0, -1))]),
    'a wrong type': Buffer.concat([hello, frame(requestFrame.with(7, 5))]),
    'a body that is too large': Buffer.concat([hello, frame([2, 7, Buffer.alloc(1_001)])]),
  };
  for (const [name, bytes] of Object.entries(invalid)) {
    const socket = connect({ path });
    socket.on('error', () => {});
    socket.write(bytes);
    await once(socket.resume(), 'close');
    assert.equal(handled, 0, name);
  }
  const valid = connect({ path });
  runAfterTest(t, () => valid.destroy());
  // Frames that name no request are ignored: the request may have ended.
  valid.write(Buffer.concat([hello, frame([4, 1]), frame([2, 1, Buffer.from('x')]), frame([3, 1])]));
  for (const byte of frame(requestFrame)) valid.write(Buffer.of(byte));
  assert.match((await once(valid, 'data'))[0].toString('latin1'), /ok/);
  assert.equal((await ask(await open(), get('/'))).status, 200);
});

test('listens on a socket whose earlier file was deleted, and connects again', async (t) => {
  const pair = await startPair(t, (context) => context.reply({ status: 200, headers: '', body: 'first' }));
  await pair.listener.close(0);
  rmSync(pair.path, { force: true });
  const again = await ForwardListener.listen({
    ...pair.listener.options,
    handler: (context) => context.reply({ status: 200, headers: '', body: 'second' }),
  });
  runAfterTest(t, () => again.close(0));
  const connection = await pair.open();
  let answer = await ask(connection, get('/'));
  while (answer.status === 503) answer = await ask(connection, get('/'));
  assert.equal(answer.body.toString(), 'second');
});

test('the list of forwarded headers has every header that a handler of a forwarded route reads', () => {
  const names = (file: string) =>
    [
      ...readFileSync(new URL(`../../src/http/routes/${file}`, import.meta.url), 'utf8').matchAll(
        /getRequestHeader\('([\w-]+)'\)/g,
      ),
    ].map(([, name]) => name);
  const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];
  const read = {
    api: [...names('api-routes.ts'), ...names('cors.ts')],
    click: [...names('click-routes.ts'), ...purposes],
    widget: [...names('widget-routes.ts'), ...purposes],
    console: [
      ...names('api-routes.ts').filter((name) => name !== 'authorization'),
      ...names('console/login-route.ts'),
      ...names('console/same-origin.ts'),
      'cookie',
    ],
  };
  for (const [route, headers] of Object.entries(read)) {
    assert.deepEqual(
      [...new Set(headers)].sort(),
      [...forwardedHeaders[route as keyof typeof forwardedHeaders]].sort(),
      route,
    );
  }
});
