import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { applyLimitOverrides, defaultKeyLimits, type KeyLimits } from '../auth/rate-limits.ts';
import { bounds } from '../bounds.ts';
import { escapeInvisibleCharacters, truncateText } from '../domain/text.ts';
import { type CertificateFiles, type TlsVersion, tlsMinVersionDefault, tlsVersions } from '../tls/certificate.ts';
import { ConfigError, type Env, type SettingName, settingNames } from './env.ts';
import {
  parseBaseUrlSetting,
  parseChoiceSetting,
  parseHostNamesSetting,
  parseHostSetting,
  parseIntegerSetting,
  parseOriginsSetting,
} from './parse-setting.ts';

/** Ports that browsers and `fetch` block (https://fetch.spec.whatwg.org/#port-blocking). */
export const browserBlockedPorts: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);

export interface Config {
  /** Address of the public listener, which serves the API, clicks, widgets and logos. */
  readonly publicEndpoint: ListenAddress;
  /** Address of the operations listener, which serves health checks, metrics, keys and confirmations. */
  readonly operationsEndpoint: ListenAddress;
  /** Host names that the operations listener accepts besides its own host and `localhost`. */
  readonly operationsAllowedHosts: readonly string[];
  /** HTTP engine of both listeners. `auto` selects uws, or node with a warning if uws cannot be loaded. */
  readonly engine: HttpEngineSetting;
  /** TLS settings of the public listener; null for plain HTTP. */
  readonly tls: TlsSettings | null;
  /** After a stop signal, the server accepts connections for another `delayMs`, then waits at most `deadlineMs` for pending requests. */
  readonly drain: { readonly delayMs: number; readonly deadlineMs: number };
  /** Configured base URLs; null for a default (see `resolveUrls`). */
  readonly urls: { readonly [Name in keyof PublicUrls]: string | null };
  /** Absolute path of the data folder, which contains the ledger, analytics, replaced catalogs and keys. */
  readonly dataDir: string;
  /** Absolute path of the secret file (docs/contract.md#secrets). */
  readonly secretFile: string;
  readonly catalog: CatalogChoice;
  readonly matcher: MatcherConfig;
  readonly durability: DurabilityMode;
  /** Number of days after which sessions and ledger records are deleted; null for never. */
  readonly retentionDays: number | null;
  readonly sessions: {
    /** Maximum number of live sessions; further sessions are rejected with status 503. */
    readonly max: number;
    readonly ttlMs: number;
    /** Maximum number of referrer tags per account, vertical and mode. A session with a further new tag is rejected with status 403. */
    readonly tagsMax: number;
  };
  /** Default rate limits, for keys that have no limits of their own (docs/contract.md#rate-limits). */
  readonly limits: KeyLimits;
  readonly cors: CorsChoice;
  readonly logLevel: LogLevel;
}

interface TlsSettings extends CertificateFiles {
  readonly minVersion: TlsVersion;
}

export interface ListenAddress {
  /** IP address or host name on which the listener accepts connections. */
  readonly host: string;
  /** TCP port; 0 selects a free port. */
  readonly port: number;
}

/**
 * Base URLs without a trailing slash. The service appends `/v1/...` to `public`, `/c` to `click`, and file names to `widget` and `cdn`. The
 * default of `widget` is `public` followed by `/w`; the default of `cdn` is `public` followed by `/cdn`.
 */
export interface PublicUrls {
  readonly public: string;
  readonly click: string;
  readonly widget: string;
  readonly cdn: string;
}

export const httpEngineChoices = ['auto', 'uws', 'node'] as const;
export type HttpEngineSetting = (typeof httpEngineChoices)[number];

/** Protection of acknowledged records: `fsync` protects against a power failure, `write` only against a crash of the process. */
export const durabilityModes = ['fsync', 'write'] as const;
export type DurabilityMode = (typeof durabilityModes)[number];

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

/** Example catalogs of all verticals, or the catalogs of a path: one file, or a folder with one file for each vertical. */
type CatalogChoice = { readonly kind: 'example' } | { readonly kind: 'path'; readonly path: string };
export type MatcherConfig = { readonly kind: 'in_thread' } | { readonly kind: 'workers'; readonly threads: number };
type CorsChoice = { readonly kind: 'off' } | { readonly kind: 'origins'; readonly origins: readonly string[] };

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
  env: Env,
  machine: MachineResources = detectMachineResources(),
): { config: Config; warnings: readonly string[] } {
  assertNoMisspelledSettings(env, settingNames);
  const dataDir = readDataDir(env, machine);
  const { SVC_SECRET_FILE: secretFile, SVC_CATALOG: catalog } = env.values;
  const threads =
    parseIntegerSetting(env, 'SVC_MATCHER_THREADS', 0, bounds.matcherThreadsMax) ??
    Math.min(bounds.matcherThreadsMax, Math.max(1, machine.cores - 1));
  const origins = parseOriginsSetting(env, 'SVC_CORS_ORIGINS', bounds.corsOriginsMax);
  const sessionsMaxByHeap = Math.max(1, Math.floor(machine.heapBytes / bounds.sessionHeapBytes));
  const perMinute = (name: 'SVC_LIMIT_REQUESTS_PER_MINUTE' | 'SVC_LIMIT_ANALYTICS_PER_MINUTE') =>
    parseIntegerSetting(env, name, 1, bounds.limitPerMinuteMax);

  const config: Config = {
    publicEndpoint: {
      host: parseHostSetting(env, 'SVC_HOST') ?? '127.0.0.1',
      port: parseIntegerSetting(env, 'SVC_PORT', 0, bounds.portMax) ?? 8080,
    },
    operationsEndpoint: readOperationsListenerAddress(env),
    operationsAllowedHosts: parseHostNamesSetting(env, 'SVC_OPS_ALLOWED_HOSTS', bounds.opsAllowedHostsMax) ?? [],
    engine: parseChoiceSetting(env, 'SVC_LISTENER', httpEngineChoices) ?? 'auto',
    tls: readTlsSettings(env, machine),
    drain: {
      delayMs: (parseIntegerSetting(env, 'SVC_DRAIN_DELAY_SECONDS', 0, bounds.drainDelaySecondsMax) ?? 0) * 1000,
      deadlineMs:
        (parseIntegerSetting(env, 'SVC_DRAIN_DEADLINE_SECONDS', 1, bounds.drainDeadlineSecondsMax) ??
          bounds.drainDeadlineDefaultMs / 1000) * 1000,
    },
    urls: {
      public: parseBaseUrlSetting(env, 'SVC_PUBLIC_URL'),
      click: parseBaseUrlSetting(env, 'SVC_CLICK_URL'),
      widget: parseBaseUrlSetting(env, 'SVC_WIDGET_URL'),
      cdn: parseBaseUrlSetting(env, 'SVC_CDN_URL'),
    },
    dataDir,
    secretFile: secretFile === undefined ? join(dataDir, 'secrets.json') : resolve(machine.workingFolder, secretFile),
    catalog:
      catalog === undefined ? { kind: 'example' } : { kind: 'path', path: resolve(machine.workingFolder, catalog) },
    matcher: threads === 0 ? { kind: 'in_thread' } : { kind: 'workers', threads },
    durability: parseChoiceSetting(env, 'SVC_DURABILITY', durabilityModes) ?? 'fsync',
    retentionDays: parseIntegerSetting(env, 'SVC_RETENTION_DAYS', bounds.retentionDaysMin, bounds.retentionDaysMax),
    sessions: {
      max: parseIntegerSetting(env, 'SVC_MAX_SESSIONS', 1, bounds.sessionLimitMax) ?? sessionsMaxByHeap,
      ttlMs: (parseIntegerSetting(env, 'SVC_SESSION_TTL_SECONDS', 1, ttlSecondsMax) ?? ttlSecondsMax) * 1000,
      tagsMax:
        parseIntegerSetting(env, 'SVC_LIMIT_REFERRER_TAGS', 1, bounds.referrerTagLimitMax) ??
        bounds.referrerTagLimitDefault,
    },
    limits: applyLimitOverrides(
      {
        requestsPerMinute: perMinute('SVC_LIMIT_REQUESTS_PER_MINUTE'),
        analyticsPerMinute: perMinute('SVC_LIMIT_ANALYTICS_PER_MINUTE'),
        sessionsPerDay: parseIntegerSetting(env, 'SVC_LIMIT_SESSIONS_PER_DAY', 1, bounds.limitPerDayMax),
      },
      defaultKeyLimits,
    ),
    cors: origins === null ? { kind: 'off' } : { kind: 'origins', origins },
    logLevel: parseChoiceSetting(env, 'SVC_LOG_LEVEL', logLevels) ?? 'info',
  };
  if (endpointsCollide(config.publicEndpoint, config.operationsEndpoint)) {
    const setting = env.values.SVC_OPS_PORT === undefined ? 'SVC_PORT' : 'SVC_OPS_PORT';
    throw ConfigError.invalidSettingError(
      setting,
      String(config.publicEndpoint.port),
      'a port that the other listener does not use on this host',
    );
  }

  const warnings = env.unknown.map(
    (name) =>
      `${truncateText(escapeInvisibleCharacters(name), bounds.settingCharactersShown)} is set, but no setting has this name.`,
  );
  if (config.sessions.max > sessionsMaxByHeap) {
    warnings.push(
      `SVC_MAX_SESSIONS is above ${sessionsMaxByHeap}, the number of sessions that fit in the heap at 2 kB of heap each.`,
    );
  }
  if (browserBlockedPorts.has(config.operationsEndpoint.port)) {
    warnings.push(
      `SVC_OPS_PORT is ${config.operationsEndpoint.port}, a port that fetch blocks, so marketplace confirm and the health check of the image cannot connect; choose another port.`,
    );
  }
  return { config, warnings };
}

/** Reads the path of the data folder without validating other settings. Throws `ConfigError` if the name of the setting is misspelled. */
export function readDataDir(
  env: Env,
  machine: Pick<MachineResources, 'workingFolder'> = { workingFolder: process.cwd() },
): string {
  assertNoMisspelledSettings(env, ['SVC_DATA_DIR']);
  return resolve(machine.workingFolder, env.values.SVC_DATA_DIR ?? 'data');
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
function readTlsSettings(env: Env, { workingFolder }: MachineResources): TlsSettings | null {
  const { SVC_TLS_CERT: certificate, SVC_TLS_KEY: key } = env.values;
  const minVersion = parseChoiceSetting(env, 'SVC_TLS_MIN_VERSION', tlsVersions);
  if (certificate !== undefined && key !== undefined) {
    return {
      certificateFile: resolve(workingFolder, certificate),
      keyFile: resolve(workingFolder, key),
      minVersion: minVersion ?? tlsMinVersionDefault,
    };
  }
  for (const [setting, value, requirement] of [
    ['SVC_TLS_CERT', certificate, 'SVC_TLS_KEY is set'],
    ['SVC_TLS_KEY', key, 'SVC_TLS_CERT is set'],
    ['SVC_TLS_MIN_VERSION', minVersion ?? undefined, 'SVC_TLS_CERT and SVC_TLS_KEY are set'],
  ] as const) {
    if (value !== undefined) throw ConfigError.invalidSettingError(setting, value, `unset unless ${requirement}`);
  }
  return null;
}

function assertNoMisspelledSettings({ misspelled }: Env, settings: readonly SettingName[]): void {
  const match = misspelled.find(({ meant }) => settings.includes(meant));
  if (match !== undefined) throw ConfigError.misspelledSettingError(match.name, match.meant);
}

/** Maximum session lifetime (docs/contract.md#session-lifetime). */
const ttlSecondsMax = bounds.sessionTtlMs / 1000;

function endpointsCollide(one: ListenAddress, other: ListenAddress): boolean {
  if (one.port !== other.port || one.port === 0) return false;
  return one.host === other.host || isWildcardHost(one.host) || isWildcardHost(other.host);
}

/** Whether a listener on a host accepts connections on every address of the machine. */
export function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]+$/.test(host);
}
