import { isIPv6 } from 'node:net';
import { type Config, type Endpoint, isWildcard, type PublicUrls } from './config.ts';

/**
 * Our addresses as answers name them, once the port is known. What is not set follows from the public URL, and that from
 * the listener: everything is served by the same one. `warning` is a whole sentence, or null.
 */
export function resolveUrls(
  config: Pick<Config, 'listen' | 'tls' | 'urls'>,
  boundPort: number,
): { urls: PublicUrls; warning: string | null } {
  const { host } = config.listen;
  const own = urlOf({ host, port: boundPort }, config.tls === null ? 'http' : 'https');
  const base = config.urls.public ?? own;
  const urls = {
    public: base,
    click: config.urls.click ?? base,
    widget: config.urls.widget ?? `${base}/w`,
    cdn: config.urls.cdn ?? `${base}/cdn`,
  };
  const guessed = isWildcard(host) && Object.values(urls).some((url) => url.startsWith(own));
  return {
    urls,
    warning: guessed
      ? `The service listens on every address, so its answers name ${own}, which only this machine can reach: set SVC_PUBLIC_URL.`
      : null,
  };
}

/** Where this machine reaches a listener. */
export function urlOf({ host, port }: Endpoint, scheme: 'http' | 'https' = 'http'): string {
  const reachable = isWildcard(host) ? '127.0.0.1' : host;
  return `${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/** Whether only this machine reaches it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
