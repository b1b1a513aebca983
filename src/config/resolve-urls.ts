import { isIPv6 } from 'node:net';
import { blockedPorts, type Config, type Endpoint, isWildcardHost, type PublicUrls } from './config.ts';

export const urlSettingNames = {
  public: 'SVC_PUBLIC_URL',
  click: 'SVC_CLICK_URL',
  widget: 'SVC_WIDGET_URL',
  cdn: 'SVC_CDN_URL',
} as const satisfies Record<keyof PublicUrls, string>;

/**
 * Returns the base URLs for replies. `boundPort` is the port of the public listener. The default of each URL is the public URL, whose
 * default is the address of the listener. `warnings` contains sentences about settings that are valid but probably mistakes.
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
  if (config.urls.public === null && blockedPorts.has(boundPort)) {
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
    // For a URL without a port, the port is 0 here. Its real port is the default of its scheme, which browsers do not block.
    const port = Number(new URL(url).port);
    return blockedPorts.has(port)
      ? [`${urlSettingNames[name]} has port ${port}, which browsers and fetch block; choose another port.`]
      : [];
  });
}

/** Returns the URL at which this machine reaches the listener. */
export function endpointUrl({ host, port }: Endpoint, scheme: 'http' | 'https' = 'http'): string {
  const reachable = isWildcardHost(host) ? '127.0.0.1' : host;
  return `${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
