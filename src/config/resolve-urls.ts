import { isIPv6 } from 'node:net';
import { browserBlockedPorts, isWildcardHost } from './config.ts';
import type { ListenAddress, PublicUrls, ResolvedSettings } from './service-settings.ts';

export const urlSettingNames = {
  public: 'SVC_PUBLIC_URL',
  click: 'SVC_CLICK_URL',
  widget: 'SVC_WIDGET_URL',
  cdn: 'SVC_CDN_URL',
} as const satisfies Record<keyof PublicUrls, string>;

/**
 * Returns the base URLs of the API, clicks, widgets and logos. Each URL that is not configured is derived from the public URL. If no public
 * URL is configured, the address of the public listener is used, or the click URL without listeners. `boundPort` is the port of the public
 * listener. `warnings` contains one sentence for each setting that is valid but probably a mistake.
 */
export function resolveUrls(
  { listen, urls: configured }: Pick<ResolvedSettings, 'listen' | 'urls'>,
  boundPort: number,
): { urls: PublicUrls; warnings: readonly string[] } {
  const host = listen?.host ?? '127.0.0.1';
  const listenerUrl = endpointUrl({ host, port: boundPort }, listen?.tls ? 'https' : 'http');
  const base = configured.public ?? (listen === null ? configured.click : null) ?? listenerUrl;
  const urls = {
    public: base,
    click: configured.click ?? base,
    widget: configured.widget ?? `${base}/w`,
    cdn: configured.cdn ?? `${base}/cdn`,
  };
  const isLocalOnly = isWildcardHost(host) && Object.values(urls).some((url) => url.startsWith(listenerUrl));
  const warnings: string[] = [];
  if (isLocalOnly) {
    warnings.push(
      `SVC_HOST is a wildcard address, so URLs in replies start with ${listenerUrl}, which other machines cannot reach; set SVC_PUBLIC_URL.`,
    );
  }
  if (configured.public === null && browserBlockedPorts.has(boundPort)) {
    warnings.push(
      `SVC_PORT is ${boundPort}, a port that browsers and fetch block, so widgets, logos and clicks do not work; choose another port, or set SVC_PUBLIC_URL to the URL of a proxy.`,
    );
  }
  return { urls, warnings: [...warnings, ...blockedPortWarnings(configured)] };
}

function blockedPortWarnings(urls: ResolvedSettings['urls']): string[] {
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
