import { STATUS_CODES } from 'node:http';
import type { HeaderText } from './header-text.ts';
import type { Reply } from './listener.ts';

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
