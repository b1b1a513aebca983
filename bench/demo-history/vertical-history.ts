import { toClickRecordItems } from '../../src/clicks/click-decision.ts';
import { dayStartMs, daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { assignArm } from '../../src/experiments/assign-arm.ts';
import type { SubIds } from '../../src/ids/sub-id.ts';
import type { UnitHasher } from '../../src/ids/unit-hasher.ts';
import {
  type DeviceClass,
  deviceClasses,
  type LedgerRecord,
  type OfferClickedRecord,
  type RevenueConfirmedRecord,
  type RevenueReversedRecord,
  reversalReasons,
  type WidgetEventType,
  widgetEventTypes,
  widgetIdLength,
} from '../../src/ledger/ledger-record.ts';
import {
  chance,
  drawStandardNormal,
  pickRandomByWeight,
  type Random,
  seededRandom,
  type WeightedTable,
  wholeNumber,
} from '../population/random.ts';
import { type DemoArm, type DemoExperiment, demoExperiments } from './demo-experiments.ts';
import type { DemoLimit } from './demo-limits.ts';
import { type DemoOffer, listDemoOffers } from './demo-offers.ts';
import type { DemoRecords } from './demo-records.ts';

const msPerSecond = 1_000;
const msPerHour = 3_600_000;

/** Factors of the number of sessions, from Thursday (the day of 1970-01-01) to Wednesday. The mean is 1. */
const weekdayFactors = [1.05, 0.95, 0.8, 0.85, 1.15, 1.1, 1.1];
/** Days on which fewer visitors complete the form: Saturday and Sunday, as indexes in `weekdayFactors`. */
const weekend = [2, 3];
const weekendFactor = 0.9;

const botShare = 0.02;
const devices: WeightedTable<DeviceClass> = [
  [2, 62],
  [1, 30],
  [3, 6],
  [0, 2],
];
const campaigns: WeightedTable<keyof typeof campaignFactors> = [
  ['search', 50],
  ['social', 30],
  ['email', 20],
];

/** Share of the sessions of visitors who came before, and the number of recent visitors who come again. */
const returningShare = 0.3;
const recentVisitors = 400;

const offersShown = 5;
const secondClickShare = 0.15;
const widgetShare = 0.4;
const widgetErrorShare = 0.01;

/** Share of the clicks on personal loans that a lender confirms; the expected revenue of a click is the mean payout times this share. */
const confirmedShare = 0.1;
/** Standard deviation of the logarithm of a payout, in verticals without flat payouts. */
const payoutSigma = 0.5;
const reversedShare = 0.04;
/** Days after which a lender reports that it takes back the revenue of a click. */
const clickReversalDays = 3;
/** Share of the payouts that occur too late to count in an experiment. */
const lateShare = 0.03;

/** Factor of the probability that a visitor completes the form, by device and by campaign. The means of the visitors are about 1. */
const deviceFactors: Readonly<Record<DeviceClass, number>> = { 0: 1, 1: 1.2, 2: 0.9, 3: 1.05, 4: 1 };
const campaignFactors = { search: 1.1, social: 0.8, email: 1.1 };

/** Factors of the share of clicks that a lender confirms, and of the share of clicks that it takes back. */
const lenderFactors = [1.3, 0.7, 1.1, 1, 0.9];

/** Time from the last new session of the last day to the end of the history, so that its visitors can click. */
const lastVisitMs = 600_000;

export interface VerticalHistoryOptions {
  readonly vertical: Vertical;
  /** End of the history. All visitors of the last day, which is not complete, come before this time. */
  readonly endMs: number;
  /** Version of the catalog of a day. */
  readonly catalogVersionOn: (day: number) => string;
  /** Limits by offer ID. `DemoBookings` decides whether the clicks of these offers book revenue. */
  readonly limits: ReadonlyMap<string, DemoLimit>;
  readonly account: number;
  readonly keyNumber: number;
  readonly subIds: SubIds;
  readonly unitHasher: UnitHasher;
  readonly records: DemoRecords;
}

interface Visitor {
  /** The partner's id of the visitor; null if the unit of the experiment is a session. */
  readonly unitId: string | null;
  readonly arm: DemoArm;
}

/** Simulates the visitors and the lenders of one vertical. Two runs for the same days create the same events with different ids. */
export class VerticalHistory {
  readonly #options: VerticalHistoryOptions;
  readonly #offersByBand: readonly (readonly DemoOffer[])[];
  readonly #randoms: ReadonlyMap<DemoExperiment, Random>;
  readonly #recentVisitors: Visitor[] = [];
  readonly #unreported: (RevenueConfirmedRecord | RevenueReversedRecord)[] = [];
  /** Last number of a visitor, a widget load, a widget event or a payout. */
  #counter = 0;

  constructor(options: VerticalHistoryOptions) {
    this.#options = options;
    this.#offersByBand = listDemoOffers(options.vertical);
    this.#randoms = new Map(
      demoExperiments.map((experiment, at) => [experiment, seededRandom(options.vertical.number * 100 + at)]),
    );
  }

  /** Adds the sessions of a day and everything that follows from them. Returns the number of sessions. */
  addDay(day: number): number {
    let added = 0;
    for (const [experiment, random] of this.#randoms) {
      const { confirmedByClick, confirmedByLender } = experiment.sessionsPerDay;
      const mean = this.#options.vertical.clicksConfirmRevenue ? confirmedByClick : confirmedByLender;
      const count = Math.round(mean * weekdayFactors[day % 7]!);
      for (let number = 0; number < count; number++) this.#addSession(experiment, random, day);
      added += count;
    }
    return added;
  }

  /** Payouts and reversals that occurred before the end of the history, and that the lenders report later. */
  get unreported(): readonly (RevenueConfirmedRecord | RevenueReversedRecord)[] {
    return this.#unreported;
  }

  #addSession(experiment: DemoExperiment, random: Random, day: number): void {
    const elapsedMs = Math.min(this.#options.endMs - dayStartMs(day), msPerDay);
    const visitsMs = elapsedMs === msPerDay ? msPerDay - msPerHour : Math.max(elapsedMs - lastVisitMs, elapsedMs / 2);
    // The mean of two uniform numbers makes noon busier than the night.
    const createdMs = dayStartMs(day) + Math.floor(((random() + random()) / 2) * visitsMs);
    const { unitId, arm } = this.#drawVisitor(experiment, random);
    const { vertical, account, keyNumber, subIds, unitHasher } = this.#options;
    const sub = Buffer.from(subIds.toBytes(subIds.createSubId(createdMs, account, vertical.number, 'live')));
    const isBot = chance(random, botShare);
    const device = isBot ? (deviceClasses.indexOf('bot') as DeviceClass) : pickRandomByWeight(random, devices);
    const campaign = pickRandomByWeight(random, campaigns);
    const session = [1, createdMs, sub, arm.tag, keyNumber, device, JSON.stringify({ campaign })] as const;
    this.#add(unitId === null ? session : [...session, undefined, undefined, unitHasher.hash(account, unitId)]);
    const dayFactor = weekend.includes(day % 7) ? weekendFactor : 1;
    const completesForm = arm.completesForm * dayFactor * deviceFactors[device] * campaignFactors[campaign];
    if (!isBot && chance(random, completesForm)) this.#addView(sub, arm, random, createdMs);
  }

  #drawVisitor({ name, arms, unit }: DemoExperiment, random: Random): Visitor {
    if (unit === 'session') return { unitId: null, arm: arms[chance(random, arms[0].drawn) ? 0 : 1] };
    if (this.#recentVisitors.length === recentVisitors && chance(random, returningShare)) {
      return this.#recentVisitors[wholeNumber(random, 0, recentVisitors - 1)]!;
    }
    const unitId = `visitor-${++this.#counter}`;
    const { arm } = assignArm(
      name,
      unitId,
      arms.map((each) => ({ arm: each, weight: 1 / arms.length })),
    );
    const visitor = { unitId, arm };
    this.#recentVisitors.push(visitor);
    if (this.#recentVisitors.length > recentVisitors) this.#recentVisitors.shift();
    return visitor;
  }

  #addView(sub: Buffer, arm: DemoArm, random: Random, createdMs: number): void {
    const viewedMs = createdMs + wholeNumber(random, 20, 240) * msPerSecond;
    const offers = this.#offersByBand[wholeNumber(random, 0, this.#offersByBand.length - 1)]!;
    const first = wholeNumber(random, 0, offers.length - offersShown);
    const shown = offers.slice(first, first + offersShown);
    const isWidget = chance(random, widgetShare);
    const version = this.#options.catalogVersionOn(daysSinceEpoch(viewedMs));
    const view = [2, viewedMs, sub, version, shown.map(({ id }) => id)] as const;
    const load = this.#nextWidgetId();
    this.#add(isWidget ? [...view, load, false] : view);
    const clicked = chance(random, arm.clicksOffer) ? drawClickedOffers(random, shown) : [];
    for (const [at, offer] of clicked.entries()) {
      this.#addClick(sub, offer, random, viewedMs + wholeNumber(random, 10 + 60 * at, 60 + 60 * at) * msPerSecond);
    }
    if (isWidget) this.#addWidgetEvents(sub, load, shown, clicked.length > 0, random, viewedMs);
  }

  #addWidgetEvents(
    sub: Buffer,
    load: Buffer,
    [first]: readonly DemoOffer[],
    hasClick: boolean,
    random: Random,
    viewedMs: number,
  ): void {
    const types: WidgetEventType[] = ['widget_loaded', 'offers_rendered', 'offer_impression'];
    if (hasClick) types.push('offer_click');
    if (chance(random, widgetErrorShare)) types.push('widget_error');
    this.#add([
      6,
      viewedMs + 130 * msPerSecond,
      sub,
      load,
      Buffer.concat(types.map(() => this.#nextWidgetId())),
      types.map((type) => widgetEventTypes.indexOf(type)),
      types.map((type) => (type.startsWith('offer_') ? first!.id : null)),
    ]);
  }

  #addClick(sub: Buffer, offer: DemoOffer, random: Random, clickedMs: number): void {
    const { id, lenderName, clickValueMicros, flatPayoutMicros } = offer;
    const { vertical, limits, catalogVersionOn } = this.#options;
    const confirmsRevenue = vertical.clicksConfirmRevenue === true;
    const hasLimit = limits.has(id);
    const isBooked = confirmsRevenue || hasLimit || undefined;
    const items = toClickRecordItems(
      { hasValue: true, isBooked, unbookedReason: null, confirmsRevenue },
      flatPayoutMicros,
    );
    const version = catalogVersionOn(daysSinceEpoch(clickedMs));
    this.#add([3, clickedMs, sub, version, id, lenderName, clickValueMicros, ...items] as OfferClickedRecord);
    const factor = lenderFactors[lenderName.length % lenderFactors.length]!;
    if (confirmsRevenue) {
      // A lender can take back only revenue that was booked, which is not known yet for an offer with a limit.
      if (!hasLimit && chance(random, reversedShare * factor)) this.#addClickReversal(sub, offer, random, clickedMs);
      return;
    }
    const share = flatPayoutMicros === null ? confirmedShare : clickValueMicros / flatPayoutMicros;
    if (chance(random, share * factor)) this.#addPayout(sub, offer, random, clickedMs);
  }

  /** Adds a payout, and sometimes its reversal. The lender sends both in its weekly files. */
  #addPayout(sub: Buffer, offer: DemoOffer, random: Random, clickedMs: number): void {
    const { id, lenderName, clickValueMicros, flatPayoutMicros } = offer;
    const factor = Math.exp(payoutSigma * drawStandardNormal(random) - payoutSigma ** 2 / 2);
    const amountMicros = flatPayoutMicros ?? toWholeCents((clickValueMicros / confirmedShare) * factor);
    const days = chance(random, lateShare) ? wholeNumber(random, 46, 60) : wholeNumber(random, 10, 35);
    const occurredMs = clickedMs + days * msPerDay;
    const booking = [sub, id, lenderName, this.#nextTxid(), amountMicros] as const;
    const confirmed = [4, acceptanceMs(occurredMs), ...booking, occurredMs, clickedMs, clickValueMicros] as const;
    const record: RevenueConfirmedRecord = flatPayoutMicros === null ? confirmed : [...confirmed, flatPayoutMicros];
    this.#report(record);
    if (!chance(random, reversedShare)) return;
    const reversedMs = occurredMs + wholeNumber(random, 8, 20) * msPerDay;
    this.#report([5, acceptanceMs(reversedMs), ...booking, reversedMs]);
  }

  /** Adds a reversal of revenue that a click confirmed. */
  #addClickReversal(sub: Buffer, offer: DemoOffer, random: Random, clickedMs: number): void {
    const { id, lenderName, clickValueMicros } = offer;
    const occurredMs = clickedMs + wholeNumber(random, 1, 5) * msPerDay;
    const booking = [sub, id, lenderName, this.#nextTxid(), clickValueMicros, occurredMs] as const;
    const reason = reversalReasons.indexOf(chance(random, 0.5) ? 'duplicate' : 'out_of_area');
    this.#report([5, occurredMs + clickReversalDays * msPerDay, ...booking, reason]);
  }

  #report(record: RevenueConfirmedRecord | RevenueReversedRecord): void {
    const { endMs } = this.#options;
    const [, acceptedMs, , , , , , occurredMs] = record;
    if (acceptedMs <= endMs) this.#add(record);
    else if (occurredMs < endMs) this.#unreported.push(record);
  }

  #add(record: LedgerRecord): void {
    this.#options.records.add(record);
  }

  #nextWidgetId(): Buffer {
    const bytes = Buffer.alloc(widgetIdLength);
    bytes.writeUInt32BE(++this.#counter, widgetIdLength - 4);
    return bytes;
  }

  #nextTxid(): string {
    return `demo-${this.#options.vertical.number}-${++this.#counter}`;
  }
}

/** Draws one or two of the shown offers. Offers at the top of the list are clicked more often. */
function drawClickedOffers(random: Random, shown: readonly DemoOffer[]): DemoOffer[] {
  const first = Math.floor(random() ** 2 * shown.length);
  const clicked = [shown[first]!];
  if (chance(random, secondClickShare)) clicked.push(shown[(first + 1) % shown.length]!);
  return clicked;
}

const tuesday = 5;
const processingDays = 4;

/** Returns the time of the lender's first weekly file, on a Tuesday at 9:00 UTC, at least four days after the payout. */
function acceptanceMs(occurredMs: number): number {
  const earliest = daysSinceEpoch(occurredMs) + processingDays + 1;
  return dayStartMs(earliest + ((tuesday - (earliest % 7) + 7) % 7)) + 9 * msPerHour;
}

function toWholeCents(micros: number): number {
  return Math.round(micros / 10_000) * 10_000;
}
