import { STATUS_CODES } from 'node:http';
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

/**
 * Status line and headers as the wire has them, with neither the protocol before nor the line end after. It names no
 * length, date or connection: those belong to whoever writes it out.
 *
 * A line break in a value would let it write headers of its own, so it throws; checking costs nothing measurable.
 */
export function headText(reply: Reply, requestId: string): string {
  let text = `${statusLine(reply.status)}\r\nX-Request-Id: ${requestId}`;
  const { headers } = reply;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    if (value.indexOf('\n') !== -1 || value.indexOf('\r') !== -1)
      throw new Error(`a line break in the reply header ${name}`);
    text += `\r\n${name}: ${value}`;
  }
  return text;
}

/** The size of a reply's body on the wire. */
export function bodyBytes(reply: Reply): number {
  return typeof reply.body === 'string' ? Buffer.byteLength(reply.body) : reply.body.byteLength;
}
