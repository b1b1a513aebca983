import { bounds } from '../bounds.ts';

/** A web origin that may embed the widgets of an account. */
export interface AllowedOrigin {
  readonly account: number;
  readonly accountName: string;
  readonly origin: string;
}

export type AllowResult = 'allowed' | 'already_allowed';
export type RemoveResult = 'removed' | 'not_allowed';

const originExamples = 'like https://www.example.com or http://localhost:3000';

/**
 * Returns a sentence that says what to write instead of an invalid web origin, or null if the origin is valid.
 *
 * A valid origin is exactly what a browser sends as `Origin`: `http` or `https`, a lower-case host (an ASCII name, in Punycode if
 * necessary, or an IPv4 address), and the port unless it is the default of the scheme. The origin must also be valid in the policy
 * `frame-ancestors`: there, a semicolon or `*` in a host has another meaning, and Chromium ignores names with an underscore and IPv6
 * addresses.
 */
export function validateWebOrigin(text: string): string | null {
  if (isWebOrigin(text)) return null;
  if (text.length > bounds.originCharactersMax)
    return `An origin has at most ${bounds.originCharactersMax} characters.`;
  const suggestion = suggestedOrigin(text);
  if (suggestion !== null) return `Write ${suggestion}, which is what a browser sends.`;
  if (text.includes('*')) return `Wildcards are not supported: list each origin, ${originExamples}.`;
  if (/^https?:\/\/[^/]*[[_]/i.test(text)) {
    return 'Browsers do not support embedding by an IPv6 address or a name with an underscore: use another name.';
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
 * Returns the origin of a URL or host name, or null. A text without a scheme must look like a host, because it may be a key pasted by
 * mistake. An error message must not contain a key.
 */
function suggestedOrigin(text: string): string | null {
  const origin = URL.parse(addScheme(text))?.origin;
  return origin !== undefined && isWebOrigin(origin) ? origin : null;
}

function addScheme(text: string): string {
  if (/^(?:localhost|127\.)/i.test(text)) return `http://${text}`;
  return /^[^/:@?#]+\./.test(text) ? `https://${text}` : text;
}
