import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { defaultKeyLimits, effectiveLimits, type KeyLimits } from '../auth/rate-limits.ts';
import { bounds } from '../bounds.ts';
import { escapeInvisible, truncateText } from '../domain/text.ts';
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

/**
 * Ports that browsers refuse to connect to, and `fetch` in any program, whatever listens there: they are known for other protocols, whose
 * servers might take a request for orders. The list is the standard's: https://fetch.spec.whatwg.org/#port-blocking
 */
export const blockedPorts: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);

/** The whole configuration, as plain values: nothing behind it knows where they came from. */
export interface Config {
  /** The public listener: API, clicks, widgets, logos. */
  readonly publicEndpoint: Endpoint;
  /** The operations listener: health and metrics. */
  readonly operationsEndpoint: Endpoint;
  /** Host names under which the operations listener answers, beside its own and `localhost`. */
  readonly operationsAllowedHosts: readonly string[];
  /** Which HTTP engine carries both; `auto` is uws, or node with a warning where uws cannot load. */
  readonly engine: EngineChoice;
  /** What the public listener needs to speak https; null: it speaks http. */
  readonly tls: TlsSettings | null;
  /** How a service that is to stop does so: how long it goes on accepting connections, and then waits for answers. */
  readonly drain: { readonly delayMs: number; readonly deadlineMs: number };
  /** What answers name as our addresses; null where it follows from the listener (see `resolveUrls`). */
  readonly urls: { readonly [Name in keyof PublicUrls]: string | null };
  /** Absolute path of the folder that holds the ledger, analytics, replaced catalogs and keys. */
  readonly dataDir: string;
  /** Absolute path of the signing and sealing secrets (docs/contract.md#secrets). */
  readonly secretFile: string;
  readonly catalog: CatalogChoice;
  readonly matcher: MatcherChoice;
  readonly durability: Durability;
  /** How many days back sessions and the ledger are kept; null: for ever. */
  readonly retentionDays: number | null;
  readonly sessions: {
    /** Live sessions held at most; beyond it, 503. */
    readonly max: number;
    readonly ttlMs: number;
    /** Different referrer tags of an account in one vertical and mode; a new one beyond it, 403. */
    readonly tagsMax: number;
  };
  /** For keys that carry no limits of their own (docs/contract.md#rate-limits). */
  readonly limits: KeyLimits;
  readonly cors: CorsChoice;
  readonly logLevel: LogLevel;
}

interface TlsSettings extends CertificateFiles {
  readonly minVersion: TlsVersion;
}

export interface Endpoint {
  /** An IP address or a host name. */
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/**
 * Base addresses without a trailing slash: `/v1/...` is appended to the public one, `/c` to the click host, and names of
 * widgets and logos to the widget and image hosts, whose defaults are the paths `/w` and `/cdn` of the public one.
 */
export interface PublicUrls {
  readonly public: string;
  readonly click: string;
  readonly widget: string;
  readonly cdn: string;
}

export const engineChoices = ['auto', 'uws', 'node'] as const;
export type EngineChoice = (typeof engineChoices)[number];

/** `fsync` survives a power cut, `write` the death of the process only. */
export const durabilityChoices = ['fsync', 'write'] as const;
export type Durability = (typeof durabilityChoices)[number];

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

type CatalogChoice = { readonly kind: 'example' } | { readonly kind: 'file'; readonly path: string };
export type MatcherChoice = { readonly kind: 'in_thread' } | { readonly kind: 'workers'; readonly threads: number };
type CorsChoice = { readonly kind: 'off' } | { readonly kind: 'origins'; readonly origins: readonly string[] };

/** What defaults are derived from. */
export interface Machine {
  readonly cores: number;
  /** Bytes the JavaScript heap may grow to. */
  readonly heapBytes: number;
  /** Megabytes that Node.js was told to let it grow to, which is somewhat less; null where it was told nothing. */
  readonly heapMegabytes: number | null;
  /** Relative paths start here. */
  readonly workingFolder: string;
}

export function detectMachine(): Machine {
  return {
    cores: availableParallelism(),
    heapBytes: getHeapStatistics().heap_size_limit,
    heapMegabytes: configuredHeapMegabytes(process.execArgv),
    workingFolder: process.cwd(),
  };
}

/** The launcher tells it on the command line of Node.js, whose last word on it holds. */
function configuredHeapMegabytes(execArgv: readonly string[]): number | null {
  const told = execArgv.findLast((argument) => /^--max[-_]old[-_]space[-_]size=\d+$/.test(argument));
  return told === undefined ? null : Number(told.slice(told.indexOf('=') + 1));
}

/**
 * Applies defaults to what the environment holds and checks it, each value by itself and against the others. Throws
 * `ConfigError` at the first that is wrong. `warnings` are whole sentences about what is allowed and probably not meant.
 */
export function loadConfig(
  env: Env,
  machine: Machine = detectMachine(),
): { config: Config; warnings: readonly string[] } {
  assertNoMisspelledSettings(env, settingNames);
  const dataDir = readDataDir(env, machine);
  const { SVC_SECRET_FILE: secretFile, SVC_CATALOG: catalog } = env.values;
  const threads =
    parseIntegerSetting(env, 'SVC_MATCHER_THREADS', 0, bounds.matcherThreadsMax) ??
    Math.min(bounds.matcherThreadsMax, Math.max(1, machine.cores - 1));
  const origins = parseOriginsSetting(env, 'SVC_CORS_ORIGINS', bounds.corsOriginsMax);
  const sessionsFitting = Math.max(1, Math.floor(machine.heapBytes / bounds.sessionHeapBytes));
  const perMinute = (name: 'SVC_LIMIT_REQUESTS_PER_MINUTE' | 'SVC_LIMIT_ANALYTICS_PER_MINUTE') =>
    parseIntegerSetting(env, name, 1, bounds.limitPerMinuteMax);

  const config: Config = {
    publicEndpoint: {
      host: parseHostSetting(env, 'SVC_HOST') ?? '127.0.0.1',
      port: parseIntegerSetting(env, 'SVC_PORT', 0, bounds.portMax) ?? 8080,
    },
    operationsEndpoint: readOperationsEndpoint(env),
    operationsAllowedHosts: parseHostNamesSetting(env, 'SVC_OPS_ALLOWED_HOSTS', bounds.opsAllowedHostsMax) ?? [],
    engine: parseChoiceSetting(env, 'SVC_LISTENER', engineChoices) ?? 'auto',
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
      catalog === undefined ? { kind: 'example' } : { kind: 'file', path: resolve(machine.workingFolder, catalog) },
    matcher: threads === 0 ? { kind: 'in_thread' } : { kind: 'workers', threads },
    durability: parseChoiceSetting(env, 'SVC_DURABILITY', durabilityChoices) ?? 'fsync',
    retentionDays: parseIntegerSetting(env, 'SVC_RETENTION_DAYS', bounds.retentionDaysMin, bounds.retentionDaysMax),
    sessions: {
      max: parseIntegerSetting(env, 'SVC_MAX_SESSIONS', 1, bounds.sessionLimitMax) ?? sessionsFitting,
      ttlMs: (parseIntegerSetting(env, 'SVC_SESSION_TTL_SECONDS', 1, ttlSecondsMax) ?? ttlSecondsMax) * 1000,
      tagsMax:
        parseIntegerSetting(env, 'SVC_LIMIT_REFERRER_TAGS', 1, bounds.referrerTagLimitMax) ??
        bounds.referrerTagLimitDefault,
    },
    limits: effectiveLimits(
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
    throw ConfigError.invalidValue(
      setting,
      String(config.publicEndpoint.port),
      'any port that the other listener does not have on this host',
    );
  }

  const warnings = env.unknown.map(
    (name) =>
      `${truncateText(escapeInvisible(name), bounds.settingCharactersShown)} is set, but no setting has this name.`,
  );
  if (config.sessions.max > sessionsFitting) {
    warnings.push(
      `SVC_MAX_SESSIONS asks for more sessions than are reckoned to fit the memory (${sessionsFitting}: one for each 2 kB of heap).`,
    );
  }
  if (blockedPorts.has(config.operationsEndpoint.port)) {
    warnings.push(
      `SVC_OPS_PORT is ${config.operationsEndpoint.port}, a port that fetch refuses to connect to, so neither marketplace confirm nor the health check of the image reaches it: choose another.`,
    );
  }
  return { config, warnings };
}

/** The data folder alone, for commands that need nothing else and should not stumble over anything else. Throws `ConfigError`. */
export function readDataDir(
  env: Env,
  machine: Pick<Machine, 'workingFolder'> = { workingFolder: process.cwd() },
): string {
  assertNoMisspelledSettings(env, ['SVC_DATA_DIR']);
  return resolve(machine.workingFolder, env.values.SVC_DATA_DIR ?? 'data');
}

/** The operations listener alone, likewise. */
export function readOperationsEndpoint(env: Env): Endpoint {
  assertNoMisspelledSettings(env, ['SVC_OPS_HOST', 'SVC_OPS_PORT']);
  return {
    host: parseHostSetting(env, 'SVC_OPS_HOST') ?? '127.0.0.1',
    port: parseIntegerSetting(env, 'SVC_OPS_PORT', 0, bounds.portMax) ?? 9090,
  };
}

/** Certificate and key come together or not at all; whether they can be used is found out when they are read. */
function readTlsSettings(env: Env, { workingFolder }: Machine): TlsSettings | null {
  const { SVC_TLS_CERT: certificate, SVC_TLS_KEY: key } = env.values;
  const minVersion = parseChoiceSetting(env, 'SVC_TLS_MIN_VERSION', tlsVersions);
  if (certificate !== undefined && key !== undefined) {
    return {
      certificateFile: resolve(workingFolder, certificate),
      keyFile: resolve(workingFolder, key),
      minVersion: minVersion ?? tlsMinVersionDefault,
    };
  }
  if (certificate !== undefined)
    throw ConfigError.invalidValue('SVC_TLS_CERT', certificate, 'nothing unless SVC_TLS_KEY is set');
  if (key !== undefined) throw ConfigError.invalidValue('SVC_TLS_KEY', key, 'nothing unless SVC_TLS_CERT is set');
  if (minVersion !== null) {
    throw ConfigError.invalidValue(
      'SVC_TLS_MIN_VERSION',
      minVersion,
      'nothing unless SVC_TLS_CERT and SVC_TLS_KEY are set',
    );
  }
  return null;
}

function assertNoMisspelledSettings({ misspelled }: Env, settings: readonly SettingName[]): void {
  const wrong = misspelled.find(({ meant }) => settings.includes(meant));
  if (wrong !== undefined) throw ConfigError.misspelledName(wrong.name, wrong.meant);
}

/** The contract's lifetime is also the longest: what outlives a session (docs/contract.md#session-lifetime) is reckoned from it. */
const ttlSecondsMax = bounds.sessionTtlMs / 1000;

function endpointsCollide(one: Endpoint, other: Endpoint): boolean {
  if (one.port !== other.port || one.port === 0) return false;
  return one.host === other.host || isWildcardHost(one.host) || isWildcardHost(other.host);
}

/** Whether listening there means listening on every address of the machine. */
export function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]+$/.test(host);
}
