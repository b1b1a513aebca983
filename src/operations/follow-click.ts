import { bounds } from '../bounds.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { ClickRecordLimiter } from '../clicks/click-record-limiter.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { SharedTimeout } from '../clicks/shared-timeout.ts';
import type { Clock } from '../domain/clock.ts';
import { type EventLog, LogUnavailableError } from '../event-log/event-log.ts';
import type { ClickIds } from '../ids/click-id.ts';
import type { ClickTokenCipher, ClickTokenPayload } from '../ids/click-token-cipher.ts';
import { decodeSubId, type SubIds } from '../ids/sub-id.ts';
import { ledgerRecordKind, type OfferClicked } from '../ledger/ledger-record.ts';
import { resolveSubId } from '../sessions/find-session.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { DeviceClassifier } from '../user-agents/device-classifier.ts';

export interface FollowClickDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
  readonly seal: ClickTokenCipher;
  readonly clickIds: ClickIds;
  readonly catalogs: CatalogStore;
  readonly caps: DailyCaps;
  readonly ledger: EventLog;
  readonly devices: DeviceClassifier;
  readonly budget: ClickRecordLimiter;
  readonly patience: SharedTimeout;
  /** Where sandbox sessions land, without a query. */
  readonly sandboxLandingUrl: string;
  /** A click was redirected before its record was durable, or without one (docs/contract.md#clicks-without-a-record): an alert. */
  readonly onUnrecorded: () => void;
}

export interface ClickRequest {
  /** Query parameters of the click URL, empty when absent. */
  readonly sub: string;
  readonly offer: string;
  readonly v: string;
  readonly userAgent: string;
  /** HEAD, or another request that no person's click makes: it redirects, is not recorded, and cannot be confirmed. */
  readonly isHead: boolean;
}

/** The way of one click through the redirect host (docs/contract.md#click-redirect). */
export type ClickResult =
  | { readonly kind: 'redirect'; readonly location: string; readonly clickId: string }
  /** Not an address we made, or one whose catalog is long gone. */
  | { readonly kind: 'unknown' };

/**
 * GET /c (docs/contract.md#click-redirect): redirects a click once its record is durable. The URL is that of the catalog the offer was
 * shown from, never from the query. The borrower is never held up by us: when the log cannot take the record, or not in
 * time, the click redirects all the same, and its click_id can restore it.
 *
 * At its daily cap an offer's clicks are worth nothing (docs/contract.md#daily-caps). A click owns its place once the log has taken its
 * record: from the verdict to there nothing else runs.
 */
export async function followClick(ports: FollowClickDeps, request: ClickRequest): Promise<ClickResult> {
  const genuine = verifyClickLink(ports, request);
  if (genuine === null) return { kind: 'unknown' };
  const { sub: subBytes, payload: basis } = genuine;
  const catalog = ports.catalogs.findByVersion(basis.catalogVersion);
  const offerIndex = catalog?.offerIndex(request.offer) ?? -1;
  if (catalog === null || offerIndex < 0) return { kind: 'unknown' };

  const { createdMs, mode } = decodeSubId(subBytes);
  const clickedMs = ports.clock.wallMs();
  const countable = !request.isHead && !ports.devices.isBot(request.userAgent);
  const recorded =
    countable &&
    clickedMs <= createdMs + bounds.clickAttributionMs &&
    ports.budget.tryConsume(request.sub, subBytes, request.offer);
  const { atCap, withinDailyCap } = ports.caps.check(subBytes, request.offer, clickedMs);
  const valueMicros = mode === 'test' || atCap ? 0 : catalog.clickValueMicros(offerIndex, basis.creditBand);
  const clickId = ports.clickIds.issue({ sub: subBytes, offerId: request.offer, clickedMs, valueMicros, countable });
  const location =
    mode === 'test' ? `${ports.sandboxLandingUrl}?click_id=${clickId}` : catalog.landingUrl(offerIndex, clickId);

  if (recorded) {
    const { lenderName } = catalog.offers[offerIndex]!;
    const click = [
      ledgerRecordKind.offerClicked,
      clickedMs,
      subBytes,
      basis.catalogVersion,
      request.offer,
      lenderName,
      valueMicros,
    ] as const;
    const durable = await recordClick(ports, withinDailyCap === undefined ? click : [...click, withinDailyCap]);
    if (!durable) ports.onUnrecorded();
  }
  return { kind: 'redirect', location, clickId };
}

/**
 * Returns the contents of a click URL, or null if this service did not issue it. Most clicks need neither MAC nor decryption,
 * since the store has the session and its last ranking has the same `v`.
 */
function verifyClickLink(
  ports: FollowClickDeps,
  { sub: subId, v }: ClickRequest,
): { readonly sub: Buffer; readonly payload: ClickTokenPayload } | null {
  const resolved = resolveSubId(ports, subId);
  if (resolved === null) return null;
  const sub = ports.subIds.toBytes(subId);
  const ranked = resolved.session?.cachedRanking;
  if (ranked?.clickToken === v) {
    const { ranking, creditBand } = ranked;
    return { sub, payload: { catalogVersion: ranking.catalogVersion, creditBand } };
  }
  const payload = ports.seal.decrypt(sub, v);
  return payload && { sub, payload };
}

/** Whether the click became durable in time. If not, it stays queued as long as the log can hold it. */
async function recordClick(ports: FollowClickDeps, click: OfferClicked): Promise<boolean> {
  const { ledger, patience, caps } = ports;
  const { appendedPosition } = ledger;
  if (!ledger.healthy) {
    // Such a log refuses what somebody waits for, but takes what nobody does, and writes it once it works again.
    if (ledger.appendWithoutWaiting(click)) caps.apply(click);
    return false;
  }
  try {
    const durable = ledger.append(click);
    if (ledger.appendedPosition > appendedPosition) caps.apply(click);
    return (await patience.wait(durable)) !== 'late';
  } catch (fault) {
    if (fault instanceof LogUnavailableError) return false;
    throw fault;
  }
}
