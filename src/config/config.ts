import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { bounds } from '../bounds.ts';
import { escapeInvisibleCharacters, truncateText } from '../domain/text.ts';
import { tlsVersions } from '../tls/certificate.ts';
import { ConfigError, type Env, readEnv, type SettingName, settingNames } from './env.ts';
import {
  findReachableHost,
  parseBaseUrlSetting,
  parseChoiceSetting,
  parseHostNamesSetting,
  parseHostSetting,
  parseIntegerSetting,
  parseOriginsSetting,
} from './parse-setting.ts';
import {
  durabilityModes,
  httpEngineChoices,
  type ListenAddress,
  type ListenOptions,
  type ListenSettings,
  type ResolvedSettings,
  resolveListenOptions,
  resolveSettings,
  type ServiceSettings,
  type TlsOptions,
} from './service-settings.ts';

/** Ports that browsers and `fetch` block (https://fetch.spec.whatwg.org/#port-blocking). */
export const browserBlockedPorts: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);

/** Settings of a server. */
export interface Config extends ResolvedSettings {
  readonly listen: ListenSettings;
  /** Catalog file, or folder with one catalog file for each vertical; null for the example catalogs of all verticals. */
  readonly catalogPath: string | null;
  readonly logLevel: LogLevel;
  /** Number of processes that divide the accounts among them. */
  readonly shards: number;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

/** Resources of the machine and the process, from which defaults are derived. */
export interface MachineResources {
  readonly cores: number;
  readonly heapBytes: number;
  /** Value of `--max-old-space-size` in megabytes; null if the option is not set. */
  readonly heapMegabytes: number | null;
  /** Folder to which relative paths in settings refer. */
  readonly workingFolder: string;
}

export function detectMachineResources(): MachineResources {
  return {
    cores: availableParallelism(),
    heapBytes: getHeapStatistics().heap_size_limit,
    heapMegabytes: configuredHeapMegabytes(process.execArgv),
    workingFolder: process.cwd(),
  };
}

/** Returns the value of the Node.js option `--max-old-space-size` (the last value if the option is repeated), or null. */
function configuredHeapMegabytes(execArgv: readonly string[]): number | null {
  const option = execArgv.findLast((argument) => /^--max[-_]old[-_]space[-_]size=\d+$/.test(argument));
  return option === undefined ? null : Number(option.slice(option.indexOf('=') + 1));
}

/**
 * Validates all settings and applies the default values. Throws `ConfigError` for the first invalid setting. `warnings` contains one
 * sentence for each setting that is valid but probably a mistake.
 */
export function loadConfig(
  env: Env = readEnv(),
  machine: MachineResources = detectMachineResources(),
): { config: Config; warnings: readonly string[] } {
  assertNoMisspelledSettings(env, settingNames);
  const sessionsMaxByHeap = Math.max(1, Math.floor(machine.heapBytes / bounds.sessionHeapBytes));
  const config = parseConfig(env, machine, sessionsMaxByHeap);
  const { host, port, operationsHost, operationsPort } = config.listen;
  if (endpointsCollide({ host, port }, { host: operationsHost, port: operationsPort })) {
    const setting = env.values.SVC_OPS_PORT === undefined ? 'SVC_PORT' : 'SVC_OPS_PORT';
    throw ConfigError.invalidSettingError(
      setting,
      String(port),
      'a port that the other listener does not use on this host',
    );
  }
  if (config.testClock) {
    assertLoopbackListeners(config.listen);
    if (config.shards > 1) {
      throw ConfigError.invalidSettingError('SVC_SHARDS', String(config.shards), '1 while SVC_TEST_CLOCK is on');
    }
  }
  const warnings = env.unknown.map(
    (name) =>
      `${truncateText(escapeInvisibleCharacters(name), bounds.settingCharactersShown)} is set, but no setting has this name.`,
  );
  if (config.maxSessions > sessionsMaxByHeap) {
    warnings.push(
      `SVC_MAX_SESSIONS is above ${sessionsMaxByHeap}, the number of sessions that fit in the heap at 2 kB of heap each.`,
    );
  }
  if (browserBlockedPorts.has(operationsPort)) {
    warnings.push(
      `SVC_OPS_PORT is ${operationsPort}, a port that fetch blocks, so marketplace confirm and the health check of the image cannot connect; choose another port.`,
    );
  }
  return { config, warnings };
}

function parseConfig(env: Env, machine: MachineResources, sessionsMaxByHeap: number): Config {
  const { workingFolder } = machine;
  const integer = (name: SettingName, min: number, max: number) => parseIntegerSetting(env, name, min, max);
  const milliseconds = (name: SettingName, min: number, max: number, defaultMs: number) =>
    (integer(name, min, max) ?? defaultMs / 1000) * 1000;
  const { SVC_SECRET_FILE: secretFile, SVC_CATALOG: catalog } = env.values;
  const dataDir = readDataDir(env, machine);
  const matcherThreads =
    integer('SVC_MATCHER_THREADS', 0, bounds.matcherThreadsMax) ??
    Math.min(bounds.matcherThreadsMax, Math.max(1, machine.cores - 1));
  const testClock = readTestClockSetting(env);
  const corsOrigins = parseOriginsSetting(env, 'SVC_CORS_ORIGINS', bounds.corsOriginsMax);
  const listen = resolveListenOptions(readListenOptions(env), workingFolder);
  const { drainDelaySecondsMax, drainDeadlineSecondsMax, drainDeadlineDefaultMs, sessionTtlMs } = bounds;
  const drain = {
    delayMs: milliseconds('SVC_DRAIN_DELAY_SECONDS', 0, drainDelaySecondsMax, 0),
    deadlineMs: milliseconds('SVC_DRAIN_DEADLINE_SECONDS', 1, drainDeadlineSecondsMax, drainDeadlineDefaultMs),
  };
  const urls = {
    public: parseBaseUrlSetting(env, 'SVC_PUBLIC_URL'),
    click: parseBaseUrlSetting(env, 'SVC_CLICK_URL'),
    widget: parseBaseUrlSetting(env, 'SVC_WIDGET_URL'),
    cdn: parseBaseUrlSetting(env, 'SVC_CDN_URL'),
  };
  const settings: ServiceSettings = {
    dataDir,
    secretFile,
    urls,
    matcherThreads,
    corsOrigins,
    testClock,
    durability: parseChoiceSetting(env, 'SVC_DURABILITY', durabilityModes),
    retentionDays: integer('SVC_RETENTION_DAYS', bounds.retentionDaysMin, bounds.retentionDaysMax),
    maxSessions: integer('SVC_MAX_SESSIONS', 1, bounds.sessionLimitMax) ?? sessionsMaxByHeap,
    sessionTtlMs: milliseconds('SVC_SESSION_TTL_SECONDS', 1, sessionTtlMs / 1000, sessionTtlMs),
    maxReferrerTags: integer('SVC_LIMIT_REFERRER_TAGS', 1, bounds.referrerTagLimitMax),
    confirmationGraceDays: integer('SVC_CONFIRMATION_GRACE_DAYS', 0, bounds.confirmationGraceDaysMax),
    limits: {
      requestsPerMinute: integer('SVC_LIMIT_REQUESTS_PER_MINUTE', 1, bounds.limitPerMinuteMax),
      analyticsPerMinute: integer('SVC_LIMIT_ANALYTICS_PER_MINUTE', 1, bounds.limitPerMinuteMax),
      sessionsPerDay: integer('SVC_LIMIT_SESSIONS_PER_DAY', 1, bounds.limitPerDayMax),
    },
  };
  return {
    ...resolveSettings(settings, workingFolder),
    listen,
    drain,
    catalogPath: catalog === undefined ? null : resolve(workingFolder, catalog),
    logLevel: parseChoiceSetting(env, 'SVC_LOG_LEVEL', logLevels) ?? 'info',
    shards: integer('SVC_SHARDS', 1, bounds.shardsMax) ?? 1,
  };
}

function readListenOptions(env: Env): ListenOptions {
  const host = parseHostSetting(env, 'SVC_HOST');
  const port = parseIntegerSetting(env, 'SVC_PORT', 0, bounds.portMax) ?? 8080;
  const { host: operationsHost, port: operationsPort } = readOperationsListenerAddress(env);
  return {
    host,
    port,
    operationsHost,
    operationsPort,
    operationsAllowedHosts: parseHostNamesSetting(env, 'SVC_OPS_ALLOWED_HOSTS', bounds.opsAllowedHostsMax),
    engine: parseChoiceSetting(env, 'SVC_LISTENER', httpEngineChoices),
    tls: readTlsOptions(env),
  };
}

/** Reads the path of the data folder without validating other settings. Throws `ConfigError` if the name of the setting is misspelled. */
export function readDataDir(
  env: Env = readEnv(),
  machine: Pick<MachineResources, 'workingFolder'> = { workingFolder: process.cwd() },
): string {
  assertNoMisspelledSettings(env, ['SVC_DATA_DIR']);
  return resolve(machine.workingFolder, env.values.SVC_DATA_DIR ?? 'data');
}

/** Reads whether the data folder has a test clock without validating other settings. Throws `ConfigError` for an invalid setting. */
export function readTestClockSetting(env: Env = readEnv()): boolean {
  assertNoMisspelledSettings(env, ['SVC_TEST_CLOCK']);
  return parseChoiceSetting(env, 'SVC_TEST_CLOCK', ['on', 'off']) === 'on';
}

/** Throws `ConfigError` if other machines can connect to a listener, because the figures of a test clock are not real. */
function assertLoopbackListeners({ host, operationsHost }: ListenSettings): void {
  const [setting, value] = findReachableHost({ SVC_HOST: host, SVC_OPS_HOST: operationsHost }) ?? [];
  if (setting === undefined || value === undefined) return;
  const rule = 'a loopback address such as 127.0.0.1 while SVC_TEST_CLOCK is on';
  throw ConfigError.invalidSettingError(setting, value, rule);
}

/** Reads the address of the operations listener without validating other settings. Throws `ConfigError` for an invalid setting. */
export function readOperationsListenerAddress(env: Env): ListenAddress {
  assertNoMisspelledSettings(env, ['SVC_OPS_HOST', 'SVC_OPS_PORT']);
  return {
    host: parseHostSetting(env, 'SVC_OPS_HOST') ?? '127.0.0.1',
    port: parseIntegerSetting(env, 'SVC_OPS_PORT', 0, bounds.portMax) ?? 9090,
  };
}

/** Reads the TLS settings. Certificate and key must be set together. The listener reads the certificate and the key when it starts. */
function readTlsOptions(env: Env): TlsOptions | undefined {
  const { SVC_TLS_CERT: certificateFile, SVC_TLS_KEY: keyFile } = env.values;
  const minVersion = parseChoiceSetting(env, 'SVC_TLS_MIN_VERSION', tlsVersions);
  if (certificateFile !== undefined && keyFile !== undefined) return { certificateFile, keyFile, minVersion };
  for (const [setting, value, requirement] of [
    ['SVC_TLS_CERT', certificateFile, 'SVC_TLS_KEY is set'],
    ['SVC_TLS_KEY', keyFile, 'SVC_TLS_CERT is set'],
    ['SVC_TLS_MIN_VERSION', minVersion, 'SVC_TLS_CERT and SVC_TLS_KEY are set'],
  ] as const) {
    if (value !== undefined) throw ConfigError.invalidSettingError(setting, value, `unset unless ${requirement}`);
  }
  return undefined;
}

function assertNoMisspelledSettings({ misspelled }: Env, settings: readonly SettingName[]): void {
  const match = misspelled.find(({ meant }) => settings.includes(meant));
  if (match !== undefined) throw ConfigError.misspelledSettingError(match.name, match.meant);
}

function endpointsCollide(one: ListenAddress, other: ListenAddress): boolean {
  if (one.port !== other.port || one.port === 0) return false;
  return one.host === other.host || isWildcardHost(one.host) || isWildcardHost(other.host);
}

/** Whether a listener on a host accepts connections on every address of the machine. */
export function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]+$/.test(host);
}
