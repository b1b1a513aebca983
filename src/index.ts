import { join, resolve } from 'node:path';
import { isDate } from 'node:util/types';
import { type Logger, pino } from 'pino';
import type { AllowedOrigin, AllowResult, RemoveResult } from './auth/embed-origin-registry.ts';
import type { IssuedKey, RevokeResult } from './auth/key-registry.ts';
import {
  assertLimits,
  defaultKeyLimits,
  effectiveLimits,
  type KeyLimitOverrides,
  type KeyLimits,
} from './auth/rate-limits.ts';
import { bounds } from './bounds.ts';
import { assertCatalogSources } from './catalogs/assert-catalog-sources.ts';
import type { CatalogChange, CatalogSource } from './catalogs/catalog-store.ts';
import {
  type Durability,
  durabilityChoices,
  type EngineChoice,
  engineChoices,
  type PublicUrls,
} from './config/config.ts';
import { baseUrlRule, hostNamesRule, isHostName, isHttpOrigin, parseBaseUrl } from './config/parse-setting.ts';
import { resolveUrls } from './config/resolve-urls.ts';
import type { ConfirmationStatus } from './confirmations/confirmation.ts';
import { assertInteger, assertKnownNames, assertObject } from './domain/assert-options.ts';
import { type Clock, systemClock } from './domain/clock.ts';
import type { Mode } from './domain/mode.ts';
import { PartnerApi, type Result, toResult } from './embedded/partner-api.ts';
import { parseClickUrl } from './http/routes/click-routes.ts';
import { isPrefetchPurpose } from './http/routes/request-parsing.ts';
import type { ConfirmationsView } from './operations/confirm-revenue.ts';
import type { ClickResult } from './operations/follow-click.ts';
import { startService } from './server/start-service.ts';
import type { CertificateReload } from './tls/certificate.ts';
import { type TlsVersion, tlsVersions } from './tls/certificate.ts';
import { exampleCatalogs } from './verticals/example-catalogs.ts';

export { InvalidCatalogError as CatalogUnusable } from './catalogs/catalog-store.ts';
export type { ConfirmationStatus, RejectionReason } from './confirmations/confirmation.ts';
export type {
  AnalyticsPageQuery,
  AnalyticsQuery,
  ApiError,
  MarketplaceQuery,
  PartnerApi as Partner,
  Result,
  WidgetQuery,
} from './embedded/partner-api.ts';
export { FolderInUseError as FolderInUse } from './files/folder-lock.ts';
export type { Explanation, MismatchCount, MismatchReason } from './matching/explain-offers.ts';
export type { DailyView, DayView, RowsView, RowView, SummaryView } from './operations/analytics-views.ts';
export type { ConfirmationOutcome, ConfirmationResult, ConfirmationsView } from './operations/confirm-revenue.ts';
export type { SessionView } from './operations/create-session.ts';
export type { WidgetEmbedView } from './operations/embed-widget.ts';
export type { MarketplaceView, OfferView } from './operations/show-offers.ts';
export type { InputsView } from './operations/submit-inputs.ts';
export { FolderMissingError as FolderMissing } from './server/missing-folder.ts';
export { InvalidCertificateError as CertificateFaulty } from './tls/certificate.ts';
export { personalLoans } from './verticals/personal-loans/personal-loans.ts';
export type { ConditionalField, PocketField, PricingRoles, Vertical } from './verticals/vertical.ts';
export type {
  AllowedOrigin,
  AllowResult as Allowing,
  CatalogChange,
  CatalogSource,
  CertificateReload as CertificateChange,
  ClickResult as ClickOutcome,
  Clock,
  IssuedKey,
  KeyLimits,
  Mode,
  PublicUrls,
  RemoveResult as Removal,
  RevokeResult as Revocation,
};

export interface MarketplaceOptions {
  /**
   * Folder of ledger, analytics, keys and secret; created when missing, and made mode 0700 otherwise, so let it be used for
   * nothing else. One running marketplace at a time may have it.
   */
  readonly dataDir: string;
  /** Where the signing and sealing secrets are; default: in the data folder. */
  readonly secretFile?: string;
  /** Serve HTTP too; default `false`. Ports of 0, the default here, pick free ones. */
  readonly listen?:
    | false
    | {
        readonly host?: string;
        readonly port?: number;
        readonly operationsHost?: string;
        readonly operationsPort?: number;
        /** Host names under which the operations listener answers, beside `operationsHost`, `localhost` and IP addresses. */
        readonly operationsAllowedHosts?: readonly string[];
        readonly engine?: EngineChoice;
        /** The public listener speaks https; paths of PEM files, the key without a passphrase. Default: http. */
        readonly tls?: {
          readonly certificateFile: string;
          readonly keyFile: string;
          /** The oldest protocol spoken; default `1.2`. */
          readonly minVersion?: TlsVersion;
        };
      };
  /**
   * What answers name as our addresses. Default: from the listener. Without a listener, set at least `click` to where your
   * program hands click URLs to `applyClick`.
   */
  readonly urls?: Partial<PublicUrls>;
  /** One live and one test catalog for each vertical served; default: personal loans with the example's fictional lenders. */
  readonly catalogs?: readonly CatalogSource[];
  /** Matching threads, for catalogs of more than 100 offers; default 0: all are matched in the calling thread. */
  readonly matcherThreads?: number;
  /** `fsync` (default) survives a power cut, `write` the end of the process only. */
  readonly durability?: Durability;
  /** Days back from today that single sessions and the ledger are kept, 140 or more; default: for ever. Daily figures stay. */
  readonly retentionDays?: number;
  /** Live sessions held, default 100,000; a new one beyond it is refused with 503. */
  readonly maxSessions?: number;
  /** Different referrer tags of an account in one vertical and mode, default 100,000; a new one beyond it is refused with 403. */
  readonly maxReferrerTags?: number;
  /** Default, and at most, four hours. */
  readonly sessionTtlMs?: number;
  /** For keys that carry no limits of their own. */
  readonly limits?: Partial<KeyLimits>;
  /** Origins that may call the API from a browser; default none. */
  readonly corsOrigins?: readonly string[];
  /** Default: silent. */
  readonly logger?: Logger;
  /** For tests that move time. */
  readonly clock?: Clock;
}

export interface NewPartnerKey {
  /** Created when there is none of this name. */
  readonly account: string;
  /** Path segment of a vertical served, e.g. `personal-loans`. */
  readonly vertical: string;
  readonly mode: Mode;
  /** From when it is refused: a moment to come. Default: never. */
  readonly expiresAt?: Date;
  readonly limits?: Partial<KeyLimits>;
}

/** What an embedding program knows of the request in which it was asked for a click URL. */
export interface ClickVisit {
  /** Default `GET`. Nothing else is a click: it is redirected, and books nothing. */
  readonly method?: string | undefined;
  readonly userAgent?: string | undefined;
  /**
   * The headers `Sec-Purpose`, `Purpose` and `X-Moz`, by which browsers tell that nobody has clicked yet: joined by a comma if
   * there are several.
   */
  readonly purpose?: string | undefined;
}

/** What became of a visit; `ask_again` is for a browser that fetched ahead, so that it comes back with the click. */
export type FollowClickOutcome = ClickResult | { readonly kind: 'ask_again'; readonly retryAfterSeconds: number };

/** One confirmation of a click, named by `click_id`, by `sub_id` and `svc_offer_id`, or by both (docs/contract.md#confirmation-rows). */
export interface ConfirmationRow {
  readonly click_id?: string;
  readonly sub_id?: string;
  readonly svc_offer_id?: string;
  /** The lender's name for the payout, up to 128 visible ASCII characters; a reversal names the payout it takes back. */
  readonly txid: string;
  readonly status: ConfirmationStatus;
  /** USD, above zero, with up to six decimals. */
  readonly amount: number;
  /** ISO 8601 timestamp with its offset from UTC. */
  readonly occurred_at: string;
}

/** A marketplace running inside this process. Close it; where the runtime knows `await using`, that will do it. */
export interface Marketplace extends AsyncDisposable {
  /**
   * The operations of the API for one key, which must be of the vertical named; default: the first one served. Throws a RangeError for
   * a vertical that is not served. The key itself is judged by each operation.
   */
  partner(apiKey: string, vertical?: string): PartnerApi;
  readonly keys: {
    /** Issues a key. Its text is returned here and never again. Throws a RangeError that names what no key may have. */
    create(wanted: NewPartnerKey): { readonly key: string; readonly id: string };
    list(): readonly IssuedKey[];
    revoke(id: string): RevokeResult;
  };
  /**
   * Where the widgets of an account may be embedded. Accounts go by name and exist once a key was made for them. All of these
   * throw a RangeError for an account unknown, and the first two for what is no origin, which says what to write instead.
   */
  readonly origins: {
    /** An origin as a browser sends it, such as `https://www.example.com`. An account may have 64. */
    allow(account: string, origin: string): AllowResult;
    remove(account: string, origin: string): RemoveResult;
    /** The lists of all accounts, or of one. */
    list(account?: string): readonly AllowedOrigin[];
  };
  /**
   * Follows a `click_url` for a program that answers clicks itself: a redirect is answered with status 302 to `location`, an
   * unknown address with 404, and `ask_again` with 503; none of them may be cached.
   */
  followClick(url: string | URL, visit?: ClickVisit): Promise<FollowClickOutcome>;
  readonly confirmations: {
    /**
     * Takes what lenders say of clicks, up to 500 rows at a time, each judged for itself and durable before it counts as
     * accepted. A row sent again changes nothing. An error means that no row was judged; a 503 is worth a retry.
     */
    submit(rows: readonly ConfirmationRow[]): Promise<Result<ConfirmationsView>>;
  };
  /**
   * Reads the catalogs that came from files again; a faulty one keeps what is in use and says why. What came of each, in the order in
   * which they were given.
   */
  reloadCatalogs(): Promise<readonly CatalogChange[]>;
  /**
   * Reads certificate and key again, for connections to come; a faulty pair keeps what is in use and says why. Null when it
   * listens without TLS.
   */
  reloadCertificate(): CertificateReload | null;
  /** What keeps it from taking requests, in words; empty when it is ready. */
  notReadyReasons(): readonly string[];
  readonly urls: PublicUrls;
  /** The ports bound; null without listeners. */
  readonly ports: { readonly public: number; readonly operations: number } | null;
  /**
   * Answers what is in flight, makes the log durable, and leaves no handle behind. Idempotent. From the call on, operations are
   * refused with 503, `keys` and `origins` throw, and a click is followed without being recorded.
   */
  close(): Promise<void>;
}

/**
 * Starts a marketplace in this process. Several may run side by side, each on its own data folder. Rejects with a RangeError that
 * names an option which is unknown or holds what it may not, a `FolderInUseError`, a `FolderMissingError`, a `InvalidCatalogError` with all `errors` of a catalog, a
 * `InvalidCertificateError`, or the error of a file or a port (its `code` tells, such as `EADDRINUSE`), and leaves nothing running then.
 */
export async function createMarketplace(options: MarketplaceOptions): Promise<Marketplace> {
  assertMarketplaceOptions(options);
  const dataDir = resolve(options.dataDir);
  const clock = options.clock ?? systemClock;
  const catalogs = options.catalogs ?? exampleCatalogs();
  const listen = options.listen ? options.listen : null;
  const threads = options.matcherThreads ?? 0;
  const host = listen?.host ?? '127.0.0.1';
  const tls = listen?.tls
    ? {
        certificateFile: resolve(listen.tls.certificateFile),
        keyFile: resolve(listen.tls.keyFile),
        minVersion: listen.tls.minVersion ?? '1.2',
      }
    : null;

  const service = await startService({
    dataDir,
    secretFile: options.secretFile === undefined ? join(dataDir, 'secrets.json') : resolve(options.secretFile),
    catalogs,
    durability: options.durability ?? 'fsync',
    retentionDays: options.retentionDays ?? null,
    matcher: threads === 0 ? { kind: 'in_thread' } : { kind: 'workers', threads },
    sessions: {
      max: options.maxSessions ?? bounds.embeddedSessionLimitDefault,
      ttlMs: options.sessionTtlMs ?? bounds.sessionTtlMs,
      tagsMax: options.maxReferrerTags ?? bounds.referrerTagLimitDefault,
    },
    limits: effectiveLimits(toOwnLimits(options.limits), defaultKeyLimits),
    corsOrigins: options.corsOrigins ?? [],
    listen: listen && {
      public: { host, port: listen.port ?? 0 },
      operations: { host: listen.operationsHost ?? '127.0.0.1', port: listen.operationsPort ?? 0 },
      operationsAllowedHosts: listen.operationsAllowedHosts ?? [],
      engine: listen.engine ?? 'auto',
      tls,
    },
    drain: { delayMs: 0, deadlineMs: bounds.drainDeadlineDefaultMs },
    resolveUrls: (boundPort) => {
      const { public: base, click, widget, cdn } = options.urls ?? {};
      const urls = {
        public: normalizeBaseUrl(base),
        click: normalizeBaseUrl(click),
        widget: normalizeBaseUrl(widget),
        cdn: normalizeBaseUrl(cdn),
      };
      return resolveUrls({ publicEndpoint: { host, port: boundPort }, tls, urls }, boundPort).urls;
    },
    clock,
    // With a destination of its own, since the library's default one listens for the end of the process.
    logger: options.logger ?? pino({ level: 'silent' }, { write: () => {} }),
  });

  const verticals = new Map(catalogs.map(({ vertical }) => [vertical.segment, vertical]));
  const verticalNamed = (segment: string) => {
    const vertical = verticals.get(segment);
    if (vertical === undefined) throw new RangeError(`this marketplace serves ${[...verticals.keys()].join(', ')}`);
    return vertical;
  };

  /** Keys and origins are in a file that is open no longer once this is closed. */
  const open = () => {
    if (service.isStopping()) throw new Error('this marketplace is closed');
    return service;
  };

  return {
    partner: (apiKey, vertical) =>
      new PartnerApi(service, verticalNamed(vertical ?? catalogs[0]!.vertical.segment), apiKey),
    keys: {
      create: (wanted) => {
        assertObject('the key wanted', wanted);
        assertKnownNames('', wanted, newKeyOptionNames);
        assertLimits(wanted.limits ?? {});
        const { key, issued } = open().keys.create(
          {
            accountName: wanted.account,
            vertical: verticalNamed(wanted.vertical),
            mode: wanted.mode,
            expiresAtMs: expiryMsOf(wanted.expiresAt),
            limits: toOwnLimits(wanted.limits),
          },
          clock.wallMs(),
        );
        return { key, id: issued.id };
      },
      list: () => open().keys.list(),
      revoke: (id) => open().keys.revoke(id, clock.wallMs()),
    },
    origins: {
      allow: (account, origin) => open().embedOrigins.allow(account, [origin])[0]!,
      remove: (account, origin) => open().embedOrigins.remove(account, [origin])[0]!,
      list: (account) => open().embedOrigins.list(account),
    },
    followClick: async (url, { method = 'GET', userAgent = '', purpose = '' } = {}) => {
      if (isPrefetchPurpose(purpose)) return { kind: 'ask_again', retryAfterSeconds: bounds.retryAfterSeconds };
      return service.followClick(parseClickUrl(url, userAgent, method));
    },
    confirmations: { submit: async (rows) => toResult(await service.confirmRevenue(rows)) },
    reloadCatalogs: () => service.reloadCatalogs(),
    reloadCertificate: () => service.reloadCertificate(),
    notReadyReasons: () => service.notReadyReasons(),
    urls: service.urls,
    ports: service.ports,
    close: () => service.close(),
    [Symbol.asyncDispose]: () => service.close(),
  };
}

/** A name for each member of a type, so that none is forgotten. */
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

const tlsOptionNames = Object.keys({
  certificateFile: true,
  keyFile: true,
  minVersion: true,
} satisfies MemberNames<NonNullable<ListenOptions['tls']>>);

const urlNames = Object.keys({ public: true, click: true, widget: true, cdn: true } satisfies MemberNames<PublicUrls>);

const newKeyOptionNames = Object.keys({
  account: true,
  vertical: true,
  mode: true,
  expiresAt: true,
  limits: true,
} satisfies MemberNames<NewPartnerKey>);

/**
 * The names of all options, whose default a misspelt one would take in silence, and those that are a path, bound something or name one
 * of several ways; what is in files, catalogs and addresses is judged where they are used.
 */
function assertMarketplaceOptions(given: MarketplaceOptions): void {
  assertObject('the argument of createMarketplace', given);
  assertKnownNames('', given, marketplaceOptionNames);
  const { listen, ...options } = given;
  assertPath('dataDir', options.dataDir);
  if (options.secretFile !== undefined) assertPath('secretFile', options.secretFile);
  if (options.urls) {
    assertObject('urls', options.urls);
    assertKnownNames('urls', options.urls, urlNames);
    for (const [name, url] of Object.entries(options.urls)) {
      if (url !== undefined && normalizeBaseUrl(url) === null)
        throw new RangeError(`urls.${name} must be ${baseUrlRule}`);
    }
  }
  assertInteger('matcherThreads', options.matcherThreads ?? 0, 0, bounds.matcherThreadsMax);
  assertInteger('maxSessions', options.maxSessions ?? 1, 1, bounds.sessionLimitMax);
  assertInteger('maxReferrerTags', options.maxReferrerTags ?? 1, 1, bounds.referrerTagLimitMax);
  assertInteger('sessionTtlMs', options.sessionTtlMs ?? 1, 1, bounds.sessionTtlMs);
  const { retentionDaysMin, retentionDaysMax } = bounds;
  assertInteger('retentionDays', options.retentionDays ?? retentionDaysMin, retentionDaysMin, retentionDaysMax);
  if (options.limits) assertObject('limits', options.limits);
  assertLimits(options.limits ?? {});
  assertChoice('durability', options.durability, durabilityChoices);
  if (options.catalogs !== undefined) assertCatalogSources(options.catalogs);
  const { corsOrigins = [] } = options;
  if (!Array.isArray(corsOrigins) || corsOrigins.length > bounds.corsOriginsMax || !corsOrigins.every(isHttpOrigin)) {
    throw new RangeError(
      `corsOrigins must be up to ${bounds.corsOriginsMax} origins, each exactly as a browser sends it`,
    );
  }
  if (!listen) return;
  assertObject('listen', listen);
  assertKnownNames('listen', listen, listenOptionNames);
  assertInteger('listen.port', listen.port ?? 0, 0, bounds.portMax);
  assertInteger('listen.operationsPort', listen.operationsPort ?? 0, 0, bounds.portMax);
  const { operationsAllowedHosts: hosts = [] } = listen;
  const { opsAllowedHostsMax } = bounds;
  if (!Array.isArray(hosts) || hosts.length > opsAllowedHostsMax || !hosts.every(isHostName)) {
    throw new RangeError(`listen.operationsAllowedHosts must be up to ${opsAllowedHostsMax} ${hostNamesRule}`);
  }
  assertChoice('listen.engine', listen.engine, engineChoices);
  if (!listen.tls) return;
  assertObject('listen.tls', listen.tls);
  assertKnownNames('listen.tls', listen.tls, tlsOptionNames);
  assertPath('listen.tls.certificateFile', listen.tls.certificateFile);
  assertPath('listen.tls.keyFile', listen.tls.keyFile);
  assertChoice('listen.tls.minVersion', listen.tls.minVersion, tlsVersions);
}

/** An address without its trailing slash; null for what is not given, or is no address. */
function normalizeBaseUrl(url: string | undefined): string | null {
  return typeof url === 'string' ? parseBaseUrl(url) : null;
}

function assertPath(name: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') throw new RangeError(`${name} must be the path of a file or folder`);
}

function assertChoice(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value !== undefined && !choices.includes(value))
    throw new RangeError(`${name} must be one of ${choices.join(', ')}`);
}

/** What is no date comes to NaN, which no key may have. */
function expiryMsOf(expiresAt: Date | undefined): number | null {
  if (expiresAt === undefined) return null;
  return isDate(expiresAt) ? expiresAt.getTime() : Number.NaN;
}

function toOwnLimits({
  requestsPerMinute = null,
  analyticsPerMinute = null,
  sessionsPerDay = null,
}: Partial<KeyLimitOverrides> = {}): KeyLimitOverrides {
  return { requestsPerMinute, analyticsPerMinute, sessionsPerDay };
}
