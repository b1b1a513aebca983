import { request } from 'node:http';
import { bounds } from '../bounds.ts';
import { formatHeader, type HeaderText } from '../http/engines/response-head.ts';

export interface ShardRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

export interface ShardAnswer {
  readonly status: number;
  readonly headers: HeaderText;
  readonly body: Buffer;
}

/** Headers that the listener adds to every reply, and headers of the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  'x-request-id',
  'x-content-type-options',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
]);

/**
 * Sends a request to the operations listener of a shard. Each request has a connection of its own, so that no request meets a connection
 * that the shard is closing. Rejects with a system error, or with an `AbortError`.
 */
export function askShard(socketPath: string, shardRequest: ShardRequest, signal: AbortSignal): Promise<ShardAnswer> {
  const { method, target, headers, body } = shardRequest;
  const { promise, resolve, reject } = Promise.withResolvers<ShardAnswer>();
  const length = body === undefined ? {} : { 'Content-Length': String(body.byteLength) };
  const sent = request({ socketPath, method, path: target, headers: { ...headers, ...length }, agent: false, signal });
  sent.once('error', reject);
  sent.once('response', (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > bounds.shardAnswerBytesMax) sent.destroy(new Error('the answer of a shard is too large'));
      else chunks.push(chunk);
    });
    response.once('error', reject);
    response.once('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: Object.entries(response.headersDistinct)
          .filter(([name]) => !ownHeaders.has(name))
          .flatMap(([name, values = []]) => values.map((value) => formatHeader(name, value)))
          .join(''),
        body: Buffer.concat(chunks),
      }),
    );
  });
  sent.end(body);
  return promise;
}
