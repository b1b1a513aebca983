/**
 * What the ledger keeps: what happened to whom, but nothing a borrower has told us. Each record travels as a msgpack array whose first
 * element is its kind, then the wall time, then the 32 bytes of the sub_id, which name account, vertical and mode; new
 * members are only ever added at the end.
 */
export type LedgerRecord =
  | SessionCreated
  | OffersViewed
  | OfferClicked
  | RevenueConfirmed
  | RevenueReversed
  | WidgetEventsReported;

export const ledgerRecordKind = {
  sessionCreated: 1,
  offersViewed: 2,
  offerClicked: 3,
  revenueConfirmed: 4,
  revenueReversed: 5,
  widgetEventsReported: 6,
} as const;

/** `[1, wallMs, sub, referrerTag, keyNumber, device, metadata]`, and `idempotencyKey, payload` where it was created with a key. */
export type SessionCreated = readonly [
  kind: 1,
  /** Creation time, as in the sub_id. */
  wallMs: number,
  sub: Uint8Array,
  referrerTag: string,
  /** The key that created it, for the day's count (docs/contract.md#sessions-per-day). */
  keyNumber: number,
  device: DeviceClass,
  /** JSON text of the caller's metadata, or null. */
  metadata: string | null,
  /** Digests under a secret, 16 bytes each: what a retry is known by (docs/contract.md#idempotency). */
  idempotencyKey?: Uint8Array,
  payload?: Uint8Array,
];

/**
 * `[2, wallMs, sub, catalogVersion, offerIds]`: one successful answer with offers, or one widget render (docs/contract.md#views); and
 * `load, again` where a widget showed them.
 */
export type OffersViewed = readonly [
  kind: 2,
  wallMs: number,
  sub: Uint8Array,
  catalogVersion: string,
  offerIds: readonly string[],
  /** The widget load that showed them: its id, 8 bytes. */
  load?: Uint8Array,
  /** Whether this load has had its view already: what is shown now may be clicked, and is no view of its own. */
  again?: boolean,
];

/**
 * `[3, wallMs, sub, catalogVersion, offerIdRegex, lenderName, valueMicros]`: a click (docs/contract.md#counting-clicks); and `withinDailyCap`
 * where the offer had a daily cap (docs/contract.md#daily-caps).
 */
export type OfferClicked = readonly [
  kind: 3,
  wallMs: number,
  sub: Uint8Array,
  catalogVersion: string,
  offerId: string,
  lenderName: string,
  /** Preliminary revenue it books if it turns out to be the first of its session and offer, in micro-dollars. */
  valueMicros: number,
  /**
   * Whether it took a place of the offer's daily cap. If not, the day's places were taken, and it counts at no value. Null for
   * a click that needs no place: a repeat, or on an offer not shown to the session. Absent where there was no cap.
   */
  withinDailyCap?: boolean | null,
];

/** What both kinds of confirmation hold behind their own (docs/contract.md#confirmations). */
type Booking = readonly [
  wallMs: number,
  sub: Uint8Array,
  offerId: string,
  lenderName: string,
  /** The lender's name for the payout; a reversal names the payout it takes back. */
  txid: string,
  amountMicros: number,
  /** When the lender says it happened. */
  occurredMs: number,
];

/**
 * `[4, wallMs, sub, offerIdRegex, lenderName, txid, amountMicros, occurredMs, clickedMs, clickValueMicros]`: a lender owes a payout
 * (docs/contract.md#confirmations). The last two come from the click_id, null without one: they count the click if nothing else has.
 */
export type RevenueConfirmed = readonly [
  kind: 4,
  ...booking: Booking,
  clickedMs: number | null,
  clickValueMicros: number | null,
];

/** `[5, wallMs, sub, offerIdRegex, lenderName, txid, amountMicros, occurredMs]`: a lender takes back a payout or a part of it. */
export type RevenueReversed = readonly [kind: 5, ...booking: Booking];

/**
 * `[6, wallMs, sub, load, eventIds, types, offerIds]`: events that a widget reported (docs/contract.md#widget-events), one
 * item of each list an event. None of its ids has been recorded for this session before.
 */
export type WidgetEventsReported = readonly [
  kind: 6,
  wallMs: number,
  sub: Uint8Array,
  /** The widget load they belong to: its id, 8 bytes. */
  load: Uint8Array,
  /** Digests of the event ids, 8 bytes each, end to end: what a repeat is known by. */
  eventIds: Uint8Array,
  /** Places in `widgetEventTypes`. */
  types: readonly number[],
  /** The offer an event is about, or null. */
  offerIds: readonly (string | null)[],
];

/** Bytes of the id of a widget load, and of the digest of an event's id. */
export const widgetIdBytes = 8;

/** What a widget tells (docs/contract.md#widget-events), as numbers in the ledger: never renumber. */
export const widgetEventTypes = [
  'widget_loaded',
  'offers_rendered',
  'offer_impression',
  'offer_details_opened',
  'disclosure_opened',
  'offer_click',
  'widget_error',
] as const;
export type WidgetEventType = (typeof widgetEventTypes)[number];

/** Device classes of analytics (docs/contract.md#device-classes), as numbers in the ledger: never renumber. */
export const deviceClasses = ['unknown', 'desktop', 'mobile', 'tablet', 'bot'] as const;
export type DeviceClass = 0 | 1 | 2 | 3 | 4;
