import { type PreparedRequest, requestHeaders } from '../load/prepared-request.ts';

/** A request as it goes over the wire. */
export function encodeHttpRequest(request: PreparedRequest, port: number): Buffer {
  const headers = Object.entries({
    host: `127.0.0.1:${port}`,
    ...requestHeaders(request),
    ...(request.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(request.body)) }),
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`${request.method} ${request.path} HTTP/1.1\r\n${lines}\r\n${request.body ?? ''}`);
}
