import type { AuditActor } from './audit/audit-log.ts';
import type { CatalogSource } from './catalogs/parse-catalog.ts';
import './embedded/assert-node-version.ts';
import { isDate } from 'node:util/types';
import { type Logger, pino } from 'pino';
import type { ApiKeyScope, IssuedKey, RevokeKeyResult } from './auth/api-key.ts';
import { assertRateLimits, type KeyLimitOverrides, type KeyLimits } from './auth/rate-limits.ts';
import type { AllowedOrigin, AllowOriginResult, RemoveOriginResult } from './auth/web-origin.ts';
import { bounds } from './bounds.ts';
import type { CatalogFileReload as CatalogReloadResult } from './catalogs/catalog-store.ts';
import { type PublicUrls, resolveSettings } from './config/service-settings.ts';
import { assertKnownOptionNames, assertObject } from './domain/assert-options.ts';
import { type Clock, systemClock } from './domain/clock.ts';
import type { ApiKeyMode } from './domain/mode.ts';
import {
  assertMarketplaceOptions,
  type ConfirmationRow,
  type FollowClickOutcome,
  type MarketplaceLogger,
  type MarketplaceOptions,
  type NewPartnerKey,
} from './embedded/marketplace-options.ts';
import { PartnerApi, type PartnerApiResult, toPartnerApiResult } from './embedded/partner-api.ts';
import { landingPageHeaders } from './http/routes/click-routes.ts';
import { logoHeaders } from './http/routes/static-routes.ts';
import { errorSerializers } from './logging/describe-error.ts';
import type { TestClockTime } from './operations/advance-clock.ts';
import { type ClickContext, clickPath, parseClickUrl } from './operations/click-url.ts';
import type { ConfirmationsResponse } from './operations/confirm-revenue.ts';
import type { ClickResult } from './operations/follow-click.ts';
import { isSpeculativePurpose } from './operations/speculative-request.ts';
import { startService } from './server/start-service.ts';
import type { CertificateReload } from './tls/certificate.ts';
import { builtInVerticals } from './verticals/built-in-verticals.ts';

export { InvalidCatalogError } from './catalogs/catalog-store.ts';
export type { OfferView } from './catalogs/offer-view.ts';
export type { ConfirmationStatus } from './confirmations/confirmation.ts';
export type { ConfirmationPayout } from './confirmations/payout-state.ts';
export type { RejectionReason } from './confirmations/rejection-reasons.ts';
export type { ConditionalField, FieldRoles, PocketField, Vertical } from './domain/vertical.ts';
export type {
  AnalyticsPageQuery,
  AnalyticsQuery,
  ExperimentInput,
  ExperimentName,
  ExperimentResultsQuery,
  ExperimentsQuery,
  ExperimentUnitsQuery,
  MarketplaceQuery,
  PartnerApi,
  PartnerApiError as ApiError,
  PartnerApiResult,
  TagsQuery,
  WidgetQuery,
} from './embedded/partner-api.ts';
export { assignArm } from './experiments/assign-arm.ts';
export { DataMissingError, FolderMissingError } from './files/data-paths.ts';
export { FolderInUseError } from './files/folder-lock.ts';
export type { ReversalReason, UnbookedReason } from './ledger/ledger-record.ts';
export type { MatchExplanation, MismatchCount } from './matching/explain-offers.ts';
export type { MismatchReason } from './matching/product-ranking.ts';
export type { TestClockTime } from './operations/advance-clock.ts';
export type {
  AnalyticsSummary,
  DailyAnalytics,
  DailyFigures,
  OfferAnalytics,
  OfferFigures,
  SessionFigures,
  SessionRowsResponse,
  TagFigures,
  TagsResponse,
} from './operations/analytics-schemas.ts';
export type { ConfirmationOutcome, ConfirmationResult, ConfirmationsResponse } from './operations/confirm-revenue.ts';
export type { SessionResponse } from './operations/create-session.ts';
export type { WidgetEmbedResponse } from './operations/embed-widget.ts';
export type {
  ExperimentArmResponse,
  ExperimentResponse,
  ExperimentsResponse,
} from './operations/experiments/experiment-schemas.ts';
export type { ExperimentResultsResponse } from './operations/experiments/get-experiment-results.ts';
export type { ExperimentUnitsResponse } from './operations/experiments/list-experiment-units.ts';
export type { ExperimentPlanResponse } from './operations/experiments/plan-experiment.ts';
export type { MarketplaceResponse } from './operations/get-marketplace.ts';
export type { InputsResponse } from './operations/submit-inputs.ts';
export { TestClockMismatchError } from './server/folder-clock.ts';
export { InvalidCertificateError } from './tls/certificate.ts';
export { banking } from './verticals/banking/banking.ts';
export type { DepositOfferView, DepositView } from './verticals/banking/deposit-view.ts';
export type { CardOfferView, CardView } from './verticals/credit-cards/card-view.ts';
export { creditCards } from './verticals/credit-cards/credit-cards.ts';
export type { AdvisorOfferView, AdvisorView } from './verticals/find-advisor/advisor-view.ts';
export { findAdvisor } from './verticals/find-advisor/find-advisor.ts';
export { mortgage } from './verticals/mortgage/mortgage.ts';
export type { MortgageOfferView, MortgageView } from './verticals/mortgage/offer-view.ts';
export type { LoanOfferView } from './verticals/personal-loans/offer-view.ts';
export { personalLoans } from './verticals/personal-loans/personal-loans.ts';
export type {
  AllowedOrigin,
  AllowOriginResult,
  ApiKeyMode,
  ApiKeyScope,
  CatalogReloadResult,
  CatalogSource,
  CertificateReload,
  ClickContext,
  ClickResult,
  Clock,
  ConfirmationRow,
  FollowClickOutcome,
  IssuedKey,
  KeyLimits,
  MarketplaceLogger,
  MarketplaceOptions,
  NewPartnerKey,
  PublicUrls,
  RemoveOriginResult,
  RevokeKeyResult,
};

const programActor: AuditActor = { kind: 'embedding_program', name: null };

/** Content of a logo, and the response headers to send with it. */
export interface LogoFile {
  readonly svg: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Built-in landing page of clicks on sandbox and example offers. */
export interface LandingPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A marketplace that runs inside this process. Close the marketplace with `close` or `await using`. */
export interface Marketplace extends AsyncDisposable {
  /**
   * Returns the API operations for one API key. The prefix of the key names its vertical. With `vertical`, operations reject a key of
   * another vertical with status 403. Throws a RangeError for an unknown vertical. `partnerApi` does not verify the key; each operation
   * verifies the key.
   */
  partnerApi(apiKey: string, vertical?: string): PartnerApi;
  readonly keys: {
    /** Creates an API key and returns its text, which cannot be retrieved later. Throws a RangeError for invalid `properties`. */
    create(properties: NewPartnerKey): { readonly key: string; readonly id: string };
    list(): readonly IssuedKey[];
    revoke(id: string): RevokeKeyResult;
  };
  /**
   * Origins on which the widgets of an account may be embedded. An account exists once it has an API key. `allow`,
   * `remove` and `list` throw a RangeError for an unknown account or an invalid origin.
   */
  readonly origins: {
    /** Allows an origin in the form that browsers send, such as `https://www.example.com`. An account can have up to 64 origins. */
    allow(account: string, origin: string): AllowOriginResult;
    remove(account: string, origin: string): RemoveOriginResult;
    /** Returns the allowed origins of one account, or of all accounts if `account` is absent. */
    list(account?: string): readonly AllowedOrigin[];
  };
  /**
   * Records a click on a `click_url`, for a program with its own HTTP server. For the result `redirect`, reply with status 302 and the
   * location; for the result `unknown`, reply with 404; for the result `retry_later`, reply with 503. Send `Cache-Control: no-store` with
   * each reply.
   */
  followClick(url: string | URL, visit?: ClickContext): Promise<FollowClickOutcome>;
  readonly confirmations: {
    /**
     * Submits up to 500 confirmations from lenders. Each confirmation row is validated separately, and is durable before it is reported as
     * accepted. Submitting a recorded row again has no effect. If the result is an error, no confirmation was recorded. After an error with
     * status 503, submit the same rows again.
     */
    submit(rows: readonly ConfirmationRow[]): Promise<PartnerApiResult<ConfirmationsResponse>>;
  };
  /** Clock of a rehearsal; null without the option `testClock`. */
  readonly testClock: {
    readTime(): TestClockTime;
    /**
     * Advances the clock by up to 92 days, and runs the daily work of the marketplace for each day. Time never goes back, also after a
     * restart. An error with status 503 means that another advance is in progress, or that the time cannot be stored.
     */
    advance(days: number): Promise<PartnerApiResult<TestClockTime>>;
  } | null;
  /**
   * Returns the logo file for a requested `logo_url`, for a program that serves the logos itself. Returns null for an unknown logo; reply
   * with 404 in this case.
   */
  findLogo(url: string | URL): LogoFile | null;
  /**
   * Returns the page to which a click on a sandbox or example offer leads, for a program that serves clicks itself: `/c/sandbox` or
   * `/c/example` below `urls.click`. Returns null for another URL.
   */
  findLandingPage(url: string | URL): LandingPage | null;
  /** Reloads all catalogs whose source is a file. An invalid file changes no catalog. Returns one result per file, in order. */
  reloadCatalogs(): Promise<readonly CatalogReloadResult[]>;
  /**
   * Reloads the TLS certificate and the private key for new connections. If the new files are invalid, the active
   * certificate and key are unchanged. Returns null without TLS.
   */
  reloadCertificate(): CertificateReload | null;
  /** Returns the reasons why the marketplace does not accept requests; empty when the marketplace is ready. */
  notReadyReasons(): readonly string[];
  readonly urls: PublicUrls;
  /** Ports to which the listeners are bound; null without listeners. */
  readonly ports: { readonly public: number; readonly operations: number } | null;
  /**
   * Completes pending requests, makes the logs durable and releases all resources. Idempotent. After `close` is called, new operations are
   * rejected with 503, `keys` and `origins` throw errors, and new clicks are redirected but not recorded.
   */
  close(): Promise<void>;
}

/**
 * Starts a marketplace in this process. A process can run several marketplaces, each with its own data folder. Rejects with a RangeError
 * for an unknown or invalid option, with `FolderInUseError`, `FolderMissingError`, `ShardCountError`, `TestClockMismatchError`,
 * `InvalidCatalogError` or `InvalidCertificateError`, or with the system error of a file or port, such as `EADDRINUSE`.
 */
export async function createMarketplace(options: MarketplaceOptions): Promise<Marketplace> {
  assertMarketplaceOptions(options, builtInVerticals);
  const catalogs = options.catalogs ?? builtInVerticals.listExampleCatalogs();
  const service = await startService({
    ...resolveSettings(options),
    shard: null,
    registry: builtInVerticals,
    catalogs,
    clock: options.clock ?? systemClock,
    // The destination is passed explicitly, because pino's default destination adds a listener for the process exit.
    logger: (options.logger ?? pino({ level: 'silent' }, { write: () => {} })).child(
      {},
      { serializers: errorSerializers },
    ) as Logger,
  });

  const { testClock } = service;
  const recordChange = service.audit.recorderOf(programActor);
  const verticals = new Map(catalogs.map(({ vertical }) => [vertical.segment, vertical]));
  const findVertical = (segment: string) => {
    const vertical = verticals.get(segment);
    if (vertical === undefined) throw new RangeError(`vertical must be one of ${[...verticals.keys()].join(', ')}`);
    return vertical;
  };

  const findVerticalOfKey = (apiKey: string) =>
    (catalogs.find(({ vertical }) => String(apiKey).startsWith(vertical.keyPrefix)) ?? catalogs[0]!).vertical;

  /** Returns the service. Throws an Error if the service is closing, because the key file is closed together with the service. */
  const openService = () => {
    if (service.isStopping()) throw new Error('this marketplace is closed');
    return service;
  };

  return {
    partnerApi: (apiKey, vertical) =>
      new PartnerApi(service, vertical === undefined ? findVerticalOfKey(apiKey) : findVertical(vertical), apiKey),
    keys: {
      create: (properties) => {
        assertObject('the argument of keys.create', properties);
        assertKnownOptionNames('', properties, ['account', 'vertical', 'mode', 'scope', 'expiresAt', 'limits']);
        assertRateLimits(properties.limits ?? {});
        const { key, issued } = openService().keys.create(
          {
            accountName: properties.account,
            vertical: findVertical(properties.vertical),
            mode: properties.mode,
            scope: properties.scope === undefined ? 'full' : properties.scope,
            expiresAtMs: expiryMsOf(properties.expiresAt),
            limits: toLimitOverrides(properties.limits),
          },
          service.clock.wallMs(),
          recordChange,
        );
        return { key, id: issued.id };
      },
      list: () => openService().keys.listKeys(),
      revoke: (id) => openService().keys.revokeKey(id, service.clock.wallMs(), recordChange),
    },
    origins: {
      allow: (account, origin) => openService().embedOrigins.allowOrigins(account, [origin], recordChange)[0]!,
      remove: (account, origin) => openService().embedOrigins.removeOrigins(account, [origin], recordChange)[0]!,
      list: (account) => openService().embedOrigins.listOrigins(account),
    },
    followClick: async (url, context = {}) => {
      if (isSpeculativePurpose(context.purpose ?? ''))
        return { kind: 'retry_later', retryAfterSeconds: bounds.retryAfterSeconds };
      return service.followClick(parseClickUrl(url, context));
    },
    confirmations: { submit: async (rows) => toPartnerApiResult(await service.confirmRevenue(programActor, rows)) },
    testClock: testClock && {
      readTime: () => testClock.readTime(),
      advance: async (days) => toPartnerApiResult(await testClock.advance(days, programActor)),
    },
    findLogo: (url) => {
      const { pathname = '', searchParams } = URL.parse(String(url), 'http://localhost') ?? {};
      const logo = service.findLogo(pathname.slice(pathname.lastIndexOf('/') + 1), searchParams?.get('v') ?? undefined);
      return logo && { svg: logo.svg, headers: logoHeaders };
    },
    findLandingPage: (url) => {
      const { pathname = '', search = '' } = URL.parse(String(url), 'http://localhost') ?? {};
      // `urls.click` may have a path of its own.
      const html = service.renderLandingPage(pathname.slice(pathname.lastIndexOf(clickPath)), search.slice(1));
      return html === null ? null : { html, headers: landingPageHeaders };
    },
    reloadCatalogs: () => service.reloadCatalogs(),
    reloadCertificate: () => service.reloadCertificate(),
    notReadyReasons: () => service.notReadyReasons(),
    urls: service.urls,
    ports: service.ports,
    close: () => service.close(),
    [Symbol.asyncDispose]: () => service.close(),
  };
}

/** Converts an expiry date to milliseconds. If the value is not a date, returns NaN, which the key registry rejects. */
function expiryMsOf(expiresAt: Date | undefined): number | null {
  if (expiresAt === undefined) return null;
  return isDate(expiresAt) ? expiresAt.getTime() : Number.NaN;
}

function toLimitOverrides({
  requestsPerMinute = null,
  analyticsPerMinute = null,
  sessionsPerDay = null,
}: Partial<KeyLimitOverrides> = {}): KeyLimitOverrides {
  return { requestsPerMinute, analyticsPerMinute, sessionsPerDay };
}
