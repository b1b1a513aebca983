import { bounds } from '../bounds.ts';
import type { Config, Machine, PublicUrls } from './config.ts';
import { isLoopbackHost, urlSettingNames } from './resolve-urls.ts';

/** Returns risks of the configuration as sentences. Only `check-config` reports them; a server start does not. */
export function configRisks(config: Config, urls: PublicUrls, machine: Pick<Machine, 'cores'>): string[] {
  const { operationsEndpoint, durability, limits, matcher, sessions, logLevel } = config;
  const risks: string[] = [];
  const unencrypted = unencryptedUrlSettings(urls);
  if (unencrypted.length > 0) {
    risks.push(
      `${unencrypted.join(' and ')} in replies use http, so requests from other machines, including API keys, are not encrypted.`,
    );
  }
  if (!isLoopbackHost(operationsEndpoint.host)) {
    risks.push(
      `SVC_OPS_HOST makes ${operationsEndpoint.host}:${operationsEndpoint.port} reachable from other machines. Health and metrics need no credentials, and the operator token is sent unencrypted.`,
    );
  }
  if (durability === 'write') {
    risks.push('SVC_DURABILITY is write, so a power failure loses the last acknowledged requests.');
  }
  if (sessions.ttlMs < bounds.sessionTtlMs) {
    risks.push(`SVC_SESSION_TTL_SECONDS ends sessions after ${sessions.ttlMs / 1000} s; the API documents four hours.`);
  }
  if (limits.analyticsPerMinute > limits.requestsPerMinute) {
    risks.push(
      'SVC_LIMIT_ANALYTICS_PER_MINUTE is above SVC_LIMIT_REQUESTS_PER_MINUTE, which also counts analytics queries.',
    );
  }
  if (matcher.kind === 'workers' && matcher.threads > machine.cores) {
    risks.push(`SVC_MATCHER_THREADS is ${matcher.threads}, but this machine has ${machine.cores} cores.`);
  }
  if (logLevel === 'silent' || logLevel === 'fatal') {
    risks.push(`SVC_LOG_LEVEL is ${logLevel}, so errors such as an invalid catalog are not logged.`);
  }
  return risks;
}

/** Returns the settings of public URLs that use http. A URL whose default comes from a setting in the list is not returned. */
function unencryptedUrlSettings(urls: PublicUrls): string[] {
  const isUnencrypted = (url: string): boolean => {
    const { protocol, hostname } = new URL(url);
    return protocol === 'http:' && !isLoopbackHost(hostname.replace(/^\[|\]$/g, ''));
  };
  const names = Object.keys(urlSettingNames) as (keyof PublicUrls)[];
  return names
    .filter((name) => isUnencrypted(urls[name]))
    .filter((name) => name === 'public' || !isUnencrypted(urls.public) || !urls[name].startsWith(urls.public))
    .map((name) => urlSettingNames[name]);
}
