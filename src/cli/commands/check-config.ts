import type { Command } from 'commander';
import { keyFilePath } from '../../auth/key-file.ts';
import { readLiveKeyVerticals } from '../../auth/live-key-verticals.ts';
import { bounds } from '../../bounds.ts';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { type Config, detectMachineResources, loadConfig, type MachineResources } from '../../config/config.ts';
import { readEnv, type SettingName } from '../../config/env.ts';
import { isLoopbackHost } from '../../config/parse-setting.ts';
import { resolveUrls, urlSettingNames } from '../../config/resolve-urls.ts';
import type { PublicUrls } from '../../config/service-settings.ts';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { assertShardCount } from '../../files/data-paths.ts';
import { checkTestClock } from '../../server/folder-clock.ts';
import { tlsMinVersionDefault } from '../../tls/certificate.ts';
import { defineCommand } from '../command.ts';
import { formatTable, printJson, printNotice, printResult } from '../output.ts';

export function createCommand(registry: VerticalRegistry): Command {
  return defineCommand('check-config', {
    description:
      'Checks the environment variables of the service, and prints the value of each setting and its origin. Warns about risky values. ' +
      'Of the data folder, reads only the key file, the test clock and the number of shards. Prints no secrets.',
    examples: [
      'marketplace check-config',
      'SVC_PORT=99999 marketplace check-config || echo invalid',
      'marketplace check-config --json | jq -r .settings.SVC_DATA_DIR.value',
    ],
    exitCodes: { 0: 'all settings are valid', 1: 'a setting is invalid; standard error names it' },
    json: 'one object: settings, warnings',
  }).action((options: { readonly json?: true }) => printConfig(registry, options));
}

function printConfig(registry: VerticalRegistry, { json }: { readonly json?: true }): void {
  const env = readEnv();
  const machine = detectMachineResources();
  const { config, warnings } = loadConfig(env, machine);
  const { urls, warnings: urlWarnings } = resolveUrls(config, config.listen.port);
  const allWarnings = [
    ...warnings,
    ...urlWarnings,
    ...configRisks(config, urls, machine),
    ...folderRisks(config, registry),
  ];
  const values = Object.entries(settingValues(config, urls, machine)) as [SettingName, SettingValue][];
  const originOf = (name: SettingName) => (env.values[name] === undefined ? 'default' : 'environment');
  if (json) {
    const settings = Object.fromEntries(values.map(([name, value]) => [name, { value, from: originOf(name) }]));
    printJson({ settings, warnings: allWarnings });
    return;
  }
  for (const warning of allWarnings) printNotice(`marketplace: warning: ${warning}`);
  const rows = values.map(([name, value]) => [name, formatSetting(name, value), originOf(name)]);
  printResult(formatTable(['SETTING', 'VALUE', 'FROM'], rows));
}

type SettingValue = string | number | readonly string[] | null;

function settingValues(
  config: Config,
  urls: PublicUrls,
  { heapMegabytes, heapBytes }: MachineResources,
): { readonly [Name in SettingName]: SettingValue } {
  const { listen } = config;
  return {
    SVC_HOST: listen.host,
    SVC_PORT: listen.port,
    SVC_OPS_HOST: listen.operationsHost,
    SVC_OPS_PORT: listen.operationsPort,
    SVC_OPS_ALLOWED_HOSTS: listen.operationsAllowedHosts,
    SVC_TLS_CERT: listen.tls?.certificateFile ?? null,
    SVC_TLS_KEY: listen.tls?.keyFile ?? null,
    SVC_TLS_MIN_VERSION: listen.tls?.minVersion ?? tlsMinVersionDefault,
    SVC_PUBLIC_URL: urls.public,
    SVC_CLICK_URL: urls.click,
    SVC_WIDGET_URL: urls.widget,
    SVC_CDN_URL: urls.cdn,
    SVC_DATA_DIR: config.dataDir,
    SVC_SECRET_FILE: config.secretFile,
    SVC_CATALOG: config.catalogPath,
    SVC_LISTENER: listen.engine,
    SVC_DRAIN_DELAY_SECONDS: config.drain.delayMs / 1000,
    SVC_DRAIN_DEADLINE_SECONDS: config.drain.deadlineMs / 1000,
    SVC_SHARDS: config.shards,
    SVC_MATCHER_THREADS: config.matcherThreads,
    SVC_DURABILITY: config.durability,
    SVC_RETENTION_DAYS: config.retentionDays,
    SVC_MAX_SESSIONS: config.maxSessions,
    SVC_SESSION_TTL_SECONDS: config.sessionTtlMs / 1000,
    // If NODE_OPTIONS sets the heap size, `heapMegabytes` is null, and the heap limit of this process is shown.
    MARKETPLACE_HEAP_MB: heapMegabytes ?? Math.round(heapBytes / 2 ** 20),
    SVC_LIMIT_REQUESTS_PER_MINUTE: config.limits.requestsPerMinute,
    SVC_LIMIT_ANALYTICS_PER_MINUTE: config.limits.analyticsPerMinute,
    SVC_LIMIT_SESSIONS_PER_DAY: config.limits.sessionsPerDay,
    SVC_LIMIT_REFERRER_TAGS: config.maxReferrerTags,
    SVC_CONFIRMATION_GRACE_DAYS: config.confirmationGraceDays,
    SVC_CORS_ORIGINS: config.corsOrigins,
    SVC_TEST_CLOCK: config.testClock ? 'on' : 'off',
    SVC_LOG_LEVEL: config.logLevel,
  };
}

/** Formats a setting as the text of an environment variable. A missing value is replaced by a word in parentheses, such as `(none)`. */
function formatSetting(name: SettingName, value: SettingValue): string {
  if (name === 'SVC_CATALOG' && value === null) return '(example catalogs)';
  if (name === 'SVC_RETENTION_DAYS') return value === null ? '(for ever)' : String(value);
  if (value === null) return '(none)';
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : value.join(',');
  return String(value);
}

/** Returns one sentence for each risk of the configuration. Only the command `check-config` reports risks; the server does not. */
export function configRisks(config: Config, urls: PublicUrls, machine: Pick<MachineResources, 'cores'>): string[] {
  const { durability, limits, matcherThreads, sessionTtlMs, logLevel, shards } = config;
  const { operationsHost, operationsPort } = config.listen;
  const unencrypted = unencryptedUrlSettings(urls);
  const risks: readonly (readonly [applies: boolean, risk: string])[] = [
    [
      unencrypted.length > 0,
      `${unencrypted.join(' and ')} in replies use http, so requests from other machines, including API keys, are not encrypted.`,
    ],
    [
      !isLoopbackHost(operationsHost),
      `SVC_OPS_HOST makes ${operationsHost}:${operationsPort} reachable from other machines. Health and metrics need no credentials, and the operator token is sent unencrypted.`,
    ],
    [durability === 'write', 'SVC_DURABILITY is write, so a power failure loses the last acknowledged requests.'],
    [
      sessionTtlMs < bounds.sessionTtlMs,
      `SVC_SESSION_TTL_SECONDS ends sessions after ${sessionTtlMs / 1000} s; the API documents four hours.`,
    ],
    [
      limits.analyticsPerMinute > limits.requestsPerMinute,
      'SVC_LIMIT_ANALYTICS_PER_MINUTE is above SVC_LIMIT_REQUESTS_PER_MINUTE, which also counts analytics queries.',
    ],
    [
      matcherThreads > machine.cores,
      `SVC_MATCHER_THREADS is ${matcherThreads}, but this machine has ${machine.cores} cores.`,
    ],
    [
      shards > machine.cores,
      `SVC_SHARDS is ${shards}, but this machine has ${machine.cores} ${machine.cores === 1 ? 'core' : 'cores'}.`,
    ],
    [
      logLevel === 'silent' || logLevel === 'fatal',
      `SVC_LOG_LEVEL is ${logLevel}, so errors such as an invalid catalog are not logged.`,
    ],
  ];
  return risks.flatMap(([applies, risk]) => (applies ? risk : []));
}

/** Returns a sentence if the settings do not suit the data folder, and the risks of its keys otherwise. */
function folderRisks(config: Config, registry: VerticalRegistry): string[] {
  try {
    assertShardCount(config.dataDir, config.shards);
    const clock = checkTestClock({ ...config, clock: systemClock }) ?? systemClock;
    return exampleCatalogRisks(config, registry, clock);
  } catch (error) {
    if (error instanceof OperatorError) return [`The service will not start: ${error.message}.`];
    throw error;
  }
}

/** Returns a sentence if live keys are served by example catalogs. The server logs the same warning. */
function exampleCatalogRisks({ catalogPath, dataDir }: Config, registry: VerticalRegistry, clock: Clock): string[] {
  const served = registry.verticals
    .filter((vertical) => catalogPath === null || catalogPath === registry.exampleCatalogFile(vertical))
    .map(({ segment }) => segment);
  const withLiveKeys = readLiveKeyVerticals(keyFilePath(dataDir), clock.wallMs());
  const risky = served.filter((segment) => withLiveKeys.includes(segment));
  if (risky.length === 0) return [];
  return [
    `SVC_CATALOG names no catalog of yours, so live API keys for ${risky.join(', ')} get made-up example offers.`,
  ];
}

/** Returns the names of URL settings that use http. Omits a URL that starts with the public URL if the public URL also uses http. */
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
