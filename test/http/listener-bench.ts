import assert from 'node:assert/strict';
import { mock, test as runTest } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { Listener, ListenerOptions, RequestHandler } from '../../src/http/engines/listener.ts';
import { startNodeListener } from '../../src/http/engines/node-listener.ts';
import { formatHeader, type Reply } from '../../src/http/engines/response-head.ts';
import { startUwsListener } from '../../src/http/engines/uws-listener.ts';
import { errorReply } from '../../src/http/routes/replies.ts';
import { readCertificate } from '../../src/tls/certificate.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { RawConnection, type RawResponse } from './raw-connection.ts';

export const engines = { uws: startUwsListener, node: startNodeListener };

export const text = (body: string, status = 200): Reply => ({
  status,
  headers: formatHeader('Content-Type', 'text/plain; charset=utf-8'),
  body,
});

export const hello: RequestHandler = (context) => context.reply(text('hello'));

/** Replies with the size and the first bytes of the request body. */
export const echo: RequestHandler = (context) =>
  context.readBody((body) => context.reply(text(`${body.length}:${body.subarray(0, 64).toString()}`)));

/** Body that is larger than the send buffer of the operating system and than a third of `unsentReplyBytesMax`. */
export const unbufferedBody = Buffer.alloc(10 * 1024 * 1024, 'x');

export const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: test\r\n${headers}\r\n`;
export const post = (path: string, body: string, headers = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;

export const chunk = (data: string): string => `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`;
export const lastChunk = '0\r\n\r\n';
export const chunkedHead = (path: string, coding = 'chunked'): string =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: ${coding}\r\n\r\n`;

export function errorOf(response: RawResponse): { error: string; param?: string; request_id?: string } {
  return JSON.parse(response.body.toString());
}

export async function ask(connection: RawConnection, request: string): Promise<RawResponse> {
  connection.send(request);
  return connection.response();
}

/**
 * Sends a request whose response has no body. Returns the response and its open connection. The native engine closes the connection of
 * some of these responses at random; then this retries on a new connection.
 */
export async function askBodyless(
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

/** Waits until `reached` returns true. */
export async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Waits until new connections are refused. The listener still accepts those that the system has established already. */
export async function refuses(open: () => Promise<RawConnection>): Promise<void> {
  for (;;) {
    const fault: NodeJS.ErrnoException | null = await open().then(
      () => null,
      (reason) => reason,
    );
    if (fault?.code === 'ECONNREFUSED') return;
  }
}

/** Starts a drain of which the delay ends when the test calls `endDelay`. */
export function closeWithDelay(listener: Listener): {
  readonly closing: Promise<number>;
  readonly endDelay: () => void;
} {
  let endDelay = (): void => {};
  // `close` sets the timer of the delay before it returns.
  const { mock: timer } = mock.method(globalThis, 'setTimeout', (onTimeout: () => void) => {
    endDelay = onTimeout;
  });
  const closing = listener.close(3_600_000, 1);
  timer.restore();
  return { closing, endDelay };
}

/** Options of a listener on a free port. A handler error fails the test. */
export function listenerOptions(handler: RequestHandler): ListenerOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    handler,
    errorReply,
    onHandlerError: (fault) => assert.fail(String(fault)),
    bodyBytesMax: bounds.requestBodyBytesMax,
    deadlineMs: 600_000,
  };
}

interface ListenerBench {
  readonly engine: Listener['engine'];
  /** Errors that the listener reported, with their request ids. */
  readonly faults: { readonly fault: unknown; readonly requestId: string }[];
  start(handler: RequestHandler, overrides?: Partial<ListenerOptions>): Promise<Listener>;
  /** Opens a connection to the listener that was started last. */
  open(): Promise<RawConnection>;
  /** Starts a listener and opens a connection. */
  serve(
    handler: RequestHandler,
    overrides?: Partial<ListenerOptions>,
  ): Promise<{ listener: Listener; connection: RawConnection }>;
}

type ListenerTest = (bench: ListenerBench) => Promise<void>;

/** Declares a test of one behaviour of every listener. Closes the listeners and connections of the test. */
export function test(name: string, run: ListenerTest): void {
  for (const engine of ['uws', 'node'] as const) {
    runTest(`${name} (${engine})`, () => runOn(engine, undefined, run));
  }
}

/** Declares a test that runs also over TLS, because TLS affects its sockets, buffers or connections. */
export function testAlsoOverTls(name: string, run: ListenerTest): void {
  test(name, run);
  for (const engine of ['uws', 'node'] as const) {
    runTest(`${name} (${engine} over TLS)`, (t) => {
      const folder = temporaryFolder(t);
      const certificate = readCertificate(writeCertificate(folder, createSelfSignedCertificate('one.test')));
      return runOn(engine, { certificate, minVersion: '1.2' }, run);
    });
  }
}

async function runOn(engine: Listener['engine'], tls: ListenerOptions['tls'], run: ListenerTest): Promise<void> {
  const listeners: Listener[] = [];
  const connections: RawConnection[] = [];
  const faults: ListenerBench['faults'] = [];
  const start: ListenerBench['start'] = async (handler, overrides) => {
    const onHandlerError: ListenerOptions['onHandlerError'] = (fault, { requestId }) =>
      faults.push({ fault, requestId });
    const listener = await engines[engine]({ ...listenerOptions(handler), onHandlerError, tls, ...overrides });
    listeners.push(listener);
    return listener;
  };
  const open: ListenerBench['open'] = async () => {
    const { port } = listeners.at(-1)!;
    const connection = await (tls ? RawConnection.openSecurely(port) : RawConnection.open(port));
    connections.push(connection);
    return connection;
  };
  const serve: ListenerBench['serve'] = async (handler, overrides) => {
    const listener = await start(handler, overrides);
    return { listener, connection: await open() };
  };
  try {
    await run({ engine, faults, start, open, serve });
    for (const listener of listeners) assert.equal(listener.engine, engine);
  } finally {
    for (const connection of connections) connection.close();
    await Promise.all(listeners.map((listener) => listener.close(0)));
  }
}
