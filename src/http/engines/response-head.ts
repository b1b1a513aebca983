import { STATUS_CODES } from 'node:http';
import { flattenString } from '../../domain/text.ts';
import type { Reply } from './listener.ts';

/**
 * Headers of an answer as the wire has them: for each of them CR LF, name, `: `, value. Texts are put together with `+`, and
 * what never changes is written once; an answer has a dozen headers, and nothing looks them up.
 */
export type HeaderText = string;

/** Throws for a value with a line break, which would let it write headers of its own. */
export function formatHeader(name: string, value: string): HeaderText {
  if (value.includes('\n') || value.includes('\r')) throw new Error(`a line break in the reply header ${name}`);
  return `\r\n${name}: ${value}`;
}

/** Headers that never change. */
export function formatHeaders(headers: Readonly<Record<string, string>>): HeaderText {
  return flattenString(
    Object.entries(headers)
      .map(([name, value]) => formatHeader(name, value))
      .join(''),
  );
}

/** Name, value, name, value: for an engine that writes the head by itself. */
export function splitHeaders(headers: HeaderText): string[] {
  return headers
    .split('\r\n')
    .slice(1)
    .flatMap((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
}

const statusLines = Array.from({ length: 600 }, (_, status) => `${status} ${STATUS_CODES[status] ?? ''}`);

/** What follows the protocol in a status line: `200 OK`. */
export function statusLine(status: number): string {
  return statusLines[status] ?? `${status} `;
}

/** True for the statuses that never carry a body nor its length (RFC 9110 section 8.6). */
export function isBodyless(status: number): boolean {
  return status === 204 || status === 304;
}

/** The headers of a reply, and those that every answer has. */
export function responseHeaders({ headers }: Reply, requestId: string): HeaderText {
  return `\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${requestId}${headers}`;
}

/** Status line and headers as the wire has them, with neither the protocol before nor the line end after. */
export function responseHead(reply: Reply, requestId: string): string {
  return statusLine(reply.status) + responseHeaders(reply, requestId);
}

/** The size of a reply's body on the wire. */
export function bodyByteLength(reply: Reply): number {
  return typeof reply.body === 'string' ? Buffer.byteLength(reply.body) : reply.body.byteLength;
}
