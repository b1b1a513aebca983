import { isIPv6 } from 'node:net';
import { blockedPorts, type Config, type Endpoint, isWildcardHost, type PublicUrls } from './config.ts';

/** What each of our addresses is set by. */
export const urlSettingNames = {
  public: 'SVC_PUBLIC_URL',
  click: 'SVC_CLICK_URL',
  widget: 'SVC_WIDGET_URL',
  cdn: 'SVC_CDN_URL',
} as const satisfies Record<keyof PublicUrls, string>;

/**
 * Our addresses as answers name them, once the port is known. What is not set follows from the public URL, and that from
 * the listener: everything is served by the same one. `warnings` are whole sentences about what is allowed and probably not meant.
 */
export function resolveUrls(
  config: Pick<Config, 'publicEndpoint' | 'tls' | 'urls'>,
  boundPort: number,
): { urls: PublicUrls; warnings: readonly string[] } {
  const { host } = config.publicEndpoint;
  const own = endpointUrl({ host, port: boundPort }, config.tls === null ? 'http' : 'https');
  const base = config.urls.public ?? own;
  const urls = {
    public: base,
    click: config.urls.click ?? base,
    widget: config.urls.widget ?? `${base}/w`,
    cdn: config.urls.cdn ?? `${base}/cdn`,
  };
  const guessed = isWildcardHost(host) && Object.values(urls).some((url) => url.startsWith(own));
  const warnings: string[] = [];
  if (guessed) {
    warnings.push(
      `The service listens on every address, so its answers name ${own}, which only this machine can reach: set SVC_PUBLIC_URL.`,
    );
  }
  if (config.urls.public === null && blockedPorts.has(boundPort)) {
    warnings.push(
      `SVC_PORT is ${boundPort}, a port that browsers and fetch refuse to connect to, so no widget, logo or click works there: choose another, or set SVC_PUBLIC_URL to where a proxy takes requests for it.`,
    );
  }
  return { urls, warnings: [...warnings, ...blockedPortWarnings(config.urls)] };
}

function blockedPortWarnings(urls: Config['urls']): string[] {
  const names = Object.keys(urlSettingNames) as (keyof PublicUrls)[];
  return names.flatMap((name) => {
    const url = urls[name];
    if (url === null) return [];
    // Without one it is the scheme's own, which nobody refuses.
    const port = Number(new URL(url).port);
    return blockedPorts.has(port)
      ? [`${urlSettingNames[name]} names port ${port}, which browsers and fetch refuse to connect to: choose another.`]
      : [];
  });
}

/** Where this machine reaches a listener. */
export function endpointUrl({ host, port }: Endpoint, scheme: 'http' | 'https' = 'http'): string {
  const reachable = isWildcardHost(host) ? '127.0.0.1' : host;
  return `${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/** Whether only this machine reaches it. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
