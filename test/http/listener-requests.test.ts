import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { bounds } from '../../src/bounds.ts';
import type { RequestContext, RequestHandler } from '../../src/http/engines/listener.ts';
import { formatHeader } from '../../src/http/engines/response-head.ts';
import {
  ask,
  askBodyless,
  chunk,
  chunkedHead,
  echo,
  errorOf,
  get,
  hello,
  lastChunk,
  post,
  test,
  testAlsoOverTls,
  text,
  until,
} from './listener-bench.ts';

const sourceFolder = new URL('../../src/', import.meta.url);

test('passes the method, path and query to the handler without decoding them', async ({ serve }) => {
  const { connection } = await serve((x) => x.reply(text(JSON.stringify([x.method, x.path, x.query]))));
  const seen = async (line: string): Promise<unknown> =>
    JSON.parse((await ask(connection, `${line} HTTP/1.1\r\nHost: test\r\n\r\n`)).body.toString());
  assert.deepEqual(await seen('GET /a%2Fb//c?x=%2C&y=1?2'), ['GET', '/a%2Fb//c', 'x=%2C&y=1?2']);
  assert.deepEqual(await seen('PUT /'), ['PUT', '/', '']);
  assert.deepEqual(await seen('DELETE /x?'), ['DELETE', '/x', '']);
  assert.deepEqual(await seen('OPTIONS /x'), ['OPTIONS', '/x', '']);
});

test('node:http accepts an absolute URL as request target; uWebSockets.js does not', async ({
  start,
  open,
  engine,
}) => {
  await start((x) => x.reply(text(JSON.stringify([x.path, x.query, x.getRequestHeader('host')]))));
  const seen = async (target: string): Promise<unknown> => {
    const response = await ask(await open(), `GET ${target} HTTP/1.1\r\nHost: other\r\n\r\n`);
    return response.status === 200 ? JSON.parse(response.body.toString()) : response.status;
  };
  const [absolute, others] = engine === 'uws' ? [505, 505] : [['/a//b', 'x=http://y/?', 'test:81'], 400];
  assert.deepEqual(await seen('http://test:81/a//b?x=http://y/?'), absolute);
  if (engine === 'node') {
    assert.deepEqual(await seen('HTTPS://[::1]'), ['/', '', '[::1]']);
    assert.deepEqual(await seen('http://test?x'), ['/', 'x', 'test']);
  }
  for (const target of ['http://user@test/', 'ftp://test/', 'http:/test', '*']) {
    assert.equal(await seen(target), others, target);
  }
});

testAlsoOverTls('sends each header once, with length, date and request id', async ({ start, open }) => {
  await start((x) =>
    x.reply({ status: 404, headers: formatHeader('X-One', '1') + formatHeader('X-Two', 'a, b'), body: 'né' }),
  );
  const response = await ask(await open(), get('/'));
  assert.equal(response.status, 404);
  assert.equal(response.headers.get('x-one'), '1');
  assert.equal(response.headers.get('x-two'), 'a, b');
  assert.equal(response.headers.get('content-length'), '3');
  assert.equal(response.body.toString(), 'né');
  assert.ok(!Number.isNaN(Date.parse(response.headers.get('date') ?? '')));
  assert.ok(response.headers.get('x-request-id'));
  assert.ok([...response.counts.values()].every((count) => count === 1));
  assert.ok(!response.headers.has('server') && !response.headers.has('uwebsockets'));
});

test('sends 204 and 304 without Content-Length, and keeps the connection open', async ({ start, open }) => {
  await start((x) => x.reply({ status: Number(x.path.slice(1)), headers: formatHeader('X-A', 'b'), body: '' }));
  for (const status of [204, 304]) {
    const { connection, response } = await askBodyless(open, get(`/${status}`));
    assert.equal(response.status, status);
    assert.equal(response.headers.get('x-a'), 'b');
    assert.equal(response.headers.has('content-length'), false);
    assert.equal((await ask(connection, get('/200'))).status, 200);
  }
});

test('a reply to a HEAD request has no body, whether sent immediately or later', async ({ start, open }) => {
  await start(async (x) => {
    if (x.path === '/later') await new Promise(setImmediate);
    x.reply(text('né'));
  });
  for (const path of ['/now', '/later']) {
    const request = `HEAD ${path} HTTP/1.1\r\nHost: test\r\n\r\n`;
    const { connection, response: head } = await askBodyless(open, request);
    // The next response would start with the body of the HEAD response, if it had one.
    const asked = await ask(connection, get(path));
    assert.equal(asked.status, 200);
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-length'), asked.headers.get('content-length'));
    assert.deepEqual([...head.headers.keys()].sort(), [...asked.headers.keys()].sort());
    assert.ok([...head.counts.values()].every((count) => count === 1));
    assert.equal(connection.rest, '');
  }
});

test('getRequestHeader returns the first value of a header, or an empty string', async ({ start, open }) => {
  await start((x) =>
    x.reply(text([x.getRequestHeader('x-some'), x.getRequestHeader('x-none'), x.getRequestHeader('x-twice')].join())),
  );
  const response = await ask(await open(), get('/', 'X-SOME:  value \r\nX-Twice: 1\r\nX-Twice: 2\r\n'));
  assert.equal(response.body.toString(), 'value,,1');
});

/** Names of all request headers that the service reads. */
const readHeaders = new Set(
  globSync('http/**/*.ts', { cwd: sourceFolder })
    .map((path) => readFileSync(new URL(path, sourceFolder), 'utf8'))
    .flatMap((code) => [...code.matchAll(/getRequestHeader\('([a-z-]+)'\)/g)].map(([, name = '']) => name)),
);

/** Returns a text with an additional character at the start, in the middle, at the end, and the character alone. */
const withCharacter = (text: string, character: string): string[] => [
  character + text,
  text.slice(0, 1) + character + text.slice(1),
  text + character,
  character,
];

const bytesOf = (request: string): Buffer => Buffer.from(request, 'latin1');

test('shows non-ASCII bytes of a header value to the handler; uWebSockets.js may remove those at both ends', async ({
  serve,
  engine,
}) => {
  let name = '';
  const { connection } = await serve((x) =>
    x.reply(text(JSON.stringify([x.getRequestHeader(name), x.hasIdempotencyKey]))),
  );
  assert.ok(readHeaders.has('authorization') && readHeaders.has('idempotency-key'));
  for (name of readHeaders) {
    if (name === 'host' || name === 'transfer-encoding' || name === 'content-length') continue;
    for (const character of '\x80\xe9\xff') {
      for (const value of withCharacter('ab', character)) {
        const head = `POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n${name}: ${value}\r\n\r\n`;
        connection.send(bytesOf(head));
        const [received, hasIdempotencyKey] = JSON.parse((await connection.response()).body.toString());
        const expected = engine === 'node' ? [value] : [value, value.replace(/^[^ -~]|[^ -~]$/, '')];
        assert.ok(expected.includes(received), `${name}: ${JSON.stringify([value, received])}`);
        assert.equal(hasIdempotencyKey, name === 'idempotency-key');
      }
    }
  }
});

test('replies 400 to a control character in a header value, or to a length with a non-ASCII byte', async ({
  start,
  open,
  engine,
}) => {
  await start(() => assert.fail('the request was handled'));
  const refuse = async (name: string, value: string): Promise<void> => {
    const connection = await open();
    const host = name === 'host' ? '' : 'Host: test\r\n';
    connection.send(bytesOf(`POST / HTTP/1.1\r\n${host}${name}: ${value}\r\n\r\n`));
    assert.equal((await connection.response()).status, 400, JSON.stringify([name, value]));
    await connection.closed;
  };
  for (const name of [...readHeaders, 'content-length']) {
    for (const character of '\0\x01\n\x0b\x1f') {
      for (const value of withCharacter('12', character)) await refuse(name, value);
    }
  }
  for (const [name, value] of [
    ['content-length', '12'],
    ['transfer-encoding', 'chunked'],
  ] as const) {
    // uWebSockets.js removes the byte at both ends.
    const values = withCharacter(value, '\xe9');
    for (const each of engine === 'node' ? values : values.slice(1, 2)) await refuse(name, each);
  }
});

test('node:http ignores empty lines before a request; uWebSockets.js does not answer', async ({
  start,
  open,
  engine,
}) => {
  await start(hello);
  for (const count of [1, 3]) {
    const connection = await open();
    connection.sendLast('\r\n'.repeat(count) + get('/'));
    assert.equal((await connection.responseOrEnd())?.status, engine === 'node' ? 200 : undefined);
  }
});

test('throws if a request header is read after an await or after the handler returned', async ({ serve, faults }) => {
  const { connection } = await serve(async (x) => {
    if (x.path === '/awaited') await null;
    if (x.path === '/returned') await new Promise(setImmediate);
    x.reply(text(x.getRequestHeader('host')));
  });
  const statuses: number[] = [];
  for (const path of ['/', '/awaited', '/returned']) statuses.push((await ask(connection, get(path))).status);
  assert.deepEqual(statuses, [200, 500, 500]);
  for (const { fault } of faults) assert.match(String(fault), /request header/);
  assert.equal(faults.length, 2);
});

test('ignores an Expect header with an unknown value', async ({ start, open }) => {
  await start((x) => x.readBody((body) => x.reply(text(body.toString()))));
  const response = await ask(await open(), post('/', 'body', 'Expect: something\r\n'));
  assert.deepEqual([response.status, response.body.toString()], [200, 'body']);
});

testAlsoOverTls('reads a body that is sent whole or in parts, is empty or is absent', async ({ serve }) => {
  const { connection } = await serve(echo);
  assert.equal((await ask(connection, post('/', 'grün'))).body.toString(), '5:grün');
  const bytes = Buffer.from(post('/', 'grün'));
  const split = bytes.length - 2;
  const cuts = [0, 9, split - 2, split];
  await connection.sendInPieces(cuts.map((from, at) => bytes.subarray(from, cuts[at + 1])));
  assert.equal((await connection.response()).body.toString(), '5:grün');
  for (const request of [get('/'), post('/', '')]) {
    assert.equal((await ask(connection, request)).body.toString(), '0:');
  }
  await connection.sendInPieces(['POST / HT', 'TP/1.1\r\nHost: test\r\nContent-Le', 'ngth: 0\r\n\r', '\n']);
  assert.equal((await connection.response()).body.toString(), '0:');
});

test('a client that sends 10 MB can read the 413 reply before the connection closes', async ({ start, open }) => {
  const listener = await start((x) => x.readBody(() => assert.fail('a body was read')));
  const bytes = Buffer.alloc(64 * 1024, 'x');
  const length = `POST / HTTP/1.1\r\nHost: test\r\nContent-Length: ${160 * bytes.length}\r\n\r\n`;
  for (const [head, piece, end] of [
    [length, bytes, ''],
    [chunkedHead('/'), chunk(bytes.toString()), lastChunk],
  ] as const) {
    const connection = await open();
    const before = process.memoryUsage().arrayBuffers;
    // This client reads nothing until it has sent everything. A reset would discard the reply before the client reads it.
    connection.socket.pause();
    connection.send(head);
    for (let sent = 0; sent < 160; sent += 1) {
      await new Promise((resolve) => connection.socket.write(piece, resolve));
    }
    connection.send(end);
    connection.socket.resume();
    assert.equal((await connection.response()).status, 413);
    await connection.closed;
    assert(process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024);
  }
  const url = `http://127.0.0.1:${listener.port}/`;
  assert.equal((await fetch(url, { method: 'POST', body: Buffer.alloc(1e7) })).status, 413);
});

test('replies without reading a large request body, and closes the connection', async ({ start, open }) => {
  await start(async (x) => {
    if (x.path === '/later') await new Promise(setImmediate);
    x.reply(text('unauthorized', 401));
  });
  for (const path of ['/now', '/later']) {
    const connection = await open();
    const response = await ask(connection, post(path, 'x'.repeat(200_000)));
    assert.equal(response.status, 401);
    assert.equal(response.body.toString().trimEnd(), 'unauthorized');
    assert.equal(response.headers.get('connection'), 'close');
    await connection.closed;
  }
});

test('replies without reading a small request body, and keeps the connection open', async ({ serve }) => {
  const { connection } = await serve((x) => x.reply(text(`${x.method} ${x.path}`, 401)));
  assert.equal((await ask(connection, post('/1', 'x'.repeat(500)))).status, 401);
  const [head = '', body = ''] = post('/2', 'y'.repeat(500)).split('\r\n\r\n');
  assert.equal((await ask(connection, `${head}\r\n\r\n`)).status, 401);
  connection.send(body);
  assert.equal((await ask(connection, get('/3'))).body.toString(), 'GET /3');
});

test('calls onBodyUnavailable once if a body is too large, late or cut off', async ({ start, open }) => {
  const calls: string[] = [];
  const listener = await start(
    (x) =>
      x.readBody(
        () => {
          calls.push(`${x.path} body`);
          x.reply(text('read'));
        },
        () => calls.push(`${x.path} none`),
      ),
    { bodyBytesMax: 100, deadlineMs: 50 },
  );
  const whole = await open();
  await ask(whole, post('/whole', 'a body'));
  await ask(await open(), post('/large', 'x'.repeat(101)));
  const gone = await open();
  gone.send('POST /gone HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf');
  await until(() => listener.inFlightCount === 1);
  gone.close();
  await until(() => listener.inFlightCount === 0);
  const late = await open();
  late.send('POST /late HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf');
  assert.equal((await late.response()).status, 503);
  // The rest of the body is discarded, and the connection remains usable.
  late.send('a body');
  assert.equal((await ask(late, get('/next'))).body.toString(), 'read');
  assert.equal(calls.pop(), '/next body');
  assert.deepEqual(calls, ['/whole body', '/large none', '/gone none', '/late none']);
});

testAlsoOverTls('sets `ended` at a disconnect, and drops a later reply', async ({ serve, open, faults }) => {
  const arrived = Promise.withResolvers<RequestContext>();
  const answered: number[] = [];
  const { listener, connection } = await serve((x) => (x.path === '/pending' ? arrived.resolve(x) : hello(x)), {
    onReply: (_route, status) => answered.push(status),
  });
  connection.send(get('/pending'));
  const context = await arrived.promise;
  assert.equal(context.ended, false);
  connection.close();
  await until(() => context.ended);
  assert.equal(listener.inFlightCount, 0);
  context.reply(text('too late'));
  assert.equal((await ask(await open(), get('/'))).status, 200);
  assert.deepEqual([faults, answered], [[], [200]]);
});

test('replies 503 with Retry-After at the deadline, and drops the handler’s reply', async ({ serve }) => {
  let deadlines = 0;
  const problems: unknown[] = [];
  const arrived = Promise.withResolvers<RequestContext>();
  const onDeadline = (): void => {
    deadlines += 1;
  };
  const { listener, connection } = await serve((x) => (x.path === '/pending' ? arrived.resolve(x) : hello(x)), {
    deadlineMs: 50,
    onDeadline,
    onErrorReply: (_request, { error }) => void problems.push(error?.problem?.text),
    onIncompleteAnswer: () => assert.fail('the request has ended'),
  });
  const response = await ask(connection, get('/pending'));
  assert.equal(response.status, 503);
  assert.equal(errorOf(response).error, 'SERVICE_UNAVAILABLE');
  assert.equal(response.headers.get('retry-after'), String(bounds.retryAfterSeconds));
  const context = await arrived.promise;
  assert.equal(context.ended, true);
  context.logIncompleteAnswer({ text: 'too late' });
  context.reply(text('too late'));
  assert.match(String(problems), /^no answer before the deadline; check the load/);
  assert.equal((await ask(connection, get('/'))).body.toString(), 'hello');
  assert.equal(deadlines, 1);
  assert.equal(listener.inFlightCount, 0);
});

test('calls onReply once for each reply, with route and status', async ({ start, open }) => {
  const answered: (readonly [route: number, status: number])[] = [];
  const handler: RequestHandler = (x) => {
    x.routeIndex = 3;
    switch (x.path) {
      case '/now':
        x.reply(text('now'));
        assert.equal(x.ended, true);
        x.reply(text('again'));
        return;
      case '/later':
        return new Promise<void>((resolve) => setImmediate(resolve)).then(() => x.reply(text('later', 404)));
      case '/body':
        return x.readBody(() => x.reply(text('read')));
      case '/broken':
        throw new Error('broken');
    }
    // Other paths get no reply.
  };
  const onReply = (route: number, status: number, elapsedUs: number): void => {
    assert.ok(Number.isInteger(elapsedUs) && elapsedUs >= 0 && elapsedUs < 60_000_000, `${elapsedUs} us`);
    answered.push([route, status]);
  };
  await start(handler, { onReply, deadlineMs: 200, bodyBytesMax: 8 });
  const seen = async (request: string): Promise<number> => (await ask(await open(), request)).status;
  const statuses = [
    await seen(get('/now')),
    await seen(get('/later')),
    await seen(post('/body', '12345678')),
    await seen(post('/body', '123456789')),
    await seen(get('/broken')),
    await seen(get('/never')),
  ];
  assert.deepEqual(statuses, [200, 404, 200, 413, 500, 503]);
  assert.deepEqual(
    answered,
    statuses.map((status) => [3, status]),
  );
  // The listener rejects this request before the handler.
  answered.length = 0;
  assert.equal(await seen(get('/now', 'Transfer-Encoding: chunked\r\n')), 400);
  assert.deepEqual(answered, [[0, 400]]);
});

test('replies 500 and reports the error if a handler or its callback for readBody fails', async ({ serve, faults }) => {
  const { listener, connection } = await serve((x) => {
    if (x.path === '/answered') x.reply(text('fine'));
    if (x.path === '/answered' || x.path === '/throws') throw new Error(x.path);
    if (x.path === '/rejects') return Promise.reject(new Error('/rejects'));
    if (x.path === '/rejects-later')
      return new Promise((_, reject) => setImmediate(reject, new Error('/rejects-later')));
    return x.readBody((async () => {
      if (x.path === '/body-rejects') await null;
      throw new Error(x.path);
    }) as () => void);
  });
  for (const path of ['/throws', '/rejects', '/rejects-later', '/body-throws', '/body-rejects']) {
    const response = await ask(connection, path.startsWith('/body') ? post(path, 'x') : get(path));
    assert.equal(response.status, 500);
    assert.equal(errorOf(response).error, 'INTERNAL_ERROR');
    const reported = faults.pop();
    assert(reported);
    assert.equal((reported.fault as Error).message, path);
    assert.equal(reported.requestId, response.headers.get('x-request-id'));
    assert.equal(errorOf(response).request_id, reported.requestId);
  }
  assert.equal((await ask(connection, get('/answered'))).body.toString(), 'fine');
  assert.equal(faults.length, 1);
  assert.equal(listener.inFlightCount, 0);
});

test('replies and reports the error if the callback onBodyUnavailable throws', async ({ serve, open, faults }) => {
  const fail = (): void => {
    throw new Error('body unavailable');
  };
  const { listener, connection } = await serve((x) => (x.method === 'GET' ? hello(x) : x.readBody(() => {}, fail)));
  connection.send('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10485760\r\n\r\n');
  assert.equal((await connection.response()).status, 413);
  assert.equal(faults.length, 1);
  const leaving = await open();
  leaving.send('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf');
  await until(() => listener.inFlightCount === 1);
  leaving.close();
  await until(() => faults.length === 2);
  assert.equal(listener.inFlightCount, 0);
  assert.equal((await ask(await open(), get('/'))).status, 200);
});

test('if a handler sets errorHeaders, error replies contain these headers', async ({ start, open }) => {
  await start(
    (x) => {
      x.errorHeaders = formatHeader('X-Cors', 'yes');
      if (x.path === '/throws') throw new Error('a bug');
      if (x.path === '/large') x.readBody(() => {});
    },
    { deadlineMs: 50, bodyBytesMax: 8 },
  );
  for (const [request, status] of [
    [get('/throws'), 500],
    [post('/large', '123456789'), 413],
    [get('/late'), 503],
  ] as const) {
    const response = await ask(await open(), request);
    assert.deepEqual([response.status, response.headers.get('x-cors')], [status, 'yes']);
  }
});

test('replies 500 if a handler calls readBody twice or calls it after an await', async ({ serve, open, faults }) => {
  const { connection } = await serve(async (x) => {
    if (x.path === '/late') await null;
    else x.readBody(() => {});
    x.readBody(() => {});
  });
  assert.equal((await ask(connection, post('/twice', 'x'))).status, 500);
  assert.equal((await ask(await open(), post('/late', 'x'))).status, 500);
  assert.equal(faults.length, 2);
});
