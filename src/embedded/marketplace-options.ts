import type { BaseLogger } from 'pino';
import type { ApiKeyScope } from '../auth/api-key.ts';
import { assertRateLimits, type KeyLimits } from '../auth/rate-limits.ts';
import { bounds } from '../bounds.ts';
import { assertCatalogSources } from '../catalogs/assert-catalog-sources.ts';
import type { CatalogSource } from '../catalogs/parse-catalog.ts';
import type { VerticalRegistry } from '../catalogs/vertical-registry.ts';
import {
  baseUrlRule,
  findReachableHost,
  hostNamesFormat,
  isHostName,
  isHttpOrigin,
  parseBaseUrl,
} from '../config/parse-setting.ts';
import {
  durabilityModes,
  httpEngineChoices,
  type ListenOptions,
  type PublicUrls,
  type ServiceSettings,
  type TlsOptions,
} from '../config/service-settings.ts';
import type { ClickReversal, ConfirmationStatus } from '../confirmations/confirmation.ts';
import { assertIntegerOption, assertKnownOptionNames, assertObject } from '../domain/assert-options.ts';
import type { Clock } from '../domain/clock.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { ClickResult } from '../operations/follow-click.ts';
import { tlsVersions } from '../tls/certificate.ts';

/** A pino logger, for example the `log` of a Fastify server. */
export interface MarketplaceLogger extends Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  child(bindings: object, options?: object): unknown;
}

export interface MarketplaceOptions extends ServiceSettings {
  /** Catalog sources: one live and one test catalog for each vertical. By default, the catalogs offer loans of fictional lenders. */
  readonly catalogs?: readonly CatalogSource[] | undefined;
  /** Logger of the service. Default: no log. */
  readonly logger?: MarketplaceLogger | undefined;
  /** Replaces the system clock in tests. */
  readonly clock?: Clock | undefined;
}

export interface NewPartnerKey {
  /** Name of the account. The account is created if the name is unknown. */
  readonly account: string;
  /** Path segment of a configured vertical, such as `personal-loans`. */
  readonly vertical: string;
  readonly mode: ApiKeyMode;
  /** Operations that the key can use (docs/contract.md#scopes). Default: `full`. */
  readonly scope?: ApiKeyScope;
  /** Expiry of the key, which must be in the future. Default: never. */
  readonly expiresAt?: Date;
  readonly limits?: Partial<KeyLimits>;
}

/**
 * Result of `followClick`. `kind` is `retry_later` for a speculative request, because the browser sends another request when the visitor
 * clicks, and while a replaced catalog is compiled after a restart.
 */
export type FollowClickOutcome = ClickResult;

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

/** Throws a RangeError if the value of an option is invalid. */
type OptionCheck = (name: string, value: unknown) => void;
/** Checks of all members of `Options`. The compiler reports a missing or unknown name. */
type OptionChecks<Options> = Readonly<Record<keyof Options, OptionCheck>>;

/** @param rule allowed values, such as "an integer from 1 to 9"; the error message says that the option must be `rule` */
function mustBe(rule: string, isValid: (value: unknown) => boolean): OptionCheck {
  return (name, value) => {
    if (!isValid(value)) throw new RangeError(`${name} must be ${rule}`);
  };
}

const path = mustBe('the path of a file or folder', (value) => typeof value === 'string' && value !== '');
const baseUrl = mustBe(baseUrlRule, (value) => typeof value === 'string' && parseBaseUrl(value) !== null);
const anyValue: OptionCheck = () => {};

function integer(min: number, max: number): OptionCheck {
  return (name, value) => value === null || assertIntegerOption(name, value, min, max);
}

function oneOf(choices: readonly unknown[]): OptionCheck {
  return mustBe(`one of ${choices.join(', ')}`, (value) => choices.includes(value));
}

function listOf(countMax: number, items: string, isItem: (item: string) => boolean): OptionCheck {
  const isValid = (value: unknown) => Array.isArray(value) && value.length <= countMax && value.every(isItem);
  return mustBe(`up to ${countMax} ${items}`, isValid);
}

function objectWith(methods: readonly string[], type: string): OptionCheck {
  const rule = `${type} with the methods ${methods.join(', ')}`;
  return mustBe(rule, (value) => methods.every((method) => typeof Object(value)[method] === 'function'));
}

function optionsObject(checks: Readonly<Record<string, OptionCheck>>, required: readonly string[] = []): OptionCheck {
  return (name, value) => {
    if (!value) return;
    assertObject(name, value);
    assertOptions(name, value, checks, required);
  };
}

const tlsChecks: OptionChecks<TlsOptions> = { certificateFile: path, keyFile: path, minVersion: oneOf(tlsVersions) };

const listenChecks: OptionChecks<ListenOptions> = {
  host: anyValue,
  port: integer(0, bounds.portMax),
  operationsHost: anyValue,
  operationsPort: integer(0, bounds.portMax),
  operationsAllowedHosts: listOf(bounds.opsAllowedHostsMax, hostNamesFormat, isHostName),
  engine: oneOf(httpEngineChoices),
  tls: optionsObject(tlsChecks, ['certificateFile', 'keyFile']),
};

const urlChecks: OptionChecks<PublicUrls> = { public: baseUrl, click: baseUrl, widget: baseUrl, cdn: baseUrl };

const optionChecks: OptionChecks<MarketplaceOptions> = {
  dataDir: path,
  secretFile: path,
  listen: optionsObject(listenChecks),
  urls: optionsObject(urlChecks),
  // `assertCatalogSources` needs the verticals of this release.
  catalogs: anyValue,
  matcherThreads: integer(0, bounds.matcherThreadsMax),
  durability: oneOf(durabilityModes),
  retentionDays: integer(bounds.retentionDaysMin, bounds.retentionDaysMax),
  maxSessions: integer(1, bounds.sessionLimitMax),
  maxReferrerTags: integer(1, bounds.referrerTagLimitMax),
  sessionTtlMs: integer(1, bounds.sessionTtlMs),
  confirmationGraceDays: integer(0, bounds.confirmationGraceDaysMax),
  limits(name, value) {
    if (!value) return;
    assertObject(name, value);
    assertRateLimits(value);
  },
  corsOrigins: listOf(bounds.corsOriginsMax, 'origins, each exactly as a browser sends it', isHttpOrigin),
  testClock: oneOf([true, false]),
  logger: objectWith(['child', 'isLevelEnabled', 'debug', 'info', 'warn', 'error', 'fatal'], 'a pino logger'),
  clock: objectWith(['wallMs', 'monotonicMs'], 'a Clock'),
};

/**
 * Validates the options. Throws a RangeError for an unknown option name and for an invalid path, number, URL or choice. Does not validate
 * the contents of files.
 */
export function assertMarketplaceOptions(options: MarketplaceOptions, registry: VerticalRegistry): void {
  assertObject('the argument of createMarketplace', options);
  assertOptions('', options, optionChecks, ['dataDir']);
  if (options.catalogs !== undefined) assertCatalogSources(options.catalogs, registry);
  if (options.testClock) assertLoopbackHosts(options.listen || {});
  if (options.listen || options.urls?.click) return;
  throw new RangeError('urls.click must be the URL at which your program receives clicks, unless listen is set');
}

function assertLoopbackHosts({ host = '127.0.0.1', operationsHost = '127.0.0.1' }: ListenOptions): void {
  const [name] = findReachableHost({ host, operationsHost }) ?? [];
  if (name !== undefined) {
    throw new RangeError(`listen.${name} must be a loopback address such as 127.0.0.1 with testClock`);
  }
}

/** @param parent name of the object that contains the options, such as `listen`; empty for top-level options */
function assertOptions(
  parent: string,
  options: object,
  checks: Readonly<Record<string, OptionCheck>>,
  required: readonly string[],
): void {
  assertKnownOptionNames(parent, options, Object.keys(checks));
  for (const [name, check] of Object.entries(checks)) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined || required.includes(name)) check(parent === '' ? name : `${parent}.${name}`, value);
  }
}
