import type { ServerResponse } from 'node:http';
import type { Html } from './html.ts';

/** Hosts that the Content-Security-Policy of a page allows in addition to its own host, by kind of resource. */
export interface AllowedHosts {
  readonly scripts?: readonly string[];
  /** Hosts to which the allowed scripts can connect. */
  readonly connections?: readonly string[];
  readonly images?: readonly string[];
  readonly frames?: readonly string[];
}

/** Response of the page server to a browser. */
export interface Reply {
  readonly status: number;
  /** HTML of the page; null for a redirect. */
  readonly body: Html | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
  readonly hosts?: AllowedHosts;
}

/** Returns a redirect with status 303 after a form. A reload of the next page does not send the form again. */
export function seeOther(path: string, cookies: readonly string[] = []): Reply {
  return { status: 303, body: null, headers: { Location: path }, cookies };
}

/** Headers of every response. Pages contain data of one visitor, so no cache may store them. */
const commonHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // The server of the widget needs the origin of the embedding site, but not the path.
  'Referrer-Policy': 'strict-origin-when-cross-origin',
};

export function sendReply(response: ServerResponse, { status, body, headers, cookies = [], hosts = {} }: Reply): void {
  response.writeHead(status, {
    ...commonHeaders,
    ...headers,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': contentSecurityPolicy(hosts),
    'Set-Cookie': [...cookies],
  });
  response.end(body?.text);
}

/** Builds the Content-Security-Policy. It allows no scripts except those of the widget. */
function contentSecurityPolicy({ scripts = [], connections = [], images = [], frames = [] }: AllowedHosts): string {
  const sources = (list: readonly string[]) => (list.length === 0 ? "'none'" : [...new Set(list)].join(' '));
  return [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${sources(["'self'", ...images])}`,
    `script-src ${sources(scripts)}`,
    `connect-src ${sources(connections)}`,
    `frame-src ${sources(frames)}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
