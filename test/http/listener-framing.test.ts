import assert from 'node:assert/strict';
import { bounds } from '../../src/bounds.ts';
import type { RequestHandler } from '../../src/http/engines/listener.ts';
import {
  ask,
  chunk,
  chunkedHead,
  echo,
  errorOf,
  get,
  hello,
  lastChunk,
  post,
  test,
  text,
  until,
} from './listener-bench.ts';

test('reads a chunked body that is sent whole, in parts or byte by byte', async ({ start, open, engine }) => {
  await start(echo);
  const body = '5\r\ngr\u00fcn\r\n00A\r\n0123456789\r\n0\r\n\r\n';
  let connection = await open();
  for (const [coding, pieces] of [
    ['chunked', [body]],
    ['Chunked', [body.slice(0, 6), body.slice(6, 20), body.slice(20)]],
    ['CHUNKED', [...body]],
  ] as const) {
    await connection.sendInPieces([chunkedHead('/', coding), ...pieces]);
    const response = await connection.response();
    assert.equal(response.body.toString(), '15:grün0123456789');
    if (engine === 'node') continue;
    assert.equal(response.headers.get('connection'), 'close');
    await connection.closed;
    connection = await open();
  }
  connection.send(`${chunkedHead('/')}0\r\n\r\n`);
  assert.equal((await connection.response()).body.toString(), '0:');
});

test('replies 204 to a request with a chunked body', async ({ serve, engine }) => {
  const { connection } = await serve((x) => x.readBody(() => x.reply({ status: 204, headers: '', body: '' })));
  connection.send(`${chunkedHead('/')}${chunk('body')}${lastChunk}`);
  const response = await connection.response();
  assert.deepEqual([response.status, response.headers.has('content-length')], [204, false]);
  if (engine === 'node') assert.equal((await ask(connection, post('/', ''))).status, 204);
  else await connection.closed;
  assert.equal(connection.rest, '');
});

test('accepts a body of the maximum size, and replies 413 to one byte more', async ({ start, open }) => {
  let bodies = 0;
  const handler: RequestHandler = (x) =>
    x.readBody((body) => {
      bodies += 1;
      x.reply(text(String(body.length)));
    });
  const listener = await start(handler, { bodyBytesMax: 1000, deadlineMs: 60_000 });
  const chunks = chunkedHead('/') + chunk('x').repeat(400) + chunk('y'.repeat(600));
  for (const request of [post('/', 'x'.repeat(1000)), chunks + lastChunk]) {
    assert.equal((await ask(await open(), request)).body.toString(), '1000');
  }
  for (const [request, rest] of [
    [post('/', 'x'.repeat(1001)), ''],
    [chunks + chunk('z') + lastChunk, ''],
    [chunks + chunk('z'), lastChunk],
  ] as const) {
    const connection = await open();
    const rejected = await ask(connection, request);
    assert.deepEqual([rejected.status, errorOf(rejected).error], [413, 'PAYLOAD_TOO_LARGE']);
    assert.equal(rejected.headers.get('connection'), 'close');
    connection.send(rest);
    await connection.closed;
  }
  assert.equal(bodies, 2);
  assert.equal(listener.inFlightCount, 0);
});

test('replies and closes the connection if a request body never ends', async ({ start, open }) => {
  const calls: string[] = [];
  const handler: RequestHandler = (x) => {
    if (x.path === '/unread') return x.reply(text('unauthorized', 401));
    if (x.path === '/ignored') return;
    x.readBody(
      () => void calls.push('body'),
      () => void calls.push(x.path),
    );
  };
  const listener = await start(handler, { bodyBytesMax: 100, deadlineMs: 50 });
  const lengthHead = (path: string) => `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: 10485760\r\n\r\n`;
  for (const [path, head, sent, status] of [
    ['/unread', chunkedHead, chunk('x'), 401],
    ['/small', chunkedHead, chunk('x'), 503],
    ['/sized', chunkedHead, 'FFFFFFF\r\nx', 503],
    ['/large', chunkedHead, chunk('x'.repeat(101)), 413],
    ['/ignored', lengthHead, 'x', 503],
    ['/long', lengthHead, 'x', 413],
  ] as const) {
    const connection = await open();
    connection.send(head(path) + sent);
    const response = await connection.response();
    assert.deepEqual([response.status, response.headers.get('connection')], [status, 'close'], path);
    await connection.closed;
  }
  assert.deepEqual(calls, ['/small', '/sized', '/large', '/long']);
  assert.equal(listener.inFlightCount, 0);
});

test('replies 400 to an invalid or too large chunk size, and closes the connection', async ({ start, open }) => {
  const listener = await start((x) => x.readBody(() => assert.fail('a body was read')));
  for (const size of ['zz', '-5', '+5', '0x5', '5'.repeat(40)]) {
    for (const before of ['', chunk('sound')]) {
      const connection = await open();
      connection.send(chunkedHead('/') + before);
      if (before !== '') await until(() => listener.inFlightCount === 1);
      connection.send(`${size}\r\nhello\r\n${lastChunk}`);
      assert.equal((await connection.response()).status, 400, size);
      await connection.closed;
    }
  }
  assert.equal(listener.inFlightCount, 0);
});

test('does not handle requests that are hidden in trailers or chunk extensions', async ({ start, open, engine }) => {
  const handled: string[] = [];
  await start(
    (x) => {
      handled.push(x.path);
      if (x.path === '/unread') return x.reply(text('no', 401));
      x.readBody(async (body) => {
        const { length } = body;
        if (x.path === '/later') await new Promise(setImmediate);
        x.reply(text(String(length)));
      });
    },
    { deadlineMs: 50 },
  );
  // A parser of trailers and chunk extensions finds one request only.
  const inTrailer = `${chunk('body')}0\r\nX:GET /hidden HTTP/1.1\r\nHost: test\r\n\r\n`;
  const behindExtension = `4;a\r\nbody\r\n${lastChunk}${chunk(get('/hidden'))}`;
  for (const [path, body] of [
    ['/read', inTrailer],
    ['/later', inTrailer],
    ['/unread', inTrailer],
    ['/read', behindExtension],
  ] as const) {
    const connection = await open();
    connection.send(chunkedHead(path) + body);
    if (engine === 'uws') await connection.closed;
    else await connection.responseOrEnd();
  }
  assert.deepEqual(handled, ['/read', '/later', '/unread', '/read']);

  // Sends a valid pipelined request, which is not part of the chunked body.
  const connection = await open();
  connection.send(`${chunkedHead('/read')}${chunk('body')}${lastChunk}${get('/next')}`);
  if (engine === 'node') {
    for (const answer of ['4', '0']) assert.equal((await connection.response()).body.toString(), answer);
  } else {
    await connection.closed;
    assert.equal(handled.at(-1), '/read');
  }
});

test('replies 400 to a request whose length is ambiguous, and closes the connection', async ({ start, open }) => {
  await start(() => assert.fail('the request was handled'));
  const chunked = 'Transfer-Encoding: chunked\r\n';
  const lengths = ['56', '55', '05'].map((pair) => [...pair].map((length) => `Content-Length: ${length}\r\n`).join(''));
  const codings = ['gzip, chunked', 'chunked, chunked', 'identity, chunked', 'chunked;q=1'];
  const codingsOfGet = ['chunked', 'identity', 'xchunked', 'chunked, identity'];
  for (const [param, method, headers] of [
    ['Content-Length', 'POST', lengths],
    ['Content-Length', 'GET', lengths],
    ['Transfer-Encoding', 'POST', codings.map((coding) => `Transfer-Encoding: ${coding}\r\n`)],
    ['Transfer-Encoding', 'POST', [chunked + chunked, `${chunked}Trailer: X-Checksum\r\n`]],
    ['Transfer-Encoding', 'GET', codingsOfGet.map((coding) => `Transfer-Encoding: ${coding}\r\n`)],
  ] as const) {
    const body = param === 'Content-Length' ? 'hello' : chunk('hello') + lastChunk;
    for (const framing of headers) {
      const connection = await open();
      const response = await ask(connection, `${method} / HTTP/1.1\r\nHost: test\r\n${framing}\r\n${body}`);
      const { error, param: named } = errorOf(response);
      assert.deepEqual([response.status, error, named], [400, 'INVALID_REQUEST', param], method + framing);
      assert.ok(response.headers.get('x-request-id'));
      assert.equal(response.headers.get('connection'), 'close');
      await connection.closed;
    }
  }
});

test('handles no request hidden in a body that has ambiguous framing or is too large', async ({ start, open }) => {
  const handled: string[] = [];
  const handler: RequestHandler = (x) => {
    handled.push(x.path);
    x.readBody((body) => x.reply(text(String(body.length))));
  };
  await start(handler, { bodyBytesMax: 1000 });
  const hidden = post('/hidden', 'body', 'Connection: close\r\n');
  const framed = (method: string, ...framing: string[]) =>
    `${method} /carrier HTTP/1.1\r\nHost: test\r\n${framing.join('\r\n')}\r\n\r\n`;
  const chunked = 'Transfer-Encoding: chunked';
  const length = `Content-Length: ${hidden.length}`;
  for (const carrier of [
    framed('POST', `Content-Length: ${lastChunk.length + hidden.length}`, chunked) + lastChunk,
    framed('POST', chunked, chunked) + lastChunk,
    framed('GET', chunked) + lastChunk,
    framed('POST', 'Content-Length: 0', length),
    framed('POST', length, 'Content-Length: 0'),
    post('/carrier', 'x'.repeat(70_000)),
    chunkedHead('/carrier') + chunk('x'.repeat(70_000)) + lastChunk,
  ]) {
    const connection = await open();
    connection.send(carrier + hidden);
    await connection.closed;
  }
  assert.deepEqual(new Set(handled), new Set(['/carrier']));
});

test('replies 400 to a malformed request head, and closes the connection', async ({ start, open }) => {
  const listener = await start(() => assert.fail('the request was handled'));
  const withLength = (length: string) => `POST / HTTP/1.1\r\nHost: test\r\nContent-Length: ${length}\r\n\r\nhello`;
  for (const head of [
    ...['five', '-1', '0x5', '+5', '5, 5', '9'.repeat(23), '\r\nContent-Length: 5'].map(withLength),
    'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: one\r\nHost: two\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: test\r\nBad Name: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: test\r\nX: a\x00b\r\n\r\n',
  ]) {
    const connection = await open();
    assert.equal((await ask(connection, head)).status, 400, head);
    await connection.closed;
  }
  assert.equal(listener.inFlightCount, 0);
});

test('accepts connections after receiving an incomplete request or non-HTTP bytes', async ({ start, open, faults }) => {
  await start((x) => (x.method === 'GET' ? hello(x) : x.readBody(() => assert.fail('a body was read'))));
  const whole = post('/', 'a body');
  const incomplete = Array.from({ length: whole.length / 7 }, (_, at) => whole.slice(0, 1 + 7 * at));
  const others = ['\x16\x03\x01\x02\x00\x01\x00', '\r\n\r\n\r\n', 'hello there\r\n\r\n', '\0'.repeat(100)];
  for (const bytes of [...others, ...incomplete]) {
    const connection = await open();
    connection.send(Buffer.from(bytes, 'latin1'));
    connection.socket.end();
    await connection.closed;
  }
  assert.equal((await ask(await open(), get('/'))).status, 200);
  assert.deepEqual(faults, []);
});

test('accepts a query of 500 sub_ids, and replies 431 if a request head is too long', async ({ start, open }) => {
  await start((x) => x.reply(text(String(x.query.length))));
  const query = `sub_id_list=${Array.from({ length: bounds.subIdListMax }, () => 's'.repeat(68)).join('%2C')}`;
  const connection = await open();
  const request = get(`/analytics?${query}`, 'Authorization: Bearer x\r\n');
  assert.equal((await ask(connection, request)).body.toString(), String(query.length));
  await connection.sendInPieces([request.slice(0, 7_000), request.slice(7_000, 20_000), request.slice(20_000)]);
  assert.equal((await connection.response()).body.toString(), String(query.length));
  const beyond = await open();
  const response = await ask(beyond, get(`/?${'x'.repeat(bounds.requestHeadBytesMax + 1000)}`));
  assert.equal(response.status, 431);
  await beyond.closed;
});
