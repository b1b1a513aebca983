import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { bounds } from '../../src/bounds.ts';
import { errorTable } from '../../src/domain/errors.ts';
import type { ApiError } from '../../src/domain/outcome.ts';
import type { Handler, Listener, ListenerOptions, Reply, RequestContext } from '../../src/http/engines/listener.ts';
import { formatHeader } from '../../src/http/engines/response-head.ts';
import { RawConnection, type RawResponse } from './raw-connection.ts';

/** One behaviour of every listener. Listeners from `start` are closed after the case. */
interface ListenerCase {
  readonly name: string;
  /** Whether the case also runs over TLS, because TLS affects its sockets, buffers or connections. */
  readonly overTls?: true;
  run(bench: ListenerBench): Promise<void>;
}

export interface ListenerBench {
  readonly engine: Listener['engine'];
  /** Errors that the listener reported, with their request ids. */
  readonly faults: { readonly fault: unknown; readonly requestId: string }[];
  start(handler: Handler, overrides?: Partial<ListenerOptions>): Promise<Listener>;
  open(listener: Listener): Promise<RawConnection>;
}

/** Creates an error reply like that of the service. */
export function errorReply(error: ApiError, requestId: string): Reply {
  const { status, message } = errorTable[error.code];
  let headers = formatHeader('Content-Type', 'application/json');
  if (error.retryAfterSeconds !== undefined) headers += formatHeader('Retry-After', String(error.retryAfterSeconds));
  const { param } = error;
  const body = {
    error: error.code,
    message,
    ...(param && { param }),
    ...(status === 500 && { request_id: requestId }),
  };
  return { status, headers, body: JSON.stringify(body) };
}

const text = (body: string, status = 200): Reply => ({
  status,
  headers: formatHeader('Content-Type', 'text/plain; charset=utf-8'),
  body,
});

const hello: Handler = (context) => context.reply(text('hello'));

/** Replies with the size and the first bytes of the request body. */
const echo: Handler = (context) =>
  context.readBody((body) => context.reply(text(`${body.length}:${body.subarray(0, 64).toString()}`)));

/** Body that is larger than the send buffer of the operating system and than a third of `unsentReplyBytesMax`. */
const unbufferedBody = Buffer.alloc(10 * 1024 * 1024, 'x');

const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: test\r\n${headers}\r\n`;
const post = (path: string, body: string, headers = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;

const chunk = (data: string): string => `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`;
const lastChunk = '0\r\n\r\n';
const chunkedHead = (path: string, coding = 'chunked'): string =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: ${coding}\r\n\r\n`;

function errorOf(response: RawResponse): { error: string; param?: string; request_id?: string } {
  return JSON.parse(response.body.toString());
}

async function ask(connection: RawConnection, request: string): Promise<RawResponse> {
  connection.send(request);
  return connection.response();
}

/**
 * Sends a request whose response has no body. Returns the response and its open connection. The native engine closes the connection of
 * some of these responses at random; then this retries on a new connection.
 */
async function askBodyless(
  open: () => Promise<RawConnection>,
  request: string,
): Promise<{ connection: RawConnection; response: RawResponse }> {
  for (;;) {
    const connection = await open();
    connection.send(request);
    const response = await connection.response(true);
    if (response.headers.get('connection') !== 'close') return { connection, response };
    await connection.closed;
  }
}

/** A promise and the function that resolves it. */
function signal<Value = void>(): { promise: Promise<Value>; give: (value: Value) => void } {
  const { promise, resolve } = Promise.withResolvers<Value>();
  return { promise, give: resolve };
}

/** Waits until `reached` returns true, for 20 seconds at most. */
async function until(reached: () => boolean): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!reached()) {
    assert(performance.now() < endMs, 'the condition was never reached');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Waits until new connections are refused. The listener still accepts those that the system has established already. */
async function refuses(open: () => Promise<RawConnection>): Promise<void> {
  for (;;) {
    const fault: NodeJS.ErrnoException | null = await open().then(
      () => null,
      (reason) => reason,
    );
    if (fault?.code === 'ECONNREFUSED') return;
  }
}

export const listenerCases: readonly ListenerCase[] = [
  {
    name: 'passes method, path and query to the handler undecoded',
    async run({ start, open }) {
      const listener = await start((x) => x.reply(text(JSON.stringify([x.method, x.path, x.query]))));
      const connection = await open(listener);
      const seen = async (line: string): Promise<unknown> =>
        JSON.parse((await ask(connection, `${line} HTTP/1.1\r\nHost: test\r\n\r\n`)).body.toString());
      assert.deepEqual(await seen('GET /a%2Fb//c?x=%2C&y=1?2'), ['GET', '/a%2Fb//c', 'x=%2C&y=1?2']);
      assert.deepEqual(await seen('PUT /'), ['PUT', '/', '']);
      assert.deepEqual(await seen('DELETE /x?'), ['DELETE', '/x', '']);
      assert.deepEqual(await seen('OPTIONS /x'), ['OPTIONS', '/x', '']);
    },
  },
  {
    name: 'parses an absolute request target, if the engine accepts it',
    async run({ start, open, engine }) {
      const listener = await start((x) => x.reply(text(JSON.stringify([x.path, x.query, x.header('host')]))));
      const seen = async (target: string): Promise<unknown> => {
        const response = await ask(await open(listener), `GET ${target} HTTP/1.1\r\nHost: other\r\n\r\n`);
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
    },
  },
  {
    name: 'sends status, headers, length, date and request id once, and no Server header',
    overTls: true,
    async run({ start, open }) {
      const listener = await start((x) =>
        x.reply({ status: 404, headers: formatHeader('X-One', '1') + formatHeader('X-Two', 'a, b'), body: 'né' }),
      );
      const response = await ask(await open(listener), get('/'));
      assert.equal(response.status, 404);
      assert.equal(response.headers.get('x-one'), '1');
      assert.equal(response.headers.get('x-two'), 'a, b');
      assert.equal(response.headers.get('content-length'), '3');
      assert.equal(response.body.toString(), 'né');
      assert.ok(!Number.isNaN(Date.parse(response.headers.get('date') ?? '')));
      assert.ok(response.headers.get('x-request-id'));
      assert.ok([...response.counts.values()].every((count) => count === 1));
      assert.ok(!response.headers.has('server') && !response.headers.has('uwebsockets'));
    },
  },
  {
    name: 'sends a body of bytes unchanged',
    async run({ start, open }) {
      const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const listener = await start((x) => x.reply({ status: 200, headers: '', body: bytes.subarray(1) }));
      const response = await ask(await open(listener), get('/'));
      assert.deepEqual(response.body, Buffer.from(bytes.subarray(1)));
    },
  },
  {
    name: 'sends 204 and 304 responses without body and Content-Length, and keeps the connection open',
    async run({ start, open }) {
      const listener = await start((x) =>
        x.reply({ status: Number(x.path.slice(1)), headers: formatHeader('X-A', 'b'), body: '' }),
      );
      for (const status of [204, 304]) {
        const { connection, response } = await askBodyless(() => open(listener), get(`/${status}`));
        assert.equal(response.status, status);
        assert.equal(response.headers.get('x-a'), 'b');
        assert.equal(response.headers.has('content-length'), false);
        assert.equal((await ask(connection, get('/200'))).status, 200);
      }
    },
  },
  {
    name: 'replies to HEAD without a body, from the handler and from a later event-loop turn',
    async run({ start, open }) {
      const listener = await start(async (x) => {
        if (x.path === '/later') await new Promise(setImmediate);
        x.reply(text('né'));
      });
      for (const path of ['/now', '/later']) {
        const request = `HEAD ${path} HTTP/1.1\r\nHost: test\r\n\r\n`;
        const { connection, response: head } = await askBodyless(() => open(listener), request);
        // The next response would start with the body of the HEAD response, if it had one.
        const asked = await ask(connection, get(path));
        assert.equal(asked.status, 200);
        assert.equal(head.status, 200);
        assert.equal(head.headers.get('content-length'), asked.headers.get('content-length'));
        assert.deepEqual([...head.headers.keys()].sort(), [...asked.headers.keys()].sort());
        assert.ok([...head.counts.values()].every((count) => count === 1));
        assert.equal(connection.rest, '');
      }
    },
  },
  {
    name: 'header() returns a request header by lower-case name, an empty string if absent, and the first value if repeated',
    async run({ start, open }) {
      const listener = await start((x) =>
        x.reply(text([x.header('x-some'), x.header('x-none'), x.header('x-twice')].join())),
      );
      const response = await ask(await open(listener), get('/', 'X-SOME:  value \r\nX-Twice: 1\r\nX-Twice: 2\r\n'));
      assert.equal(response.body.toString(), 'value,,1');
    },
  },
  {
    name: 'throws if a header is read after the handler returned or awaited',
    async run({ start, open, faults }) {
      const listener = await start(async (x) => {
        if (x.path === '/awaited') await null;
        if (x.path === '/returned') await new Promise(setImmediate);
        x.reply(text(x.header('host')));
      });
      const connection = await open(listener);
      const statuses: number[] = [];
      for (const path of ['/', '/awaited', '/returned']) statuses.push((await ask(connection, get(path))).status);
      assert.deepEqual(statuses, [200, 500, 500]);
      for (const { fault } of faults) assert.match(String(fault), /request header/);
      assert.equal(faults.length, 2);
    },
  },
  {
    name: 'ignores an Expect header with an unknown value',
    async run({ start, open }) {
      const listener = await start((x) => x.readBody((body) => x.reply(text(body.toString()))));
      const response = await ask(await open(listener), post('/', 'body', 'Expect: something\r\n'));
      assert.deepEqual([response.status, response.body.toString()], [200, 'body']);
    },
  },
  {
    name: 'reads a request body that is sent whole or in parts, is empty or is absent',
    overTls: true,
    async run({ start, open }) {
      const listener = await start(echo);
      const connection = await open(listener);
      assert.equal((await ask(connection, post('/', 'grün'))).body.toString(), '5:grün');
      const bytes = Buffer.from(post('/', 'grün'));
      const split = bytes.length - 2;
      connection.send(bytes.subarray(0, 9));
      await new Promise(setImmediate);
      connection.send(bytes.subarray(9, split - 2));
      await new Promise(setImmediate);
      connection.send(bytes.subarray(split - 2, split));
      await new Promise(setImmediate);
      connection.send(bytes.subarray(split));
      assert.equal((await connection.response()).body.toString(), '5:grün');
      for (const request of [get('/'), post('/', '')]) {
        assert.equal((await ask(connection, request)).body.toString(), '0:');
      }
      await connection.sendInPieces(['POST / HT', 'TP/1.1\r\nHost: test\r\nContent-Le', 'ngth: 0\r\n\r', '\n']);
      assert.equal((await connection.response()).body.toString(), '0:');
    },
  },
  {
    name: 'lets a client that sends 10 MB read the 413 before it closes the connection',
    async run({ start, open }) {
      const listener = await start((x) => x.readBody(() => assert.fail('a body was read')));
      const bytes = Buffer.alloc(64 * 1024, 'x');
      const length = `POST / HTTP/1.1\r\nHost: test\r\nContent-Length: ${160 * bytes.length}\r\n\r\n`;
      for (const [head, piece, end] of [
        [length, bytes, ''],
        [chunkedHead('/'), chunk(bytes.toString()), lastChunk],
      ] as const) {
        const connection = await open(listener);
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
    },
  },
  {
    name: 'closes a connection whose large body never ends, whether the handler reads the body or not',
    async run({ start, open }) {
      const listener = await start((x) => (x.path === '/read' ? echo(x) : undefined), { deadlineMs: 50 });
      for (const [path, status] of [
        ['/read', 413],
        ['/ignored', 503],
      ] as const) {
        const connection = await open(listener);
        connection.send(`POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: 10485760\r\n\r\nx`);
        assert.equal((await connection.response()).status, status);
        assert.equal(listener.inFlightCount, 0);
        await connection.closed;
      }
    },
  },
  {
    name: 'sends a reply before a large body is read, and closes the connection',
    async run({ start, open }) {
      const listener = await start(async (x) => {
        if (x.path === '/later') await new Promise(setImmediate);
        x.reply(text('unauthorized', 401));
      });
      for (const path of ['/now', '/later']) {
        const connection = await open(listener);
        const response = await ask(connection, post(path, 'x'.repeat(200_000)));
        assert.equal(response.status, 401);
        assert.equal(response.body.toString().trimEnd(), 'unauthorized');
        assert.equal(response.headers.get('connection'), 'close');
        await connection.closed;
      }
    },
  },
  {
    name: 'sends a reply before a small body is read or received, and keeps the connection open',
    async run({ start, open }) {
      const listener = await start((x) => x.reply(text(`${x.method} ${x.path}`, 401)));
      const connection = await open(listener);
      assert.equal((await ask(connection, post('/1', 'x'.repeat(500)))).status, 401);
      const [head = '', body = ''] = post('/2', 'y'.repeat(500)).split('\r\n\r\n');
      assert.equal((await ask(connection, `${head}\r\n\r\n`)).status, 401);
      connection.send(body);
      assert.equal((await ask(connection, get('/3'))).body.toString(), 'GET /3');
    },
  },
  {
    name: 'calls onBodyUnavailable once: body too large, client disconnected, or deadline passed',
    async run({ start, open }) {
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
      const whole = await open(listener);
      await ask(whole, post('/whole', 'a body'));
      await ask(await open(listener), post('/large', 'x'.repeat(101)));
      const gone = await open(listener);
      gone.send('POST /gone HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf');
      await until(() => listener.inFlightCount === 1);
      gone.close();
      await until(() => listener.inFlightCount === 0);
      const late = await open(listener);
      late.send('POST /late HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf');
      assert.equal((await late.response()).status, 503);
      // The rest of the body is discarded, and the connection remains usable.
      late.send('a body');
      assert.equal((await ask(late, get('/next'))).body.toString(), 'read');
      assert.equal(calls.pop(), '/next body');
      assert.deepEqual(calls, ['/whole body', '/large none', '/gone none', '/late none']);
    },
  },
  {
    name: 'sets `ended` when the client disconnects, and drops a later reply without reporting an error',
    overTls: true,
    async run({ start, open, faults }) {
      const arrived = signal<RequestContext>();
      const answered: number[] = [];
      const listener = await start((x) => (x.path === '/pending' ? arrived.give(x) : hello(x)), {
        onReply: (_route, status) => answered.push(status),
      });
      const connection = await open(listener);
      connection.send(get('/pending'));
      const context = await arrived.promise;
      assert.equal(context.ended, false);
      connection.close();
      await until(() => context.ended);
      assert.equal(listener.inFlightCount, 0);
      context.reply(text('too late'));
      assert.equal((await ask(await open(listener), get('/'))).status, 200);
      assert.deepEqual([faults, answered], [[], [200]]);
    },
  },
  {
    name: 'replies 503 with Retry-After at the deadline, and drops the handler’s reply',
    async run({ start, open }) {
      let deadlines = 0;
      const arrived = signal<RequestContext>();
      const onDeadline = (): void => {
        deadlines += 1;
      };
      const listener = await start((x) => (x.path === '/pending' ? arrived.give(x) : hello(x)), {
        deadlineMs: 50,
        onDeadline,
      });
      const connection = await open(listener);
      const response = await ask(connection, get('/pending'));
      assert.equal(response.status, 503);
      assert.equal(errorOf(response).error, 'SERVICE_UNAVAILABLE');
      assert.equal(response.headers.get('retry-after'), String(bounds.retryAfterSeconds));
      const context = await arrived.promise;
      assert.equal(context.ended, true);
      context.reply(text('too late'));
      assert.equal((await ask(connection, get('/'))).body.toString(), 'hello');
      assert.equal(deadlines, 1);
      assert.equal(listener.inFlightCount, 0);
    },
  },
  {
    name: 'calls onReply once for each reply, with route and status',
    async run({ start, open }) {
      const answered: (readonly [route: number, status: number])[] = [];
      const handler: Handler = (x) => {
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
      const listener = await start(handler, { onReply, deadlineMs: 200, bodyBytesMax: 8 });
      const seen = async (request: string): Promise<number> => (await ask(await open(listener), request)).status;
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
    },
  },
  {
    name: 'replies 500 and reports the error if the handler or its body callback throws or rejects',
    async run({ start, open, faults }) {
      const listener = await start((x) => {
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
      const connection = await open(listener);
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
    },
  },
  {
    name: 'reports an error of onBodyUnavailable, and still replies',
    async run({ start, open, faults }) {
      const fail = (): void => {
        throw new Error('body unavailable');
      };
      const listener = await start((x) => (x.method === 'GET' ? hello(x) : x.readBody(() => {}, fail)));
      const connection = await open(listener);
      connection.send('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10485760\r\n\r\n');
      assert.equal((await connection.response()).status, 413);
      assert.equal(faults.length, 1);
      const leaving = await open(listener);
      leaving.send('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf');
      await until(() => listener.inFlightCount === 1);
      leaving.close();
      await until(() => faults.length === 2);
      assert.equal(listener.inFlightCount, 0);
      assert.equal((await ask(await open(listener), get('/'))).status, 200);
    },
  },
  {
    name: 'replies 500 if a header value contains a line break',
    async run({ start, open, faults }) {
      const listener = await start(async (x) => {
        if (x.query === 'later') await new Promise(setImmediate);
        x.reply({
          status: 200,
          headers: formatHeader('X-A', x.path === '/lf' ? 'a\nX-Evil: 1' : 'a\rX-Evil: 1'),
          body: '',
        });
      });
      const connection = await open(listener);
      for (const target of ['/lf', '/cr', '/lf?later']) {
        const response = await ask(connection, get(target));
        assert.equal(response.status, 500);
        assert.equal(response.headers.has('x-evil'), false);
      }
      assert.equal(faults.length, 3);
    },
  },
  {
    name: 'reports a second or late call of readBody',
    async run({ start, open, faults }) {
      const listener = await start(async (x) => {
        if (x.path === '/late') await null;
        else x.readBody(() => {});
        x.readBody(() => {});
      });
      const connection = await open(listener);
      assert.equal((await ask(connection, post('/twice', 'x'))).status, 500);
      assert.equal((await ask(await open(listener), post('/late', 'x'))).status, 500);
      assert.equal(faults.length, 2);
    },
  },
  {
    name: 'reads a chunked body that is sent whole, in parts or byte by byte',
    async run({ start, open, engine }) {
      const listener = await start(echo);
      const body = '5\r\ngr\u00fcn\r\n00A\r\n0123456789\r\n0\r\n\r\n';
      let connection = await open(listener);
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
        connection = await open(listener);
      }
      connection.send(`${chunkedHead('/')}0\r\n\r\n`);
      assert.equal((await connection.response()).body.toString(), '0:');
    },
  },
  {
    name: 'replies 204 to a chunked body, and closes the connection or handles the next request',
    async run({ start, open, engine }) {
      const listener = await start((x) => x.readBody(() => x.reply({ status: 204, headers: '', body: '' })));
      const connection = await open(listener);
      connection.send(`${chunkedHead('/')}${chunk('body')}${lastChunk}`);
      const response = await connection.response();
      assert.deepEqual([response.status, response.headers.has('content-length')], [204, false]);
      if (engine === 'node') assert.equal((await ask(connection, post('/', ''))).status, 204);
      else await connection.closed;
      assert.equal(connection.rest, '');
    },
  },
  {
    name: 'accepts a body of exactly the maximum size, and replies 413 to one byte more, for chunked bodies before the body ends',
    async run({ start, open }) {
      let bodies = 0;
      const handler: Handler = (x) =>
        x.readBody((body) => {
          bodies += 1;
          x.reply(text(String(body.length)));
        });
      const listener = await start(handler, { bodyBytesMax: 1000, deadlineMs: 60_000 });
      const chunks = chunkedHead('/') + chunk('x').repeat(400) + chunk('y'.repeat(600));
      for (const request of [post('/', 'x'.repeat(1000)), chunks + lastChunk]) {
        assert.equal((await ask(await open(listener), request)).body.toString(), '1000');
      }
      for (const [request, rest] of [
        [post('/', 'x'.repeat(1001)), ''],
        [chunks + chunk('z') + lastChunk, ''],
        [chunks + chunk('z'), lastChunk],
      ] as const) {
        const connection = await open(listener);
        const rejected = await ask(connection, request);
        assert.deepEqual([rejected.status, errorOf(rejected).error], [413, 'PAYLOAD_TOO_LARGE']);
        assert.equal(rejected.headers.get('connection'), 'close');
        connection.send(rest);
        await connection.closed;
      }
      assert.equal(bodies, 2);
      assert.equal(listener.inFlightCount, 0);
    },
  },
  {
    name: 'replies and closes the connection if a chunked body never ends, also if the handler does not read the body',
    async run({ start, open }) {
      const calls: string[] = [];
      const handler: Handler = (x) => {
        if (x.path === '/unread') return x.reply(text('unauthorized', 401));
        x.readBody(
          () => void calls.push('body'),
          () => void calls.push(x.path),
        );
      };
      const listener = await start(handler, { bodyBytesMax: 100, deadlineMs: 50 });
      for (const [path, sent, status] of [
        ['/unread', chunk('x'), 401],
        ['/small', chunk('x'), 503],
        ['/sized', 'FFFFFFF\r\nx', 503],
        ['/large', chunk('x'.repeat(101)), 413],
      ] as const) {
        const connection = await open(listener);
        connection.send(chunkedHead(path) + sent);
        const response = await connection.response();
        assert.deepEqual([response.status, response.headers.get('connection')], [status, 'close'], path);
        await connection.closed;
      }
      assert.deepEqual(calls, ['/small', '/sized', '/large']);
      assert.equal(listener.inFlightCount, 0);
    },
  },
  {
    name: 'replies 400 to an invalid or too large chunk size, and closes the connection',
    async run({ start, open }) {
      const listener = await start((x) => x.readBody(() => assert.fail('a body was read')));
      for (const size of ['zz', '-5', '+5', '0x5', '5'.repeat(40)]) {
        for (const before of ['', chunk('sound')]) {
          const connection = await open(listener);
          connection.send(chunkedHead('/') + before);
          if (before !== '') await until(() => listener.inFlightCount === 1);
          connection.send(`${size}\r\nhello\r\n${lastChunk}`);
          assert.equal((await connection.response()).status, 400, size);
          await connection.closed;
        }
      }
      assert.equal(listener.inFlightCount, 0);
    },
  },
  {
    name: 'does not handle requests that are hidden in trailers or chunk extensions',
    async run({ start, open, engine }) {
      const handled: string[] = [];
      const listener = await start(
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
        const connection = await open(listener);
        connection.send(chunkedHead(path) + body);
        if (engine === 'uws') await connection.closed;
        else await connection.responseOrEnd();
      }
      assert.deepEqual(handled, ['/read', '/later', '/unread', '/read']);

      // Sends a valid pipelined request, which is not part of the chunked body.
      const connection = await open(listener);
      connection.send(`${chunkedHead('/read')}${chunk('body')}${lastChunk}${get('/next')}`);
      if (engine === 'node') {
        for (const answer of ['4', '0']) assert.equal((await connection.response()).body.toString(), answer);
      } else {
        await connection.closed;
        assert.equal(handled.at(-1), '/read');
      }
    },
  },
  {
    name: 'replies 400 to a request whose length is ambiguous, and closes the connection',
    async run({ start, open }) {
      const listener = await start(() => assert.fail('the request was handled'));
      const chunked = 'Transfer-Encoding: chunked\r\n';
      const lengths = [
        [5, 6],
        [5, 5],
        [0, 5],
      ].map(([first, second]) => `Content-Length: ${first}\r\nContent-Length: ${second}\r\n`);
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
          const connection = await open(listener);
          const response = await ask(connection, `${method} / HTTP/1.1\r\nHost: test\r\n${framing}\r\n${body}`);
          const { error, param: named } = errorOf(response);
          assert.deepEqual([response.status, error, named], [400, 'INVALID_REQUEST', param], method + framing);
          assert.ok(response.headers.get('x-request-id'));
          assert.equal(response.headers.get('connection'), 'close');
          await connection.closed;
        }
      }
    },
  },
  {
    name: 'handles no request that is hidden behind ambiguous framing or a body over the limit',
    async run({ start, open }) {
      const handled: string[] = [];
      const handler: Handler = (x) => {
        handled.push(x.path);
        x.readBody((body) => x.reply(text(String(body.length))));
      };
      const listener = await start(handler, { bodyBytesMax: 1000 });
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
        const connection = await open(listener);
        connection.send(carrier + hidden);
        await connection.closed;
      }
      assert.deepEqual(new Set(handled), new Set(['/carrier']));
    },
  },
  {
    name: 'replies 400 to a malformed request head without calling the handler, and closes the connection',
    async run({ start, open }) {
      let handled = 0;
      const listener = await start((x) => {
        handled += 1;
        hello(x);
      });
      const heads = [
        'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: five\r\n\r\n',
        'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: -1\r\n\r\n',
        'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 0x5\r\n\r\n',
        'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: +5\r\n\r\nhello',
        'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 5, 5\r\n\r\nhello',
        'POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
        'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999999999999999\r\n\r\n',
        'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: \r\nContent-Length: 5\r\n\r\nhello',
        'POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: one\r\nHost: two\r\n\r\n',
        'GET / HTTP/1.1\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: test\r\nBad Name: x\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: test\r\nX: a\x00b\r\n\r\n',
      ];
      for (const head of heads) {
        const connection = await open(listener);
        const response = await ask(connection, head);
        assert.equal(response.status, 400, head);
        await connection.closed;
      }
      assert.equal(handled, 0);
      assert.equal(listener.inFlightCount, 0);
    },
  },
  {
    name: 'continues after bytes that are not HTTP, and passes no incomplete body to the handler',
    async run({ start, open, faults }) {
      const listener = await start((x) =>
        x.method === 'GET' ? hello(x) : x.readBody(() => assert.fail('a body was read')),
      );
      const whole = post('/', 'a body');
      const incomplete = Array.from({ length: whole.length / 7 }, (_, at) => whole.slice(0, 1 + 7 * at));
      for (const bytes of [
        '\x16\x03\x01\x02\x00\x01\x00',
        '\r\n\r\n\r\n',
        'hello there\r\n\r\n',
        '\0'.repeat(100),
        ...incomplete,
      ]) {
        const connection = await open(listener);
        connection.send(Buffer.from(bytes, 'latin1'));
        connection.socket.end();
        await connection.closed;
      }
      assert.equal((await ask(await open(listener), get('/'))).status, 200);
      assert.deepEqual(faults, []);
    },
  },
  {
    name: 'accepts a query of 500 ids, and replies 431 to a head over the limit',
    async run({ start, open }) {
      const listener = await start((x) => x.reply(text(String(x.query.length))));
      const query = `sub_id_list=${Array.from({ length: bounds.subIdListMax }, () => 's'.repeat(68)).join('%2C')}`;
      const connection = await open(listener);
      const request = get(`/analytics?${query}`, 'Authorization: Bearer x\r\n');
      assert.equal((await ask(connection, request)).body.toString(), String(query.length));
      await connection.sendInPieces([request.slice(0, 7_000), request.slice(7_000, 20_000), request.slice(20_000)]);
      assert.equal((await connection.response()).body.toString(), String(query.length));
      const beyond = await open(listener);
      const response = await ask(beyond, get(`/?${'x'.repeat(bounds.requestHeadBytesMax + 1000)}`));
      assert.equal(response.status, 431);
      await beyond.closed;
    },
  },
  {
    name: 'replies in order to pipelined requests whose handlers reply immediately',
    async run({ start, open, engine }) {
      const listener = await start((x) => x.reply(text(x.path)));
      const connection = await open(listener);
      connection.send(get('/1') + post('/2', 'body') + get('/3'));
      for (const path of ['/1', '/2', '/3']) assert.equal((await connection.response()).body.toString(), path);
      const many = Array.from({ length: engine === 'uws' ? 150 : bounds.pipelinedRequestsMax }, (_, at) => `/${at}`);
      connection.send(many.map((path) => get(path)).join(''));
      for (const path of many) assert.equal((await connection.response()).body.toString(), path);
    },
  },
  {
    name: 'replies in order to requests that are pipelined after a pending request',
    async run({ start, open, engine }) {
      const listener = await start(async (x) => {
        if (x.path === '/slow') await new Promise((resolve) => setTimeout(resolve, 20));
        x.reply(text(x.path));
      });
      const connection = await open(listener);
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
    },
  },
  {
    name: 'closes a connection with too many pipelined requests',
    async run({ start, open }) {
      let most = 0;
      const listener = await start(() => {
        most = Math.max(most, listener.inFlightCount);
      });
      const connection = await open(listener);
      connection.send(get('/').repeat(1000));
      await connection.closed;
      await until(() => listener.inFlightCount === 0);
      assert(most <= bounds.pipelinedRequestsMax);
    },
  },
  {
    name: 'closes a connection that pipelines more requests than one turn of the event loop may answer',
    async run({ start, open }) {
      let handled = 0;
      const listener = await start((x) => {
        handled += 1;
        hello(x);
      });
      const connection = await open(listener);
      connection.send(get('/').repeat(2_000));
      await connection.closed;
      assert(handled <= bounds.repliesPerTurnMax + 1, `${handled} requests`);
    },
  },
  {
    name: 'replies on many connections, also to more requests than one turn may answer',
    async run({ start, open }) {
      const listener = await start(hello);
      const count = bounds.repliesPerTurnMax + 50;
      const connections = await Promise.all(Array.from({ length: count }, () => open(listener)));
      for (const connection of connections) connection.send(get('/'));
      for (const connection of connections) assert.equal((await connection.response()).body.toString(), 'hello');
    },
  },
  {
    name: 'handles no further request of a connection while a reply is unsent',
    async run({ start, open, engine }) {
      let handled = 0;
      const listener = await start((x) => {
        handled += 1;
        x.reply({ status: 200, headers: '', body: unbufferedBody });
      });
      const connection = await open(listener);
      connection.socket.pause();
      connection.send(get('/').repeat(3));
      await until(() => handled > 0);
      const other = await open(listener);
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
    },
  },
  {
    name: 'if too many reply bytes are unsent, closes the connection that made no progress for the longest time',
    async run({ start, open }) {
      let handled = 0;
      const listener = await start((x) => {
        handled += 1;
        x.reply({ status: 200, headers: '', body: unbufferedBody });
      });
      const connections: RawConnection[] = [];
      for (let at = 0; at < 5; at += 1) {
        const connection = await open(listener);
        connection.socket.pause();
        connection.send(get('/'));
        connections.push(connection);
        await until(() => handled === connections.length);
      }
      const [first, last] = [connections[0] as RawConnection, connections[4] as RawConnection];
      first.socket.resume();
      assert.equal(await first.responseOrEnd(), null);
      last.socket.resume();
      assert.deepEqual((await last.response()).body, unbufferedBody);
    },
  },
  {
    name: 'sends replies of other requests from a handler, a microtask and a later turn',
    async run({ start, open }) {
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
      for (const [path, how] of [
        ['/within', 'at once:'],
        ['/microtask', 'microtask:'],
        ['/later', 'later:'],
      ] as const) {
        const others = await Promise.all([open(listener), open(listener)]);
        for (const [index, other] of others.entries()) other.send(get(`/${index}`));
        await until(() => waiting.length === 2);
        const last = await open(listener);
        assert.equal((await ask(last, get(path))).body.toString(), how + path);
        for (const [index, other] of others.entries()) {
          assert.equal((await other.response()).body.toString(), `${how}/${index}`);
        }
        await until(() => listener.inFlightCount === 0);
      }
    },
  },
  {
    name: 'drops a reply if the client disconnects in the same event-loop turn',
    async run({ start, open }) {
      let waiting: RequestContext[] = [];
      const listener = await start((x) => {
        if (x.path === '/hello') return hello(x);
        waiting.push(x);
        if (x.path !== '/all') return;
        for (const context of waiting) context.reply(text(context.path));
        waiting = [];
      });
      for (let round = 0; round < 50; round += 1) {
        const leaving = await open(listener);
        leaving.send(get('/leaves'));
        await until(() => waiting.length === 1);
        const staying = await open(listener);
        await ask(staying, get('/hello'));
        // The server reads both in one turn: first the request that triggers the reply, then the disconnect.
        staying.send(get('/all'));
        leaving.close();
        assert.equal((await staying.response()).body.toString(), '/all');
        staying.close();
      }
      await until(() => listener.inFlightCount === 0);
    },
  },
  {
    name: 'keeps a connection open for many requests with unique ids, and closes it on request',
    async run({ start, open }) {
      const listener = await start((x) => x.reply(text(x.requestId)));
      const connection = await open(listener);
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
    },
  },
  {
    name: 'sends a large body completely, also to a slow client',
    overTls: true,
    async run({ start, open }) {
      const large = 'x'.repeat(8 * 1024 * 1024);
      let answered = signal();
      const listener = await start(async (x) => {
        if (x.path === '/later') await new Promise(setImmediate);
        x.reply(text(large));
        answered.give();
      });
      for (const path of ['/now', '/later']) {
        answered = signal();
        const connection = await open(listener);
        connection.socket.pause();
        connection.send(get(path));
        await answered.promise;
        await new Promise(setImmediate);
        connection.socket.resume();
        assert.equal((await connection.response()).body.length, large.length);
        connection.close();
      }
    },
  },
  {
    name: 'reports the bound port, and rejects with the system error if the port is in use',
    async run({ start }) {
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
    },
  },
  {
    name: 'runs several listeners at once',
    async run({ start, open }) {
      const one = await start((x) => x.reply(text('one')));
      const two = await start((x) => x.reply(text('two')));
      assert.equal((await ask(await open(one), get('/'))).body.toString(), 'one');
      const connection = await open(two);
      assert.equal((await ask(connection, get('/'))).body.toString(), 'two');
      await one.close(1000);
      assert.equal((await ask(connection, get('/'))).body.toString(), 'two');
      await assert.rejects(open(one), { code: 'ECONNREFUSED' });
    },
  },
  {
    name: 'drain: accepts no new connection, replies with Connection: close, then closes idle connections',
    overTls: true,
    async run({ start, open }) {
      const arrived = signal<RequestContext>();
      const listener = await start((x) => (x.path === '/pending' ? arrived.give(x) : hello(x)));
      const idle = await open(listener);
      assert.equal((await ask(idle, get('/'))).status, 200);
      const busy = await open(listener);
      busy.send(get('/pending'));
      const context = await arrived.promise;
      let closed = false;
      const closing = listener.close(60_000).then(() => {
        closed = true;
      });
      await refuses(() => open(listener));
      assert.equal(closed, false);
      assert.equal(listener.inFlightCount, 1);
      context.reply(text('last'));
      const response = await busy.response();
      assert.equal(response.body.toString(), 'last');
      assert.equal(response.headers.get('connection'), 'close');
      await Promise.all([busy.closed, idle.closed, closing]);
      assert.equal(listener.inFlightCount, 0);
      await listener.close(0);
    },
  },
  {
    name: 'drain: keeps accepting connections during the delay, and closes each after its reply',
    async run({ start, open }) {
      const listener = await start(hello);
      const kept = await open(listener);
      assert.equal((await ask(kept, get('/'))).headers.get('connection') === 'close', false);
      const silent = await open(listener);
      const closing = listener.close(60_000, 3_000);
      for (const connection of [kept, await open(listener)]) {
        const response = await ask(connection, get('/'));
        assert.equal(response.headers.get('connection'), 'close');
        await connection.closed;
      }
      assert.equal(await closing, 0);
      await silent.closed;
      await assert.rejects(open(listener), { code: 'ECONNREFUSED' });
    },
  },
  {
    name: 'drain: handles a connection that the system had established before',
    async run({ start }) {
      const listener = await start(hello);
      const connecting = RawConnection.open(listener.port);
      // The system has established the connection by now, and the listener has not accepted it yet.
      const closing = listener.close(60_000);
      const connection = await connecting;
      const response = await ask(connection, get('/'));
      assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close']);
      await Promise.all([connection.closed, closing]);
    },
  },
  {
    name: 'drain: sends HEAD and 204 replies',
    async run({ start, open }) {
      const waiting: RequestContext[] = [];
      const listener = await start((x) => void waiting.push(x));
      const connections = await Promise.all([open(listener), open(listener)]);
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
    },
  },
  {
    name: 'drain: waits until a client has read the last large reply',
    overTls: true,
    async run({ start, open }) {
      const arrived = signal<RequestContext>();
      const listener = await start((x) => arrived.give(x));
      const connection = await open(listener);
      connection.socket.pause();
      connection.send(get('/'));
      const context = await arrived.promise;
      const closing = listener.close(60_000);
      context.reply({ status: 200, headers: '', body: unbufferedBody });
      await refuses(() => open(listener));
      connection.socket.resume();
      const response = await connection.response();
      assert.equal(response.headers.get('connection'), 'close');
      assert.deepEqual(response.body, unbufferedBody);
      await connection.closed;
      assert.equal(await closing, 0);
    },
  },
  {
    name: 'drain: closes connections with pending requests after the grace period',
    async run({ start, open }) {
      const arrived = signal<RequestContext>();
      const listener = await start((x) => arrived.give(x), { deadlineMs: 60_000 });
      const connection = await open(listener);
      connection.send(get('/'));
      const context = await arrived.promise;
      assert.equal(await listener.close(10), 1);
      await connection.closed;
      assert.equal(context.ended, true);
      assert.equal(listener.inFlightCount, 0);
      context.reply(text('too late'));
      assert.equal(connection.rest, '');
    },
  },
  {
    name: 'drain: loses no reply under load',
    overTls: true,
    async run({ start, open }) {
      let taken = 0;
      let draining = false;
      const listener = await start(async (x) => {
        taken += 1;
        await new Promise((resolve) => setTimeout(resolve, taken % 3));
        x.reply(text('x'.repeat(1000)));
      });
      let answered = 0;
      const client = async (): Promise<void> => {
        const connection = await open(listener);
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
    },
  },
];
