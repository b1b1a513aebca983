import type { ServerResponse } from 'node:http';
import type { Html } from './html.ts';

/** Hosts that a page needs besides its own, each for one kind of thing. */
export interface AllowedHosts {
  readonly scripts?: readonly string[];
  /** Whom those scripts may talk to. */
  readonly connections?: readonly string[];
  readonly images?: readonly string[];
  readonly frames?: readonly string[];
}

/** What goes back to the browser. */
export interface Reply {
  readonly status: number;
  /** Null for a redirect. */
  readonly body: Html | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
  readonly hosts?: AllowedHosts;
}

/** After a form: the browser fetches the next page by itself, so that reloading it does not send the form again. */
export function seeOther(path: string, cookies: readonly string[] = []): Reply {
  return { status: 303, body: null, headers: { Location: path }, cookies };
}

/** Everything is about one visitor, so nothing may be kept by anybody on the way. */
const commonHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // The widget's server has to learn which site embeds it, but no more than that.
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

/** These pages have no script of their own, so none may run but the widget's. */
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
