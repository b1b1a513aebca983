import { bounds } from '../bounds.ts';
import type { ClickDecider } from '../budgets/click-decider.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import { type ClickDecision, toClickRecordItems } from '../clicks/click-decision.ts';
import type { ClickRecordLimiter } from '../clicks/click-record-limiter.ts';
import { isWithinAttributionWindow } from '../clicks/click-rules.ts';
import type { SharedTimeout } from '../domain/async.ts';
import type { Clock } from '../domain/clock.ts';
import { type AppendedRecord, LogUnavailableError } from '../event-log/event-log.ts';
import type { ClickIds, ClickTokenCipher, ClickTokenPayload } from '../ids/click-tokens.ts';
import { decodeSubId, type SubIds } from '../ids/sub-id.ts';
import { ledgerRecordKind, type OfferClickedRecord, type UnbookedReason } from '../ledger/ledger-record.ts';
import { parseSubIdAndFindSession } from '../sessions/find-session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { RelayedClick } from '../shards/relayed-clicks.ts';
import type { DeviceClassifier } from '../user-agents/device-classifier.ts';
import { grantAttemptsMax } from './grant-attempts.ts';

export interface FollowClickDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
  readonly clickTokens: ClickTokenCipher;
  readonly clickIds: ClickIds;
  readonly catalogs: CatalogStore;
  readonly clickDecider: Pick<ClickDecider, 'decideClick' | 'needsGrant' | 'waitForGrant'>;
  readonly ledger: {
    readonly healthy: boolean;
    append(click: OfferClickedRecord): AppendedRecord | null;
    appendWithoutWaiting(click: OfferClickedRecord): number | null;
  };
  readonly devices: DeviceClassifier;
  readonly clickLimiter: Pick<ClickRecordLimiter, 'tryCountClick'>;
  readonly clickTimeout: SharedTimeout;
  /** URL, without a query, of the page to which clicks in sandbox sessions redirect. */
  readonly sandboxLandingUrl: string;
  /** URL of the redirect host, without a trailing slash. */
  readonly redirectHostUrl: string;
  /** Called for each redirected click whose record is late or lost (docs/contract.md#clicks-without-a-record). */
  readonly onUnrecorded: () => void;
  /** Called for each recorded click that counts but books no revenue. */
  readonly onUnbooked: (reason: UnbookedReason) => void;
  /** Called for each redirected request that is not a click. */
  readonly onUncounted: (kind: 'bot' | UncountedRequest) => void;
}

/** Kind of a request that is not a click: another method than GET, or a part of a page or request of a script. */
export type UncountedRequest = 'not_get' | 'not_navigation';

export interface ClickRequest {
  /** Value of the query parameter `sub` of the click URL; empty when absent. */
  readonly sub: string;
  readonly offer: string;
  readonly v: string;
  readonly userAgent: string;
  /** Why the request redirects, but records no click and no revenue; null for a possible click. */
  readonly uncounted: UncountedRequest | null;
}

export type ClickResult =
  | { readonly kind: 'redirect'; readonly location: string; readonly clickId: string }
  /** Result for an invalid click URL or a deleted catalog version. */
  | { readonly kind: 'unknown' }
  /** Result while the replaced catalog of the offer is not compiled yet. Nothing was recorded. */
  | { readonly kind: 'retry_later'; readonly retryAfterSeconds: number };

/**
 * GET /c (docs/contract.md#click-redirect): redirects a click once its record is durable. The landing URL comes from the catalog version
 * that contained the shown offer. If the ledger cannot store the record in time, the click redirects anyway, and a later confirmation with
 * the click's `click_id` recreates the record.
 *
 * The check of the daily cap and the budget (docs/contract.md#budgets-and-pacing) and the append to the ledger run in the same turn of the
 * event loop, so that two simultaneous clicks cannot both count as the last click of a cap. If shards share the limit, the click first waits
 * until its shard was granted enough for the click.
 */
export async function followClick(deps: FollowClickDeps, request: ClickRequest): Promise<ClickResult> {
  const link = verifyClickLink(deps, request);
  if (link === null) return { kind: 'unknown' };
  const { payload } = link;
  const found = deps.catalogs.loadCatalogByVersion(payload.catalogVersion);
  const catalog = found instanceof Promise ? await found : found;
  // Another click may have overwritten the bytes in the meantime.
  let { subBytes } = found instanceof Promise ? { subBytes: deps.subIds.toBytes(request.sub) } : link;
  if (catalog === 'busy') return { kind: 'retry_later', retryAfterSeconds: bounds.retryAfterSeconds };
  const offerIndex = catalog?.findOfferIndex(request.offer) ?? -1;
  if (catalog === null || offerIndex < 0) return { kind: 'unknown' };

  const { createdMs, mode } = decodeSubId(subBytes);
  const clickedMs = deps.clock.wallMs();
  const uncounted = deps.devices.isBot(request.userAgent) ? 'bot' : request.uncounted;
  const countable = uncounted === null;
  if (uncounted !== null) deps.onUncounted(uncounted);
  const fullValueMicros = catalog.clickValueMicros(offerIndex, payload.creditBand);
  for (let attempt = 0; attempt < grantAttemptsMax; attempt++) {
    if (!deps.clickDecider.needsGrant(subBytes, request.offer, clickedMs, fullValueMicros)) break;
    await deps.clickDecider.waitForGrant();
    subBytes = deps.subIds.toBytes(request.sub);
  }
  const decision = deps.clickDecider.decideClick(subBytes, request.offer, clickedMs, fullValueMicros);
  const shouldRecord =
    countable &&
    decision.needsRecord !== false &&
    isWithinAttributionWindow(clickedMs, createdMs) &&
    deps.clickLimiter.tryCountClick(request.sub, subBytes, request.offer);
  // The amount of a sandbox click counts only towards the budget of its offer.
  const confirmableMicros = mode === 'test' || !decision.hasValue ? 0 : fullValueMicros;
  const { lenderName, flatPayoutMicros } = catalog.offers[offerIndex]!;
  const clickId = deps.clickIds.issue({
    sub: subBytes,
    offerId: request.offer,
    clickedMs,
    valueMicros: confirmableMicros,
    payoutMicros: flatPayoutMicros,
    countable,
  });
  const location =
    mode === 'test'
      ? `${deps.sandboxLandingUrl}?click_id=${clickId}`
      : toAbsoluteUrl(catalog.landingUrl(offerIndex, clickId), deps.redirectHostUrl);

  if (shouldRecord) {
    const { catalogVersion } = payload;
    const { offer } = request;
    const click = [clickedMs, subBytes, catalogVersion, offer, lenderName, fullValueMicros, flatPayoutMicros] as const;
    await recordClick(deps, click, decision);
  }
  return { kind: 'redirect', location, clickId };
}

/** Converts the landing URL of the example catalogs, which is a path of the redirect host, to an absolute URL. */
function toAbsoluteUrl(landingUrl: string, redirectHostUrl: string): string {
  return landingUrl.startsWith('/') ? redirectHostUrl + landingUrl : landingUrl;
}

/**
 * Verifies a click URL and returns its contents, or null if the service did not issue the URL. Usually, the sub_id and the click token
 * are found in the session store, so that no signature must be verified.
 */
function verifyClickLink(
  deps: FollowClickDeps,
  { sub: subId, v }: ClickRequest,
): { readonly subBytes: Buffer; readonly payload: ClickTokenPayload } | null {
  const resolved = parseSubIdAndFindSession(deps, subId);
  if (resolved === null) return null;
  const subBytes = deps.subIds.toBytes(subId);
  const cached = resolved.session?.cachedRanking;
  if (cached?.clickToken === v) {
    const { ranking, creditBand } = cached;
    return { subBytes, payload: { catalogVersion: ranking.catalogVersion, creditBand } };
  }
  const payload = deps.clickTokens.decrypt(subBytes, v);
  return payload === null ? null : { subBytes, payload };
}

/** Appends the record of a decided click to the ledger, and waits until it is durable or late. */
async function recordClick(deps: FollowClickDeps, click: RelayedClick, decision: ClickDecision): Promise<void> {
  const durable = appendClick(deps, toClickRecord(click, decision));
  if (decision.unbookedReason !== null) deps.onUnbooked(decision.unbookedReason);
  if (!(await durable)) deps.onUnrecorded();
}

export function toClickRecord(
  [clickedMs, sub, catalogVersion, offerId, lenderName, fullValueMicros, flatPayoutMicros]: RelayedClick,
  decision: ClickDecision,
): OfferClickedRecord {
  return [
    ledgerRecordKind.offerClicked,
    clickedMs,
    sub,
    catalogVersion,
    offerId,
    lenderName,
    decision.hasValue ? fullValueMicros : 0,
    ...toClickRecordItems(decision, flatPayoutMicros),
  ];
}

/** Appends the record of a click to the ledger. Returns false if the record is late (still in the ledger's queue) or lost (queue full). */
async function appendClick({ ledger, clickTimeout }: FollowClickDeps, click: OfferClickedRecord): Promise<boolean> {
  const appended = ledger.append(click);
  if (appended === null) {
    // While the ledger is unhealthy, `append` refuses records, but `appendWithoutWaiting` adds records to the queue.
    if (!ledger.healthy) ledger.appendWithoutWaiting(click);
    return false;
  }
  try {
    return (await clickTimeout.wait(appended.durable)) !== 'timeout';
  } catch (error) {
    if (error instanceof LogUnavailableError) return false;
    throw error;
  }
}
