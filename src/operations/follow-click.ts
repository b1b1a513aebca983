import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { ClickRecordLimiter } from '../clicks/click-record-limiter.ts';
import { isWithinAttributionWindow } from '../clicks/click-rules.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { SharedTimeout } from '../clicks/shared-timeout.ts';
import type { Clock } from '../domain/clock.ts';
import { LogUnavailableError } from '../event-log/event-log.ts';
import type { ClickIds } from '../ids/click-id.ts';
import type { ClickTokenCipher, ClickTokenPayload } from '../ids/click-token-cipher.ts';
import { decodeSubId, type SubIds } from '../ids/sub-id.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerRecordKind, type OfferClicked } from '../ledger/ledger-record.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import type { DeviceClassifier } from '../user-agents/device-classifier.ts';

export interface FollowClickDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly sessions: SessionStore;
  readonly seal: ClickTokenCipher;
  readonly clickIds: ClickIds;
  readonly catalogs: CatalogStore;
  readonly caps: Pick<DailyCaps, 'check'>;
  readonly ledger: Ledger;
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
  const { subBytes, basis } = genuine;
  const catalog = ports.catalogs.findByVersion(basis.catalogVersion);
  const offerIndex = catalog?.offerIndex(request.offer) ?? -1;
  if (catalog === null || offerIndex < 0) return { kind: 'unknown' };

  const { createdMs, mode } = decodeSubId(subBytes);
  const clickedMs = ports.clock.wallMs();
  const countable = !request.isHead && !ports.devices.isBot(request.userAgent);
  const recorded =
    countable &&
    isWithinAttributionWindow(clickedMs, createdMs) &&
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
 * What a click URL carries, or null when we did not make it. A live session still holds the `v` of its last ranking, so most
 * clicks need neither MAC nor cipher: a session in the store is genuine, and a `v` equal to its own was sealed for it.
 */
function verifyClickLink(
  { sessions, subIds, seal }: FollowClickDeps,
  { sub, v }: ClickRequest,
): { readonly subBytes: Buffer; readonly basis: ClickTokenPayload } | null {
  const ranked = sessions.get(sub)?.cachedRanking;
  if (ranked?.clickToken === v) {
    const { ranking, creditBand } = ranked;
    return { subBytes: subIds.toBytes(sub), basis: { catalogVersion: ranking.catalogVersion, creditBand } };
  }
  const subBytes = subIds.verify(sub);
  if (subBytes === null) return null;
  const basis = seal.decrypt(subBytes, v);
  return basis === null ? null : { subBytes, basis };
}

/** Whether the click became durable in time. If not, it stays queued as long as the log can hold it. */
async function recordClick({ ledger, patience }: FollowClickDeps, click: OfferClicked): Promise<boolean> {
  const appended = ledger.append(click);
  if (appended === null) {
    // An unavailable ledger still queues records that no caller waits for.
    if (!ledger.healthy) ledger.appendWithoutWaiting(click);
    return false;
  }
  try {
    return (await patience.wait(appended.durable)) !== 'late';
  } catch (error) {
    if (error instanceof LogUnavailableError) return false;
    throw error;
  }
}
