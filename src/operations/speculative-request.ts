// Requests that are no visit of a person (docs/contract.md#requests-that-are-not-clicks).

/** Names of the headers with which browsers announce a speculative request. */
export const purposeHeaders = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const;

/**
 * Whether a header value announces a speculative request: a prefetch, a prerendering or a preview. `purpose` is the value of one of
 * `purposeHeaders`, or the values of several of them joined by commas; empty if the request has no such header.
 */
export function isSpeculativePurpose(purpose: string): boolean {
  return purpose !== '' && /prefetch|prerender|preview/i.test(purpose);
}

/** Values of `Sec-Fetch-Dest` for the parts of a page, which a browser requests without a click. */
const destinationsOfParts: ReadonlySet<string> = new Set([
  ...[
    'audio',
    'audioworklet',
    'embed',
    'font',
    'image',
    'json',
    'manifest',
    'object',
    'paintworklet',
    'report',
    'script',
  ],
  ...['serviceworker', 'sharedworker', 'style', 'track', 'video', 'webidentity', 'worker', 'xslt'],
]);

/** Values of `Sec-Fetch-Mode` for parts of a page and for requests of scripts. A click has `navigate`. */
const modesOfParts: ReadonlySet<string> = new Set(['cors', 'no-cors', 'same-origin', 'websocket']);

/**
 * Whether a request opens a page in a window or a frame, as a click on a link does. Old browsers, browsers in apps and HTTP libraries do
 * not send the headers, and a value that is not defined has no meaning, so such requests count as navigations.
 *
 * @param destination value of the header `Sec-Fetch-Dest`; empty without the header
 * @param mode value of the header `Sec-Fetch-Mode`; empty without the header
 */
export function isNavigation(destination: string, mode: string): boolean {
  if (destination === '' && mode === '') return true;
  if (destinationsOfParts.has(destination) || modesOfParts.has(mode)) return false;
  // A service worker that forwards a click sends the destination `empty`.
  return destination !== 'empty' || mode === 'navigate';
}
