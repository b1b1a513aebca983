import { bounds } from '../bounds.ts';

const originExamples = 'like https://www.example.com or http://localhost:3000';

/**
 * What is wrong with a text that should be a web origin, as a sentence that says what to write instead; null when it is one.
 *
 * An origin is exactly what a browser sends as `Origin`: `http` or `https`, a host in lower case (a name in ASCII, so in Punycode
 * where it has other letters, or an IPv4 address), and the port unless it is the scheme's own. It is also what the policy
 * `frame-ancestors` can name: a URL's host may hold a semicolon or a `*`, which would mean something else there, and
 * Chromium passes over a name with an underscore and an IPv6 address.
 */
export function validateWebOrigin(text: string): string | null {
  if (isWebOrigin(text)) return null;
  if (text.length > bounds.originCharactersMax)
    return `An origin has at most ${bounds.originCharactersMax} characters.`;
  const meant = suggestedOrigin(text);
  if (meant !== null) return `Write ${meant}, which is what a browser sends.`;
  if (text.includes('*')) return `There are no wildcards: name each origin, ${originExamples}.`;
  if (/^https?:\/\/[^/]*[[_]/i.test(text)) {
    return 'Browsers cannot be told to let an IPv6 address, or a name with an underscore, embed a page: use another name.';
  }
  return `An origin is a scheme, a host, and a port where it is not the usual one, ${originExamples}.`;
}

function isWebOrigin(text: string): boolean {
  return (
    text.length <= bounds.originCharactersMax &&
    /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?$/.test(text) &&
    URL.parse(text)?.origin === text
  );
}

/**
 * The origin of the address somebody wrote in place of one, or null. Without a scheme only what looks like a host is taken for
 * an address: what was pasted by mistake may be a key, and must not be repeated.
 */
function suggestedOrigin(text: string): string | null {
  const origin = URL.parse(addScheme(text))?.origin;
  return origin !== undefined && isWebOrigin(origin) ? origin : null;
}

function addScheme(text: string): string {
  if (/^(?:localhost|127\.)/i.test(text)) return `http://${text}`;
  return /^[^/:@?#]+\./.test(text) ? `https://${text}` : text;
}
