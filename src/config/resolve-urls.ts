import { isIPv6 } from 'node:net';
import { browserBlockedPorts, type Config, isWildcardHost, type ListenAddress, type PublicUrls } from './config.ts';

export const urlSettingNames = {
  public: 'SVC_PUBLIC_URL',
  click: 'SVC_CLICK_URL',
  widget: 'SVC_WIDGET_URL',
  cdn: 'SVC_CDN_URL',
} as const satisfies Record<keyof PublicUrls, string>;

/**
 * Returns the base URLs of the API, clicks, widgets and logos. `boundPort` is the port of the public listener. Each URL that is not
 * configured is derived from the public URL. If no public URL is configured, the address of the public listener is used. `warnings`
 * contains one sentence for each setting that is valid but probably a mistake.
 */
export function resolveUrls(
  config: Pick<Config, 'publicEndpoint' | 'tls' | 'urls'>,
  boundPort: number,
): { urls: PublicUrls; warnings: readonly string[] } {
  const { host } = config.publicEndpoint;
  const listenerUrl = endpointUrl({ host, port: boundPort }, config.tls === null ? 'http' : 'https');
  const base = config.urls.public ?? listenerUrl;
  const urls = {
    public: base,
    click: config.urls.click ?? base,
    widget: config.urls.widget ?? `${base}/w`,
    cdn: config.urls.cdn ?? `${base}/cdn`,
  };
  const isLocalOnly = isWildcardHost(host) && Object.values(urls).some((url) => url.startsWith(listenerUrl));
  const warnings: string[] = [];
  if (isLocalOnly) {
    warnings.push(
      `SVC_HOST is a wildcard address, so URLs in replies start with ${listenerUrl}, which other machines cannot reach; set SVC_PUBLIC_URL.`,
    );
  }
  if (config.urls.public === null && browserBlockedPorts.has(boundPort)) {
    warnings.push(
      `SVC_PORT is ${boundPort}, a port that browsers and fetch block, so widgets, logos and clicks do not work; choose another port, or set SVC_PUBLIC_URL to the URL of a proxy.`,
    );
  }
  return { urls, warnings: [...warnings, ...blockedPortWarnings(config.urls)] };
}

function blockedPortWarnings(urls: Config['urls']): string[] {
  const names = Object.keys(urlSettingNames) as (keyof PublicUrls)[];
  return names.flatMap((name) => {
    const url = urls[name];
    if (url === null) return [];
    // `port` is 0 for a URL without an explicit port. Browsers do not block the default ports of http and https.
    const port = Number(new URL(url).port);
    return browserBlockedPorts.has(port)
      ? [`${urlSettingNames[name]} has port ${port}, which browsers and fetch block; choose another port.`]
      : [];
  });
}

/** Returns the URL at which programs on the same machine can reach a listener. */
export function endpointUrl({ host, port }: ListenAddress, scheme: 'http' | 'https' = 'http'): string {
  const reachable = isWildcardHost(host) ? '127.0.0.1' : host;
  return `${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
