import { STATUS_CODES } from 'node:http';
import { flattenString } from '../../domain/text.ts';
import type { Reply } from './listener.ts';

/**
 * Response headers as they are sent: CR LF, name, `: ` and value for each header. Headers are text, because a response has a dozen
 * headers that no code looks up. Constant headers are formatted once, and texts are concatenated with `+`.
 */
export type HeaderText = string;

/** Formats one header. Throws for a value with a line break, which could inject further headers. */
export function formatHeader(name: string, value: string): HeaderText {
  if (value.includes('\n') || value.includes('\r')) throw new Error(`reply header ${name} contains a line break`);
  return `\r\n${name}: ${value}`;
}

/** Formats headers that never change. */
export function formatHeaders(headers: Readonly<Record<string, string>>): HeaderText {
  return flattenString(
    Object.entries(headers)
      .map(([name, value]) => formatHeader(name, value))
      .join(''),
  );
}

/** Returns the headers as a list of name, value, name, value, the format of node:http. */
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

/** Returns the status line without the protocol, such as `200 OK`. */
export function statusLine(status: number): string {
  return statusLines[status] ?? `${status} `;
}

/** Whether a response with this status has neither a body nor a length (RFC 9110, 8.6). */
export function isBodyless(status: number): boolean {
  return status === 204 || status === 304;
}

/** Returns the headers of a reply together with the headers that every response has. */
export function responseHeaders({ headers }: Reply, requestId: string): HeaderText {
  return `\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${requestId}${headers}`;
}

/** Returns the status line and headers as they are sent, without the protocol at the start and the line break at the end. */
export function responseHead(reply: Reply, requestId: string): string {
  return statusLine(reply.status) + responseHeaders(reply, requestId);
}

export function bodyByteLength(reply: Reply): number {
  return typeof reply.body === 'string' ? Buffer.byteLength(reply.body) : reply.body.byteLength;
}
