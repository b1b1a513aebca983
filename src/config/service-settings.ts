import { join, resolve } from 'node:path';
import process from 'node:process';
import { applyLimitOverrides, defaultKeyLimits, type KeyLimits } from '../auth/rate-limits.ts';
import { bounds } from '../bounds.ts';
import { type CertificateFiles, type TlsVersion, tlsMinVersionDefault } from '../tls/certificate.ts';
import { parseBaseUrl } from './parse-setting.ts';

export const httpEngineChoices = ['auto', 'uws', 'node'] as const;
export type HttpEngineSetting = (typeof httpEngineChoices)[number];

/** Protection of acknowledged records: `fsync` protects against a power failure, `write` only against a crash of the process. */
export const durabilityModes = ['fsync', 'write'] as const;
export type DurabilityMode = (typeof durabilityModes)[number];

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

export interface ListenOptions {
  /** Host of the public listener, which serves the API, clicks, widgets and logos. Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Host of the operations listener, which serves health checks, metrics, keys and confirmations. Default: `127.0.0.1`. */
  readonly operationsHost?: string | undefined;
  readonly operationsPort?: number | undefined;
  /** Host names that the operations listener accepts in addition to `operationsHost`, `localhost` and IP addresses. */
  readonly operationsAllowedHosts?: readonly string[] | undefined;
  /** HTTP engine of both listeners. `auto` selects uws, or node with a warning if uws cannot be loaded. */
  readonly engine?: HttpEngineSetting | undefined;
  /** HTTPS settings of the public listener, with paths of PEM files. The private key must have no passphrase. Default: plain HTTP. */
  readonly tls?: TlsOptions | undefined;
}

export interface TlsOptions extends CertificateFiles {
  /** Lowest TLS version. Default: `1.2`. */
  readonly minVersion?: TlsVersion | undefined;
}

/** Settings of a service, of which most have defaults. The environment variables and the options of the embedded API set them. */
export interface ServiceSettings {
  /**
   * Folder of the ledger, analytics, keys and secrets. The folder is created if it is missing. The permissions of the folder are set to
   * 0700, so do not store other files in the folder. Only one running marketplace can use a folder at a time.
   */
  readonly dataDir: string;
  /** File of the signing and encryption secrets. By default, the file is `secrets.json` in the data folder. */
  readonly secretFile?: string | undefined;
  /** HTTP listeners. The default `false` starts no listener. The default port 0 selects a free port. */
  readonly listen?: false | ListenOptions | undefined;
  /**
   * Base URLs in replies. The default base URL is the address of the public listener. Without a listener, `click` is required: the URL at
   * which your program receives clicks and calls `followClick`. The other URLs are then derived from `click`.
   */
  readonly urls?: { readonly [Name in keyof PublicUrls]?: string | undefined } | undefined;
  /** Number of matching threads for catalogs of more than 100 offers. With the default 0, the calling thread matches offers. */
  readonly matcherThreads?: number | undefined;
  /**
   * Durability of acknowledged records: `fsync` (default) protects against a power failure, `write` only against a crash of the process.
   */
  readonly durability?: DurabilityMode | undefined;
  /** Number of days, at least 140, after which sessions and ledger records, but not daily analytics, are deleted. Default: never. */
  readonly retentionDays?: number | undefined;
  /** Maximum number of live sessions; further sessions are rejected with status 503. Default: 100,000. */
  readonly maxSessions?: number | undefined;
  /**
   * Maximum number of referrer tags per account, vertical and mode. Default: 100,000. Once an account has the maximum number, a session
   * with a new tag is rejected with status 403.
   */
  readonly maxReferrerTags?: number | undefined;
  /** Session lifetime in milliseconds. The default is four hours, which is also the maximum. */
  readonly sessionTtlMs?: number | undefined;
  /**
   * Number of days after the last day of revenue, 0 to 45, in which the service may receive a confirmation that counts in an experiment
   * (docs/contract.md#experiments). Only new experiments use a changed value. Default: 7.
   */
  readonly confirmationGraceDays?: number | undefined;
  /** Default rate limits, for keys that have no limits of their own. */
  readonly limits?: { readonly [Name in keyof KeyLimits]?: number | undefined } | undefined;
  /** Origins that may call the API from a browser. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /**
   * Whether the service has a clock that can be advanced, for rehearsals (docs/operations-api.md#test-clock). The data folder must be new, or
   * created with a test clock, and the hosts of the listeners must be loopback addresses. Default: false.
   */
  readonly testClock?: boolean | undefined;
}

/** All members of `Options`, each with a value. */
type Defined<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> };

/** Settings of the listeners. `tls` is null for plain HTTP; the operations listener has no TLS. */
export interface ListenSettings extends Defined<Omit<ListenOptions, 'tls'>> {
  readonly tls: Defined<TlsOptions> | null;
}

/** Durations of the phases of a graceful stop. */
export interface DrainSettings {
  /** Time after `stop` in which the service still accepts connections, so that load balancers can notice the stop. */
  readonly delayMs: number;
  /** Time for pending requests to complete after `delayMs` has passed. Connections that are still open after this time are closed. */
  readonly deadlineMs: number;
}

/** Settings of a service with all defaults and absolute paths. */
export interface ResolvedSettings
  extends Defined<Omit<ServiceSettings, 'listen' | 'urls' | 'retentionDays' | 'limits'>> {
  /** Settings of the listeners; null if no listener starts. */
  readonly listen: ListenSettings | null;
  /** Configured base URLs; null for a default (see `resolveUrls`). */
  readonly urls: { readonly [Name in keyof PublicUrls]: string | null };
  /** Number of days after which sessions and ledger records are deleted; null for never. */
  readonly retentionDays: number | null;
  readonly limits: KeyLimits;
  readonly drain: DrainSettings;
}

/** Applies the default values to valid settings. Relative paths refer to `workingFolder`. */
export function resolveSettings(settings: ServiceSettings, workingFolder: string = process.cwd()): ResolvedSettings {
  const dataDir = resolve(workingFolder, settings.dataDir);
  const { secretFile, listen } = settings;
  const { public: publicUrl, click, widget, cdn } = settings.urls ?? {};
  return {
    dataDir,
    secretFile: secretFile === undefined ? join(dataDir, 'secrets.json') : resolve(workingFolder, secretFile),
    listen: listen ? resolveListenOptions(listen, workingFolder) : null,
    urls: {
      public: normalizeBaseUrl(publicUrl),
      click: normalizeBaseUrl(click),
      widget: normalizeBaseUrl(widget),
      cdn: normalizeBaseUrl(cdn),
    },
    matcherThreads: settings.matcherThreads ?? 0,
    durability: settings.durability ?? 'fsync',
    retentionDays: settings.retentionDays ?? null,
    maxSessions: settings.maxSessions ?? bounds.embeddedSessionLimitDefault,
    maxReferrerTags: settings.maxReferrerTags ?? bounds.referrerTagLimitDefault,
    sessionTtlMs: settings.sessionTtlMs ?? bounds.sessionTtlMs,
    confirmationGraceDays: settings.confirmationGraceDays ?? bounds.confirmationGraceDaysDefault,
    limits: applyLimitOverrides(settings.limits ?? {}, defaultKeyLimits),
    corsOrigins: settings.corsOrigins ?? [],
    testClock: settings.testClock ?? false,
    drain: { delayMs: 0, deadlineMs: bounds.drainDeadlineDefaultMs },
  };
}

export function resolveListenOptions({ tls, ...options }: ListenOptions, workingFolder: string): ListenSettings {
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    operationsHost: options.operationsHost ?? '127.0.0.1',
    operationsPort: options.operationsPort ?? 0,
    operationsAllowedHosts: options.operationsAllowedHosts ?? [],
    engine: options.engine ?? 'auto',
    tls: tls
      ? {
          certificateFile: resolve(workingFolder, tls.certificateFile),
          keyFile: resolve(workingFolder, tls.keyFile),
          minVersion: tls.minVersion ?? tlsMinVersionDefault,
        }
      : null,
  };
}

/** Returns a base URL without its trailing slash, or null for an absent URL. */
function normalizeBaseUrl(url: string | undefined): string | null {
  return url === undefined ? null : parseBaseUrl(url);
}
