import { bounds } from '../bounds.ts';
import type { Config, Machine, PublicUrls } from './config.ts';
import { isLoopbackHost, urlSettingNames } from './resolve-urls.ts';

/**
 * What these settings risk together, as whole sentences: each is allowed, and right somewhere, so a server starts with it and
 * says nothing.
 */
export function configRisks(config: Config, urls: PublicUrls, machine: Pick<Machine, 'cores'>): string[] {
  const { operationsEndpoint, durability, limits, matcher, sessions, logLevel } = config;
  const risks: string[] = [];
  const plain = unencryptedUrlSettings(urls);
  if (plain.length > 0) {
    risks.push(
      `Answers name ${plain.join(' and ')} by http, so what goes there from other machines, keys included, can be read on the way.`,
    );
  }
  if (!isLoopbackHost(operationsEndpoint.host)) {
    risks.push(
      `SVC_OPS_HOST lets other machines reach ${operationsEndpoint.host}:${operationsEndpoint.port}: health and metrics need no key, and confirmations a token that goes unencrypted.`,
    );
  }
  if (durability === 'write') {
    risks.push('SVC_DURABILITY is write, so a power cut takes back what was answered in the moments before it.');
  }
  if (sessions.ttlMs < bounds.sessionTtlMs) {
    risks.push(`SVC_SESSION_TTL_SECONDS ends sessions after ${sessions.ttlMs / 1000} s; the API promises four hours.`);
  }
  if (limits.analyticsPerMinute > limits.requestsPerMinute) {
    risks.push(
      'SVC_LIMIT_ANALYTICS_PER_MINUTE is more than SVC_LIMIT_REQUESTS_PER_MINUTE, which analytics queries count for too.',
    );
  }
  if (matcher.kind === 'workers' && matcher.threads > machine.cores) {
    risks.push(`SVC_MATCHER_THREADS asks for ${matcher.threads} threads; this machine has ${machine.cores} cores.`);
  }
  if (logLevel === 'silent' || logLevel === 'fatal') {
    risks.push(`SVC_LOG_LEVEL is ${logLevel}, so a log that cannot be written or a faulty catalog is told to nobody.`);
  }
  return risks;
}

/** Those that follow from one that is told are not told again. */
function unencryptedUrlSettings(urls: PublicUrls): string[] {
  const reachable = (url: string): boolean => {
    const { protocol, hostname } = new URL(url);
    return protocol === 'http:' && !isLoopbackHost(hostname.replace(/^\[|\]$/g, ''));
  };
  const names = Object.keys(urlSettingNames) as (keyof PublicUrls)[];
  return names
    .filter((name) => reachable(urls[name]))
    .filter((name) => name === 'public' || !reachable(urls.public) || !urls[name].startsWith(urls.public))
    .map((name) => urlSettingNames[name]);
}
