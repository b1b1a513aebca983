import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { defaultKeyLimits, effectiveLimits, type KeyLimits } from '../access/key-limits.ts';
import { bounds } from '../bounds.ts';
import { cutText, visibleText } from '../domain/plain-text.ts';
import { type CertificateFiles, type TlsVersion, tlsMinVersionDefault, tlsVersions } from '../tls/certificate.ts';
import { ConfigError } from './config-error.ts';
import { type Env, type SettingName, settingNames } from './env.ts';
import {
  baseUrlSetting,
  choiceSetting,
  hostNamesSetting,
  hostSetting,
  originsSetting,
  wholeNumberSetting,
} from './parse-setting.ts';
import { refusedPorts } from './refused-ports.ts';

/** The whole configuration, as plain values: nothing behind it knows where they came from. */
export interface Config {
  /** The public listener: API, clicks, widgets, logos. */
  readonly listen: Endpoint;
  /** The operations listener: health and metrics. */
  readonly operations: Endpoint;
  /** Host names under which the operations listener answers, beside its own and `localhost`. */
  readonly operationsAllowedHosts: readonly string[];
  /** Which HTTP engine carries both; `auto` is uws, or node with a warning where uws cannot load. */
  readonly listener: ListenerChoice;
  /** What the public listener needs to speak https; null: it speaks http. */
  readonly tls: TlsChoice | null;
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

export interface TlsChoice extends CertificateFiles {
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

export const listenerChoices = ['auto', 'uws', 'node'] as const;
export type ListenerChoice = (typeof listenerChoices)[number];

/** `fsync` survives a power cut, `write` the death of the process only. */
export const durabilities = ['fsync', 'write'] as const;
export type Durability = (typeof durabilities)[number];

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type CatalogChoice = { readonly kind: 'example' } | { readonly kind: 'file'; readonly path: string };
export type MatcherChoice = { readonly kind: 'in_thread' } | { readonly kind: 'workers'; readonly threads: number };
export type CorsChoice = { readonly kind: 'off' } | { readonly kind: 'origins'; readonly origins: readonly string[] };

/** What defaults are derived from. */
export interface Machine {
  readonly cores: number;
  /** Bytes the JavaScript heap may grow to. */
  readonly heapBytes: number;
  /** Megabytes that Node.js was told to let it grow to, which is somewhat less; null where it was told nothing. */
  readonly heapMegabytes: number | null;
  /** Relative paths start here. */
  readonly folder: string;
}

export function thisMachine(): Machine {
  return {
    cores: availableParallelism(),
    heapBytes: getHeapStatistics().heap_size_limit,
    heapMegabytes: toldHeapMegabytes(process.execArgv),
    folder: process.cwd(),
  };
}

/** The launcher tells it on the command line of Node.js, whose last word on it holds. */
function toldHeapMegabytes(execArgv: readonly string[]): number | null {
  const told = execArgv.findLast((argument) => /^--max[-_]old[-_]space[-_]size=\d+$/.test(argument));
  return told === undefined ? null : Number(told.slice(told.indexOf('=') + 1));
}

/**
 * Applies defaults to what the environment holds and checks it, each value by itself and against the others. Throws
 * `ConfigError` at the first that is wrong. `warnings` are whole sentences about what is allowed and probably not meant.
 */
export function loadConfig(
  env: Env,
  machine: Machine = thisMachine(),
): { config: Config; warnings: readonly string[] } {
  requireSpelling(env, settingNames);
  const dataDir = dataDirOf(env, machine);
  const { SVC_SECRET_FILE: secretFile, SVC_CATALOG: catalog } = env.values;
  const threads =
    wholeNumberSetting(env, 'SVC_MATCHER_THREADS', 0, bounds.matcherThreadsMax) ??
    Math.min(bounds.matcherThreadsMax, Math.max(1, machine.cores - 1));
  const origins = originsSetting(env, 'SVC_CORS_ORIGINS', bounds.corsOriginsMax);
  const sessionsFitting = Math.max(1, Math.floor(machine.heapBytes / bounds.sessionBytes));
  const perMinute = (name: 'SVC_LIMIT_REQUESTS_PER_MINUTE' | 'SVC_LIMIT_ANALYTICS_PER_MINUTE') =>
    wholeNumberSetting(env, name, 1, bounds.limitPerMinuteMax);

  const config: Config = {
    listen: {
      host: hostSetting(env, 'SVC_HOST') ?? '127.0.0.1',
      port: wholeNumberSetting(env, 'SVC_PORT', 0, bounds.portMax) ?? 8080,
    },
    operations: operationsEndpointOf(env),
    operationsAllowedHosts: hostNamesSetting(env, 'SVC_OPS_ALLOWED_HOSTS', bounds.opsAllowedHostsMax) ?? [],
    listener: choiceSetting(env, 'SVC_LISTENER', listenerChoices) ?? 'auto',
    tls: tlsOf(env, machine),
    drain: {
      delayMs: (wholeNumberSetting(env, 'SVC_DRAIN_DELAY_SECONDS', 0, bounds.drainDelaySecondsMax) ?? 0) * 1000,
      deadlineMs:
        (wholeNumberSetting(env, 'SVC_DRAIN_DEADLINE_SECONDS', 1, bounds.drainDeadlineSecondsMax) ??
          bounds.drainDeadlineMs / 1000) * 1000,
    },
    urls: {
      public: baseUrlSetting(env, 'SVC_PUBLIC_URL'),
      click: baseUrlSetting(env, 'SVC_CLICK_URL'),
      widget: baseUrlSetting(env, 'SVC_WIDGET_URL'),
      cdn: baseUrlSetting(env, 'SVC_CDN_URL'),
    },
    dataDir,
    secretFile: secretFile === undefined ? join(dataDir, 'secrets.json') : resolve(machine.folder, secretFile),
    catalog: catalog === undefined ? { kind: 'example' } : { kind: 'file', path: resolve(machine.folder, catalog) },
    matcher: threads === 0 ? { kind: 'in_thread' } : { kind: 'workers', threads },
    durability: choiceSetting(env, 'SVC_DURABILITY', durabilities) ?? 'fsync',
    retentionDays: wholeNumberSetting(env, 'SVC_RETENTION_DAYS', bounds.retentionDaysMin, bounds.retentionDaysMax),
    sessions: {
      max: wholeNumberSetting(env, 'SVC_MAX_SESSIONS', 1, bounds.sessionsHeldMax) ?? sessionsFitting,
      ttlMs: (wholeNumberSetting(env, 'SVC_SESSION_TTL_SECONDS', 1, ttlSecondsMax) ?? ttlSecondsMax) * 1000,
      tagsMax:
        wholeNumberSetting(env, 'SVC_LIMIT_REFERRER_TAGS', 1, bounds.referrerTagsMax) ?? bounds.referrerTagsDefault,
    },
    limits: effectiveLimits(
      {
        requestsPerMinute: perMinute('SVC_LIMIT_REQUESTS_PER_MINUTE'),
        analyticsPerMinute: perMinute('SVC_LIMIT_ANALYTICS_PER_MINUTE'),
        sessionsPerDay: wholeNumberSetting(env, 'SVC_LIMIT_SESSIONS_PER_DAY', 1, bounds.limitPerDayMax),
      },
      defaultKeyLimits,
    ),
    cors: origins === null ? { kind: 'off' } : { kind: 'origins', origins },
    logLevel: choiceSetting(env, 'SVC_LOG_LEVEL', logLevels) ?? 'info',
  };
  if (collide(config.listen, config.operations)) {
    const setting = env.values.SVC_OPS_PORT === undefined ? 'SVC_PORT' : 'SVC_OPS_PORT';
    throw ConfigError.wrong(
      setting,
      String(config.listen.port),
      'any port that the other listener does not have on this host',
    );
  }

  const warnings = env.unknown.map(
    (name) => `${cutText(visibleText(name), bounds.settingCharactersShown)} is set, but no setting has this name.`,
  );
  if (config.sessions.max > sessionsFitting) {
    warnings.push(
      `SVC_MAX_SESSIONS asks for more sessions than are reckoned to fit the memory (${sessionsFitting}: one for each 2 kB of heap).`,
    );
  }
  if (refusedPorts.has(config.operations.port)) {
    warnings.push(
      `SVC_OPS_PORT is ${config.operations.port}, a port that fetch refuses to connect to, so neither marketplace confirm nor the health check of the image reaches it: choose another.`,
    );
  }
  return { config, warnings };
}

/** The data folder alone, for commands that need nothing else and should not stumble over anything else. Throws `ConfigError`. */
export function dataDirOf(env: Env, machine: Pick<Machine, 'folder'> = { folder: process.cwd() }): string {
  requireSpelling(env, ['SVC_DATA_DIR']);
  return resolve(machine.folder, env.values.SVC_DATA_DIR ?? 'data');
}

/** The operations listener alone, likewise. */
export function operationsEndpointOf(env: Env): Endpoint {
  requireSpelling(env, ['SVC_OPS_HOST', 'SVC_OPS_PORT']);
  return {
    host: hostSetting(env, 'SVC_OPS_HOST') ?? '127.0.0.1',
    port: wholeNumberSetting(env, 'SVC_OPS_PORT', 0, bounds.portMax) ?? 9090,
  };
}

/** Certificate and key come together or not at all; whether they can be used is found out when they are read. */
function tlsOf(env: Env, { folder }: Machine): TlsChoice | null {
  const { SVC_TLS_CERT: certificate, SVC_TLS_KEY: key } = env.values;
  const minVersion = choiceSetting(env, 'SVC_TLS_MIN_VERSION', tlsVersions);
  if (certificate !== undefined && key !== undefined) {
    return {
      certificateFile: resolve(folder, certificate),
      keyFile: resolve(folder, key),
      minVersion: minVersion ?? tlsMinVersionDefault,
    };
  }
  if (certificate !== undefined)
    throw ConfigError.wrong('SVC_TLS_CERT', certificate, 'nothing unless SVC_TLS_KEY is set');
  if (key !== undefined) throw ConfigError.wrong('SVC_TLS_KEY', key, 'nothing unless SVC_TLS_CERT is set');
  if (minVersion !== null) {
    throw ConfigError.wrong('SVC_TLS_MIN_VERSION', minVersion, 'nothing unless SVC_TLS_CERT and SVC_TLS_KEY are set');
  }
  return null;
}

function requireSpelling({ misspelt }: Env, settings: readonly SettingName[]): void {
  const wrong = misspelt.find(({ meant }) => settings.includes(meant));
  if (wrong !== undefined) throw ConfigError.misspelt(wrong.name, wrong.meant);
}

/** The contract's lifetime is also the longest: what outlives a session (docs/contract.md#session-lifetime) is reckoned from it. */
const ttlSecondsMax = bounds.sessionTtlMs / 1000;

function collide(one: Endpoint, other: Endpoint): boolean {
  if (one.port !== other.port || one.port === 0) return false;
  return one.host === other.host || isWildcard(one.host) || isWildcard(other.host);
}

/** Whether listening there means listening on every address of the machine. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]+$/.test(host);
}
