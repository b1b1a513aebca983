import { bounds } from '../bounds.ts';

/** A web origin that may embed the widgets of an account. */
export interface AllowedOrigin {
  readonly account: number;
  readonly accountName: string;
  readonly origin: string;
}

export type AllowOriginResult = 'allowed' | 'already_allowed';
export type RemoveOriginResult = 'removed' | 'not_allowed';

const originExamples = 'like https://www.example.com or http://localhost:3000';

/**
 * Validates a web origin. Returns null for a valid origin, and otherwise an error message that explains how to correct the origin.
 *
 * A valid origin has the format of the `Origin` header: scheme, lower-case host, and the port unless it is the default port. The scheme is
 * `http` or `https`. The host is an IPv4 address or an ASCII name (in Punycode if necessary). The origin must also be valid in the CSP
 * directive `frame-ancestors`. Origins with `;`, `*`, an underscore or an IPv6 address are invalid, because they do not work in
 * `frame-ancestors`.
 */
export function validateWebOrigin(text: string): string | null {
  if (isWebOrigin(text)) return null;
  if (text.length > bounds.originCharactersMax)
    return `An origin has at most ${bounds.originCharactersMax} characters.`;
  const suggestion = suggestedOrigin(text);
  if (suggestion !== null) return `Use ${suggestion}, the origin that browsers send.`;
  if (text.includes('*')) return `Wildcards are not supported: list each origin, ${originExamples}.`;
  if (/^https?:\/\/[^/]*[[_]/i.test(text)) {
    return 'Browsers do not allow embedding by hosts with an IPv6 address or an underscore; use another host name.';
  }
  return `An origin is a scheme, a host and, unless it is the default, a port, ${originExamples}.`;
}

function isWebOrigin(text: string): boolean {
  return (
    text.length <= bounds.originCharactersMax &&
    /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?$/.test(text) &&
    URL.parse(text)?.origin === text
  );
}

/**
 * Returns the origin of a URL or host name, or null. A text without a scheme must look like a host name, because error messages must not
 * repeat an API key that was pasted by mistake.
 */
function suggestedOrigin(text: string): string | null {
  const scheme = /^(?:localhost|127\.)/i.test(text) ? 'http://' : /^[^/:@?#]+\./.test(text) ? 'https://' : '';
  const origin = URL.parse(scheme + text)?.origin;
  return origin !== undefined && isWebOrigin(origin) ? origin : null;
}
