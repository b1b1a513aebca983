import type { BaseLogger } from 'pino';
import { assertRateLimits, type KeyLimits } from '../auth/rate-limits.ts';
import { bounds } from '../bounds.ts';
import { assertCatalogSources } from '../catalogs/assert-catalog-sources.ts';
import type { CatalogSource } from '../catalogs/parse-catalog.ts';
import type { VerticalRegistry } from '../catalogs/vertical-registry.ts';
import {
  type DurabilityMode,
  durabilityModes,
  type HttpEngineSetting,
  httpEngineChoices,
  type PublicUrls,
} from '../config/config.ts';
import { baseUrlRule, hostNamesFormat, isHostName, isHttpOrigin, parseBaseUrl } from '../config/parse-setting.ts';
import type { ClickReversal, ConfirmationStatus } from '../confirmations/confirmation.ts';
import { assertIntegerOption, assertKnownOptionNames, assertObject } from '../domain/assert-options.ts';
import type { Clock } from '../domain/clock.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { ClickResult } from '../operations/follow-click.ts';
import { type TlsVersion, tlsVersions } from '../tls/certificate.ts';

/** A pino logger, for example the `log` of a Fastify server. */
export interface MarketplaceLogger extends Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  child(bindings: object, options?: object): unknown;
}

export interface MarketplaceOptions {
  /**
   * Folder of the ledger, analytics, keys and secrets. The folder is created if it is missing. The permissions of the folder are set to
   * 0700, so do not store other files in the folder. Only one running marketplace can use a folder at a time.
   */
  readonly dataDir: string;
  /** File of the signing and encryption secrets. By default, the file is `secrets.json` in the data folder. */
  readonly secretFile?: string;
  /** HTTP listeners. The default `false` starts no listener. The default port 0 selects a free port. */
  readonly listen?:
    | false
    | {
        readonly host?: string;
        readonly port?: number;
        readonly operationsHost?: string;
        readonly operationsPort?: number;
        /** Host names that the operations listener accepts in addition to `operationsHost`, `localhost` and IP addresses. */
        readonly operationsAllowedHosts?: readonly string[];
        readonly engine?: HttpEngineSetting;
        /** HTTPS settings of the public listener, with paths of PEM files. The private key must have no passphrase. Default: plain HTTP. */
        readonly tls?: {
          readonly certificateFile: string;
          readonly keyFile: string;
          /** Lowest TLS version. Default: `1.2`. */
          readonly minVersion?: TlsVersion;
        };
      };
  /**
   * Base URLs in replies. The default base URL is the address of the public listener. Without a listener, `click` is required: the URL at
   * which your program receives clicks and calls `followClick`. The other URLs are then derived from `click`.
   */
  readonly urls?: Partial<PublicUrls>;
  /** Catalog sources: one live and one test catalog for each vertical. By default, the catalogs offer loans of fictional lenders. */
  readonly catalogs?: readonly CatalogSource[];
  /** Number of matching threads for catalogs of more than 100 offers. With the default 0, the calling thread matches offers. */
  readonly matcherThreads?: number;
  /**
   * Durability of acknowledged records: `fsync` (default) protects against a power failure, `write` only against a crash of the process.
   */
  readonly durability?: DurabilityMode;
  /** Number of days, at least 140, after which sessions and ledger records, but not daily analytics, are deleted. Default: never. */
  readonly retentionDays?: number;
  /** Maximum number of live sessions; further sessions are rejected with status 503. Default: 100,000. */
  readonly maxSessions?: number;
  /**
   * Maximum number of referrer tags per account, vertical and mode. Default: 100,000. Once an account has the maximum number, a session
   * with a new tag is rejected with status 403.
   */
  readonly maxReferrerTags?: number;
  /** Session lifetime in milliseconds. The default is four hours, which is also the maximum. */
  readonly sessionTtlMs?: number;
  /** Default rate limits, for keys that have no limits of their own. */
  readonly limits?: Partial<KeyLimits>;
  /** Origins that may call the API from a browser. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** Logger of the service. Default: no log. */
  readonly logger?: MarketplaceLogger;
  /** Replaces the system clock in tests. */
  readonly clock?: Clock;
}

export interface NewPartnerKey {
  /** Name of the account. The account is created if the name is unknown. */
  readonly account: string;
  /** Path segment of a configured vertical, such as `personal-loans`. */
  readonly vertical: string;
  readonly mode: ApiKeyMode;
  /** Expiry of the key, which must be in the future. Default: never. */
  readonly expiresAt?: Date;
  readonly limits?: Partial<KeyLimits>;
}

/** Properties of the HTTP request that opened a click URL. */
export interface ClickContext {
  /** HTTP method. Default: `GET`. A request with a method other than GET is redirected but not recorded as a click. */
  readonly method?: string | undefined;
  readonly userAgent?: string | undefined;
  /**
   * Values of the headers `Sec-Purpose`, `Purpose`, `X-Purpose` and `X-Moz`, joined by commas. Browsers mark speculative requests, such as
   * prefetches, with these headers.
   */
  readonly purpose?: string | undefined;
  /** Value of the header `Sec-Fetch-Dest`. A request for a part of a page, such as an image, is redirected but not recorded as a click. */
  readonly fetchDestination?: string | undefined;
  /** Value of the header `Sec-Fetch-Mode`. A request of a script is redirected but not recorded as a click. */
  readonly fetchMode?: string | undefined;
}

/** Result of `followClick`. For a speculative request, `kind` is `retry_later`: the browser sends another request when the visitor clicks. */
export type FollowClickOutcome = ClickResult | { readonly kind: 'retry_later'; readonly retryAfterSeconds: number };

/**
 * A confirmation of a click. The click is identified by `click_id`, by `sub_id` and `svc_offer_id`, or by all three
 * members (docs/contract.md#confirmation-rows).
 */
export interface ConfirmationRow {
  readonly click_id?: string;
  readonly sub_id?: string;
  readonly svc_offer_id?: string;
  /**
   * ID that the lender assigned to the payout, up to 128 visible ASCII characters. A reversal contains the ID of the reversed payout, or an ID
   * of its own if the click confirmed its own revenue.
   */
  readonly txid: string;
  readonly status: ConfirmationStatus;
  /** Amount of the payout: a positive number in USD with up to six decimals. */
  readonly amount: number;
  /** Currency of the amount. Any other value is rejected. */
  readonly currency?: 'USD';
  /** Time of the payout, as an ISO 8601 timestamp with a UTC offset. */
  readonly occurred_at: string;
  /** Reason for taking back the revenue of a click that confirmed its own revenue; required for such a click, ignored for other clicks. */
  readonly reason?: ClickReversal['reason'];
}

/** Type of an object with all member names of `Options`. The compiler reports an object that lacks a name. */
type MemberNames<Options> = Readonly<Record<keyof Options, true>>;
type ListenOptions = Exclude<MarketplaceOptions['listen'], false | undefined>;

const marketplaceOptionNames = Object.keys({
  dataDir: true,
  secretFile: true,
  listen: true,
  urls: true,
  catalogs: true,
  matcherThreads: true,
  durability: true,
  retentionDays: true,
  maxSessions: true,
  maxReferrerTags: true,
  sessionTtlMs: true,
  limits: true,
  corsOrigins: true,
  logger: true,
  clock: true,
} satisfies MemberNames<MarketplaceOptions>);

const listenOptionNames = Object.keys({
  host: true,
  port: true,
  operationsHost: true,
  operationsPort: true,
  operationsAllowedHosts: true,
  engine: true,
  tls: true,
} satisfies MemberNames<ListenOptions>);

const loggerMethods = ['child', 'debug', 'info', 'warn', 'error', 'fatal'];
const clockMethods = ['wallMs', 'monotonicMs'];

/**
 * Validates the options. Throws a RangeError for an unknown option name and for an invalid path, number, URL or choice. Does not validate
 * catalogs or file contents.
 */
export function assertMarketplaceOptions(argument: MarketplaceOptions, registry: VerticalRegistry): void {
  assertObject('the argument of createMarketplace', argument);
  assertKnownOptionNames('', argument, marketplaceOptionNames);
  const { listen, ...options } = argument;
  assertPathOption('dataDir', options.dataDir);
  if (options.secretFile !== undefined) assertPathOption('secretFile', options.secretFile);
  if (options.urls) {
    assertObject('urls', options.urls);
    assertKnownOptionNames('urls', options.urls, ['public', 'click', 'widget', 'cdn']);
    for (const [name, url] of Object.entries(options.urls)) {
      if (url !== undefined && normalizeBaseUrl(url) === null)
        throw new RangeError(`urls.${name} must be ${baseUrlRule}`);
    }
  }
  if (options.logger !== undefined) assertMethods('logger', options.logger, loggerMethods, 'a pino logger');
  if (options.clock !== undefined) assertMethods('clock', options.clock, clockMethods, 'a Clock');
  assertIntegerOption('matcherThreads', options.matcherThreads ?? 0, 0, bounds.matcherThreadsMax);
  assertIntegerOption('maxSessions', options.maxSessions ?? 1, 1, bounds.sessionLimitMax);
  assertIntegerOption('maxReferrerTags', options.maxReferrerTags ?? 1, 1, bounds.referrerTagLimitMax);
  assertIntegerOption('sessionTtlMs', options.sessionTtlMs ?? 1, 1, bounds.sessionTtlMs);
  const { retentionDaysMin, retentionDaysMax } = bounds;
  assertIntegerOption('retentionDays', options.retentionDays ?? retentionDaysMin, retentionDaysMin, retentionDaysMax);
  if (options.limits) assertObject('limits', options.limits);
  assertRateLimits(options.limits ?? {});
  assertOneOf('durability', options.durability, durabilityModes);
  if (options.catalogs !== undefined) assertCatalogSources(options.catalogs, registry);
  const { corsOrigins = [] } = options;
  if (!Array.isArray(corsOrigins) || corsOrigins.length > bounds.corsOriginsMax || !corsOrigins.every(isHttpOrigin)) {
    throw new RangeError(
      `corsOrigins must be up to ${bounds.corsOriginsMax} origins, each exactly as a browser sends it`,
    );
  }
  if (!listen) {
    if (options.urls?.click) return;
    throw new RangeError('urls.click must be the URL at which your program receives clicks, unless listen is set');
  }
  assertObject('listen', listen);
  assertKnownOptionNames('listen', listen, listenOptionNames);
  assertIntegerOption('listen.port', listen.port ?? 0, 0, bounds.portMax);
  assertIntegerOption('listen.operationsPort', listen.operationsPort ?? 0, 0, bounds.portMax);
  const { operationsAllowedHosts: hosts = [] } = listen;
  const { opsAllowedHostsMax } = bounds;
  if (!Array.isArray(hosts) || hosts.length > opsAllowedHostsMax || !hosts.every(isHostName)) {
    throw new RangeError(`listen.operationsAllowedHosts must be up to ${opsAllowedHostsMax} ${hostNamesFormat}`);
  }
  assertOneOf('listen.engine', listen.engine, httpEngineChoices);
  if (!listen.tls) return;
  assertObject('listen.tls', listen.tls);
  assertKnownOptionNames('listen.tls', listen.tls, ['certificateFile', 'keyFile', 'minVersion']);
  assertPathOption('listen.tls.certificateFile', listen.tls.certificateFile);
  assertPathOption('listen.tls.keyFile', listen.tls.keyFile);
  assertOneOf('listen.tls.minVersion', listen.tls.minVersion, tlsVersions);
}

/** Returns a base URL without its trailing slash, or null for an absent or invalid URL. */
export function normalizeBaseUrl(url: string | undefined): string | null {
  return typeof url === 'string' ? parseBaseUrl(url) : null;
}

function assertPathOption(name: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') throw new RangeError(`${name} must be the path of a file or folder`);
}

function assertMethods(name: string, value: unknown, methods: readonly string[], type: string): void {
  const members = Object(value) as Readonly<Record<string, unknown>>;
  if (methods.every((method) => typeof members[method] === 'function')) return;
  throw new RangeError(`${name} must be ${type} with the methods ${methods.join(', ')}`);
}

function assertOneOf(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value !== undefined && !choices.includes(value))
    throw new RangeError(`${name} must be one of ${choices.join(', ')}`);
}
