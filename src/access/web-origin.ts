import { bounds } from '../bounds.ts';

const like = 'like https://www.example.com or http://localhost:3000';

/**
 * What is wrong with a text that should be a web origin, as a sentence that says what to write instead; null when it is one.
 *
 * An origin is exactly what a browser sends as `Origin`: `http` or `https`, a host in lower case (a name in ASCII, so in Punycode
 * where it has other letters, or an IPv4 address), and the port unless it is the scheme's own. Its characters are also safe in
 * a header and in a Content-Security-Policy, which a URL's host need not be: a semicolon would do there, and so would `*`.
 */
export function webOriginFault(text: string): string | null {
  if (isWebOrigin(text)) return null;
  if (text.length > bounds.originCharactersMax)
    return `An origin has at most ${bounds.originCharactersMax} characters.`;
  const meant = meantOrigin(text);
  if (meant !== null) return `Write ${meant}, which is what a browser sends.`;
  if (text.includes('*')) return `There are no wildcards: name each origin, ${like}.`;
  if (/^https?:\/\/[^/]*\[/i.test(text)) {
    return 'A browser cannot be told to let an IPv6 address embed a page: use a host name or an IPv4 address.';
  }
  return `An origin is a scheme, a host, and a port where it is not the usual one, ${like}.`;
}

function isWebOrigin(text: string): boolean {
  return (
    text.length <= bounds.originCharactersMax &&
    /^https?:\/\/[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::\d+)?$/.test(text) &&
    URL.parse(text)?.origin === text
  );
}

/**
 * The origin of the address somebody wrote in place of one, or null. Without a scheme only what looks like a host is taken for
 * an address: what was pasted by mistake may be a key, and must not be repeated.
 */
function meantOrigin(text: string): string | null {
  const origin = URL.parse(withScheme(text))?.origin;
  return origin !== undefined && isWebOrigin(origin) ? origin : null;
}

function withScheme(text: string): string {
  if (/^(?:localhost|127\.)/i.test(text)) return `http://${text}`;
  return /^[^/:@?#]+\./.test(text) ? `https://${text}` : text;
}
