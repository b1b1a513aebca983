import { STATUS_CODES } from 'node:http';
import type { ApiError } from '../../domain/outcome.ts';
import { copyToFlatString } from '../../domain/text.ts';

/**
 * Response headers in the HTTP/1.1 wire format: CR LF, name, `: ` and value for each header. Headers are stored as text instead of a map,
 * because no code looks up response headers. To combine header texts, concatenate them with `+`.
 */
export type HeaderText = string;

export interface Reply {
  readonly status: number;
  /** Headers that the route sets. The listener adds `X-Request-Id`, `X-Content-Type-Options`, `Content-Length`, `Date` and `Connection`. */
  readonly headers: HeaderText;
  readonly body: string | Uint8Array;
  /** The API error in the body of the reply, for the log. */
  readonly error?: ApiError;
}

/** Formats one header. Throws for a value with a line break, because a line break could inject further headers. */
export function formatHeader(name: string, value: string): HeaderText {
  if (value.includes('\n') || value.includes('\r')) throw new Error(`reply header ${name} contains a line break`);
  return `\r\n${name}: ${value}`;
}

/** Formats several headers. Call this function only for constant headers, and only once for each header. */
export function formatHeaders(headers: Readonly<Record<string, string>>): HeaderText {
  return copyToFlatString(
    Object.entries(headers)
      .map(([name, value]) => formatHeader(name, value))
      .join(''),
  );
}

/** Converts header text to the array format of node:http, in which names and values alternate. */
export function splitHeaderLines(headers: HeaderText): string[] {
  return headers
    .split('\r\n')
    .slice(1)
    .flatMap((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
}

const statusLines = Array.from({ length: 600 }, (_, status) => `${status} ${STATUS_CODES[status] ?? ''}`);

/** Returns the status line without the protocol version, such as `200 OK`. */
export function statusLine(status: number): string {
  return statusLines[status] ?? `${status} `;
}

/** Whether a response with this status has neither a body nor a `Content-Length` (RFC 9110, 8.6). */
export function isBodylessStatus(status: number): boolean {
  return status === 204 || status === 304;
}

/** Returns the headers of a reply, with `X-Content-Type-Options` and `X-Request-Id`. */
export function responseHeaders({ headers }: Reply, requestId: string): HeaderText {
  return `\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${requestId}${headers}`;
}

/** Returns the status line and the headers of a response, without the protocol version at the start and the line break at the end. */
export function responseHead(reply: Reply, requestId: string): string {
  return statusLine(reply.status) + responseHeaders(reply, requestId);
}

export function bodyByteLength(reply: Reply): number {
  return typeof reply.body === 'string' ? Buffer.byteLength(reply.body) : reply.body.byteLength;
}
