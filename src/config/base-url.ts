export const baseUrlRule = 'an http or https URL without user, query or fragment, like https://offers.example.com';

/** An absolute URL that paths are appended to, without its trailing slash; null for what is none. */
export function parseBaseUrl(text: string): string | null {
  const url = parseHttpUrl(text);
  if (url === null || url.search !== '' || url.hash !== '' || /[?#]/.test(text)) return null;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Whether it is an origin exactly as a browser sends it. */
export function isHttpOrigin(text: string): boolean {
  return parseHttpUrl(text)?.origin === text;
}

function parseHttpUrl(text: string): URL | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return url.username === '' && url.password === '' ? url : null;
}
