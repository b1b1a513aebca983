import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { finished } from 'node:stream/promises';

/** HTTP request that a load client sends. */
export interface PreparedRequest {
  readonly method: 'GET' | 'POST';
  /** URL-encoded path with query string. */
  readonly path: string;
  /** API key for the Authorization header; absent for click redirects. */
  readonly key?: string;
  /** Request body as JSON text. */
  readonly body?: string;
}

const noKeyMark = '-';

/**
 * Formats a request as one line for the Lua script of wrk: method, path, key and body, separated by single spaces. `JSON.stringify` creates
 * the body, so the body contains no line break.
 */
function formatRequestLine(request: PreparedRequest): string {
  return `${request.method} ${request.path} ${request.key ?? noKeyMark} ${request.body ?? ''}`;
}

function parseRequestLine(line: string): PreparedRequest {
  const [method, path, key] = line.split(' ', 3) as [PreparedRequest['method'], string, string];
  const body = line.slice(method.length + path.length + key.length + 3);
  return { method, path, ...(key === noKeyMark ? {} : { key }), ...(body === '' ? {} : { body }) };
}

export async function writeRequestFile(file: string, requests: readonly PreparedRequest[]): Promise<void> {
  const stream = createWriteStream(file);
  for (const request of requests) {
    if (!stream.write(`${formatRequestLine(request)}\n`)) await once(stream, 'drain');
  }
  stream.end();
  await finished(stream);
}

export async function readRequestFile(file: string): Promise<PreparedRequest[]> {
  return (await readFile(file, 'utf8')).split('\n').slice(0, -1).map(parseRequestLine);
}

/** Returns the headers of a request, without those that every HTTP client adds. */
export function requestHeaders(request: PreparedRequest): Record<string, string> {
  return {
    ...(request.key === undefined ? {} : { authorization: `Bearer ${request.key}` }),
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

/** Encodes a request as HTTP/1.1. */
export function encodeHttpRequest(request: PreparedRequest, port: number): Buffer {
  const headers = Object.entries({
    host: `127.0.0.1:${port}`,
    ...requestHeaders(request),
    ...(request.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(request.body)) }),
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`${request.method} ${request.path} HTTP/1.1\r\n${lines}\r\n${request.body ?? ''}`);
}
