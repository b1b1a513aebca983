/** Request headers that the handlers of each group of routes read. Only these headers are part of a forwarded request. */
export const forwardedHeaders = {
  api: ['authorization', 'accept', 'content-type', 'idempotency-key', 'origin'],
  click: ['user-agent', 'sec-fetch-dest', 'sec-fetch-mode', 'sec-purpose', 'purpose', 'x-purpose', 'x-moz'],
  widget: ['origin', 'referer', 'sec-fetch-dest', 'sec-purpose', 'purpose', 'x-purpose', 'x-moz'],
  console: ['cookie', 'accept', 'content-type', 'host', 'idempotency-key', 'origin', 'sec-fetch-site'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Group of routes whose requests are forwarded. */
export type ForwardedRoute = keyof typeof forwardedHeaders;

export function isForwardedRoute(value: unknown): value is ForwardedRoute {
  return typeof value === 'string' && Object.hasOwn(forwardedHeaders, value);
}
