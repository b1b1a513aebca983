import assert from 'node:assert/strict';
import {
  type AnalyticsTenant,
  type CohortFilter,
  type CohortMetrics,
  type CohortQuery,
  type DailyAnalyticsResult,
  type OfferMetrics,
  type OffersPage,
  type OfferTotal,
  type SessionRowsPage,
  type SessionRowsQuery,
  type SummaryQuery,
  type SummaryResult,
  sessionOrders,
  type TagMetrics,
  type TagsPage,
} from '../../src/analytics/analytics.ts';
import type { AnalyticsStore } from '../../src/analytics/analytics-store.ts';
import { emptyRecordCounts } from '../../src/analytics/projection-state.ts';
import { daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import { decodeSubId } from '../../src/ids/sub-id.ts';
import {
  type ExperimentRecord,
  isExperimentRecord,
  type LedgerRecord,
  type RevenueConfirmedRecord,
  type RevenueReversedRecord,
  unbookedReasons,
  type WidgetEventType,
  widgetEventTypes,
} from '../../src/ledger/ledger-record.ts';

export interface ModelSession {
  readonly sub: Uint8Array;
  readonly tenant: ReturnType<typeof decodeSubId>;
  /** Day of the creation. */
  readonly day: number;
  readonly position: number;
  readonly tag: string;
  readonly device: number;
  readonly metadata: string | null;
  /** Hash of the unit_id as hexadecimal digits; null without one. */
  readonly unit: string | null;
  readonly isMisassigned: boolean;
  lastEventMs: number;
  views: number;
  readonly shown: Set<string>;
  /** Offers that were counted as shown, each with its position. */
  readonly shownAt: { readonly offer: string; readonly position: number }[];
  readonly widgetEvents: WidgetEventType[];
  readonly clicks: Map<string, ModelClick>;
  /** Payouts and reversals by kind, offer and txid. */
  readonly transactions: Map<string, Transaction>;
  /** Changes of the confirmed revenue, in ledger order. */
  readonly revenueChanges: RevenueChange[];
}

/** A payout, revenue that a click confirmed itself, or a reversal of one of them. */
export interface RevenueChange {
  /** Identifies the payout, which a reversal has too. */
  readonly payout: string;
  /** Negative for a reversal. */
  readonly micros: number;
  readonly occurredMs: number;
  /** Time at which the service accepted the change. */
  readonly acceptedMs: number;
}

interface ModelClick {
  readonly lender: string;
  micros: number;
  atMs: number;
  isBooked: boolean;
  /** Revenue that the click confirmed itself; null if lenders confirm its revenue. */
  ownMicros: number | null;
  /** Flat payout in the record of the click, or in the confirmation that restored it. */
  readonly payoutMicros: number | null;
  /** Reasons for which the click was counted without revenue. */
  readonly reasons: Set<number>;
}

interface Transaction {
  readonly reason: number | undefined;
  readonly kind: 4 | 5;
  readonly offer: string;
  readonly micros: number;
  readonly occurredMs: number;
}

/** In-memory implementation of docs/contract.md#counting-clicks and docs/contract.md#cohorts, independent of the service. */
export class AnalyticsModel {
  readonly #sessions = new Map<string, ModelSession>();
  #asOfMs: number | null = null;
  #retainedFromDay = 0;
  readonly totals = { ...emptyRecordCounts };

  /** Deletes the sessions created before a day. Their totals are final; queries for rows or sub_ids no longer include them. */
  retainFrom(retainedFromDay: number): void {
    this.#retainedFromDay = Math.max(this.#retainedFromDay, retainedFromDay);
  }

  record(record: LedgerRecord, position = this.totals.records + 1): void {
    const id = Buffer.from(record[2]).toString('hex');
    const session = this.#sessions.get(id);
    const tenant = decodeSubId(record[2]);
    const day = daysSinceEpoch(tenant.createdMs);
    this.#asOfMs = record[1];
    this.totals.records++;
    if (isExperimentRecord(record)) {
      return;
    } else if (day < this.#retainedFromDay) {
      this.totals.sealedSession++;
    } else if (record[0] === 1) {
      if (session !== undefined) this.totals.repeatedSession++;
      else {
        const [, wallMs, sub, tag, , device, metadata, , , unit, isMisassigned = false] = record;
        this.#sessions.set(id, {
          sub: Uint8Array.from(sub),
          tenant,
          day,
          position,
          tag,
          device,
          metadata,
          lastEventMs: wallMs,
          views: 0,
          unit: unit === undefined ? null : Buffer.from(unit).toString('hex'),
          isMisassigned,
          revenueChanges: [],
          shown: new Set(),
          shownAt: [],
          widgetEvents: [],
          clicks: new Map(),
          transactions: new Map(),
        });
      }
    } else if (session === undefined) {
      this.totals.unknownSession++;
    } else if (this.#isCounted(session, record)) {
      session.lastEventMs = Math.max(session.lastEventMs, record[1]);
    }
  }

  #isCounted(session: ModelSession, record: Exclude<LedgerRecord, { readonly 0: 1 } | ExperimentRecord>): boolean {
    const { mode, createdMs } = session.tenant;
    if (record[0] === 2) {
      if (record[6] !== true) session.views++;
      for (const [position, offer] of record[4].entries()) {
        if (record[6] !== true || !session.shown.has(offer)) session.shownAt.push({ offer, position });
        session.shown.add(offer);
      }
    } else if (record[0] === 3) {
      const [, atMs, , , offer, lender, micros, isBooked, reason, confirms, payoutMicros = null] = record;
      const earlier = session.clicks.get(offer);
      const isLate = atMs - createdMs > msPerDay;
      // Earlier releases wrote at most eight items.
      const isFinal = record.length > 8 && reason !== undefined;
      const reasonIndex = isBooked === false ? (reason ?? 0) : -1;
      const ignored = !session.shown.has(offer)
        ? 'unshownClicks'
        : earlier === undefined && isLate
          ? 'lateClicks'
          : (isFinal ? isBooked === null : earlier !== undefined) ||
              (earlier !== undefined &&
                (isLate ||
                  earlier.isBooked ||
                  typeof isBooked !== 'boolean' ||
                  earlier.reasons.has(reasonIndex) ||
                  reasonIndex >= unbookedReasons.length))
            ? 'duplicateClicks'
            : null;
      if (ignored !== null) {
        this.totals[ignored]++;
        return false;
      }
      const unbooked = {
        lender,
        micros: 0,
        atMs,
        isBooked: false,
        ownMicros: null,
        payoutMicros,
        reasons: new Set<number>(),
      };
      const click: ModelClick = earlier ?? unbooked;
      if (isBooked === false) {
        if (reasonIndex < unbookedReasons.length) click.reasons.add(reasonIndex);
      } else {
        click.isBooked = true;
        click.micros = mode === 'test' ? 0 : micros;
        click.atMs = atMs;
        if (confirms === true && confirmedMicros(session, offer) === 0) {
          click.ownMicros = Math.min(click.micros, 100_000_000_000 - confirmedMicros(session));
          const change = { payout: offer, micros: click.ownMicros, occurredMs: atMs, acceptedMs: atMs };
          session.revenueChanges.push(change);
        }
      }
      session.clicks.set(offer, click);
    } else if (record[0] === 6) {
      for (const type of record[5]) if (widgetEventTypes[type]) session.widgetEvents.push(widgetEventTypes[type]);
    } else {
      const outcome = mode === 'test' ? 'unsound' : confirm(session, record);
      if (outcome !== 'accepted') {
        this.totals[`${outcome}Confirmations`]++;
        return false;
      }
    }
    return true;
  }

  summary(query: SummaryQuery): SummaryResult {
    const sessions = this.#select(query).filter(({ day }) => query.subs === null || day >= this.#retainedFromDay);
    const inDates = sessions.filter(({ day }) => day >= query.fromDay && day <= query.toDay);
    const maturedFromDay = query.maturedFromDay ?? query.fromDay;
    const matured = sessions.filter(({ day }) => query.today - day > 45 && day >= maturedFromDay && day <= query.toDay);
    const centsSquared = sum(matured, (session) => Math.round(confirmedMicros(session) / 10_000) ** 2);
    return {
      ...metricsOf(inDates),
      topLenders: byLender(inDates).slice(0, 20),
      unbookedClicks: unbookedReasons.map((_, reason) =>
        sum(inDates, ({ clicks }) => sum(clicks.values(), ({ reasons }) => (reasons.has(reason) ? 1 : 0))),
      ),
      widgetEvents: widgetEventTypes.map((type) =>
        sum(inDates, ({ widgetEvents }) => widgetEvents.filter((event) => event === type).length),
      ),
      byDevice: [...Map.groupBy(inDates, ({ device }) => device)]
        .sort(([a], [b]) => a - b)
        .map(([device, ofDevice]) => ({ device, ...metricsOf(ofDevice) })),
      matured: {
        sessions: matured.length,
        sessionsWithRevenue: matured.filter((session) => confirmedMicros(session) > 0).length,
        confirmedMicros: sum(matured, (session) => confirmedMicros(session)),
        confirmedUsdSquared: centsSquared / 10_000,
      },
      subsOutsideDates: query.subs === null ? 0 : sessions.length - inDates.length,
      ...this.#coverage(query),
      asOfMs: this.#asOfMs,
    };
  }

  daily(query: SummaryQuery): DailyAnalyticsResult {
    const days = Array.from({ length: query.toDay - query.fromDay + 1 }, (_, index) => {
      const day = query.fromDay + index;
      const summary = this.summary({ ...query, fromDay: day, toDay: day });
      const { sessions, views, clicks, attributedMicros, confirmedMicros, unbookedClicks, widgetEvents } = summary;
      const metrics = { sessions, views, clicks, attributedMicros, confirmedMicros };
      return { day, ...metrics, unbookedClicks, widgetEvents, matured: query.today - day > 45 };
    });
    return { days, ...this.#coverage(query) };
  }

  rows(query: SessionRowsQuery): SessionRowsPage {
    const fromDay = Math.max(query.fromDay, this.#retainedFromDay);
    const after =
      query.afterPosition === 0 && query.order === 'newest' ? Number.POSITIVE_INFINITY : query.afterPosition;
    const remaining = this.#select(query).filter(
      ({ day, position }) =>
        day >= fromDay && day <= query.toDay && (query.order === 'oldest' ? position > after : position < after),
    );
    if (query.order === 'newest') remaining.reverse();
    const page = remaining.slice(0, query.limit);
    return {
      rows: page.map((session) => {
        const { sessions: _, ...metrics } = metricsOf([session]);
        const { sub, tag, device, metadata, lastEventMs } = session;
        return { sub, referrerTag: tag, device, metadata, ...metrics, lastEventMs, lenders: byLender([session]) };
      }),
      ...this.#coverage(query),
      nextAfterPosition: remaining.length > page.length ? page.at(-1)!.position : null,
    };
  }

  /** All sessions in ledger order. */
  get sessions(): ModelSession[] {
    return [...this.#sessions.values()];
  }

  /** Returns the figures of every offer that was shown to the sessions of a tag, in alphabetical order. */
  offers(query: CohortQuery): OfferMetrics[] {
    const sessions = this.#select(query).filter(({ day }) => day >= query.fromDay && day <= query.toDay);
    const shown = sessions.flatMap(({ shownAt }) => shownAt);
    return [...Map.groupBy(shown, ({ offer }) => offer)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([offerId, places]) => {
        const clicked = sessions.filter(({ clicks }) => clicks.has(offerId)).sort((a, b) => b.day - a.day);
        const clickOf = ({ clicks }: ModelSession) => clicks.get(offerId)!;
        return {
          offerId,
          shownByPosition: Array.from({ length: 20 }, (_, index) =>
            sum(places, ({ position }) => (Math.min(position, 19) === index ? 1 : 0)),
          ),
          clicks: clicked.length,
          attributedMicros: sum(clicked, (session) => clickOf(session).micros),
          confirmedMicros: sum(clicked, (session) => confirmedMicros(session, offerId)),
          lender: clicked[0] === undefined ? null : clickOf(clicked[0]).lender,
        };
      });
  }

  /** Returns the figures of every offer that was shown to the sessions of a vertical and mode, over all accounts and tags. */
  offerTotals({ vertical, mode, fromDay, toDay }: CohortQuery): OfferTotal[] {
    const sessions = this.sessions.filter(
      ({ tenant, day }) => tenant.vertical === vertical && tenant.mode === mode && day >= fromDay && day <= toDay,
    );
    const shown = sessions.flatMap(({ shownAt }) => shownAt);
    return [...Map.groupBy(shown, ({ offer }) => offer)].map(([offerId, places]) => {
      const clicked = sessions.filter(({ clicks }) => clicks.has(offerId));
      return {
        offerId,
        shown: places.length,
        clicks: clicked.length,
        attributedMicros: sum(clicked, ({ clicks }) => clicks.get(offerId)!.micros),
        confirmedMicros: sum(clicked, (session) => confirmedMicros(session, offerId)),
      };
    });
  }

  /** Returns the figures of every tag of a tenant, in alphabetical order. */
  tags(tenant: AnalyticsTenant): TagMetrics[] {
    const sessions = this.#select({ ...tenant, referrerTag: null, subs: null });
    return [...Map.groupBy(sessions, ({ tag }) => tag)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([tag, ofTag]) => {
        const createdMs = ofTag.map((session) => session.tenant.createdMs);
        const times = { firstSessionMs: Math.min(...createdMs), lastSessionMs: Math.max(...createdMs) };
        return { tag, ...times, ...metricsOf(ofTag) };
      });
  }

  #coverage(query: CohortFilter) {
    const { referrerTag } = query;
    const tagHasSessions = referrerTag === null || this.tags(query).some(({ tag }) => tag === referrerTag);
    return { retainedFromDay: this.#retainedFromDay, tagHasSessions };
  }

  /** Checks the results of the queries: summary, daily figures, and rows and tags with pages of different lengths. */
  assertFigures(
    store: Pick<
      AnalyticsStore,
      'getSummary' | 'listDailyAnalytics' | 'listSessions' | 'listOffers' | 'listOfferTotals' | 'listTags'
    >,
    queries: readonly SummaryQuery[],
    asOfMs = this.#asOfMs,
  ): void {
    for (const query of queries) {
      assert.deepEqual(store.getSummary(query), { ...this.summary(query), asOfMs });
      assert.deepEqual(store.listDailyAnalytics(query), this.daily(query));
      const offerTotals = this.offerTotals(query);
      const offerIds = offerTotals.map(({ offerId }) => offerId);
      assert.deepEqual(store.listOfferTotals({ ...query, offerIds }), offerTotals);
      for (const limit of [1, 4, 100]) {
        for (const order of sessionOrders) {
          for (let afterPosition: number | null = 0; afterPosition !== null; ) {
            const page = store.listSessions({ ...query, order, afterPosition, limit });
            assert.deepEqual(page, this.rows({ ...query, order, afterPosition, limit }));
            const next = page.nextAfterPosition;
            assert(next === null || afterPosition === 0 || next > afterPosition === (order === 'oldest'));
            afterPosition = next;
          }
        }
        const { referrerTag, subs } = query;
        if (referrerTag !== null && subs === null) {
          const offers: OfferMetrics[] = [];
          for (let afterOfferId: string | null = ''; afterOfferId !== null; ) {
            const page: OffersPage = store.listOffers({ ...query, referrerTag, subs, afterOfferId, limit });
            const { offers: found, nextAfterOfferId, ...coverage } = page;
            assert.deepEqual(coverage, { ...this.#coverage(query), offersFromDay: 0 });
            offers.push(...found);
            assert(nextAfterOfferId === null || found.length === limit);
            afterOfferId = nextAfterOfferId;
          }
          assert.deepEqual(offers, this.offers(query));
        }
        const { account, vertical, mode } = query;
        const tags: TagMetrics[] = [];
        for (let afterTag: string | null = ''; afterTag !== null; ) {
          const page: TagsPage = store.listTags({ account, vertical, mode, afterTag, limit });
          tags.push(...page.tags);
          assert(page.nextAfterTag === null || page.tags.length === limit);
          afterTag = page.nextAfterTag;
        }
        assert.deepEqual(tags, this.tags(query));
      }
    }
  }

  /** Returns the sessions of the query's tenant, tag and sub_ids in ledger order. */
  #select({ account, vertical, mode, referrerTag, subs }: CohortFilter): ModelSession[] {
    const listed = subs && new Set(subs.map((sub) => Buffer.from(sub).toString('hex')));
    return [...this.#sessions].flatMap(([id, session]) => {
      const { tenant, tag } = session;
      if (tenant.account !== account || tenant.vertical !== vertical || tenant.mode !== mode) return [];
      if (referrerTag !== null && referrerTag !== tag) return [];
      return listed === null || listed.has(id) ? [session] : [];
    });
  }
}

function confirm(
  session: ModelSession,
  record: RevenueConfirmedRecord | RevenueReversedRecord,
): 'accepted' | 'repeated' | 'unsound' {
  const [kind, wallMs, , offer, lender, txid, micros, occurredMs] = record;
  // Reasons of a later release count as `other`.
  const reason = record[0] === 5 && record[8] !== undefined ? Math.min(record[8], 4) : undefined;
  const [evidenceMs, value] = record[0] === 4 ? [record[8], record[9]] : [null, null];
  // Undefined in the records of earlier releases and of verticals without flat payouts.
  const flat = record[0] === 4 ? record[10] : undefined;
  const { transactions } = session;
  const key = `${reason === undefined ? kind : 'click'} ${offer} ${txid}`;
  const first = transactions.get(key);
  if (first !== undefined) {
    const isSame = first.micros === micros && first.occurredMs === occurredMs && first.reason === reason;
    return isSame ? 'repeated' : 'unsound';
  }
  let click = session.clicks.get(offer);
  if (click === undefined && evidenceMs !== null && evidenceMs - session.tenant.createdMs <= msPerDay) {
    const booked = {
      micros: value ?? 0,
      atMs: evidenceMs,
      isBooked: true,
      ownMicros: null,
      payoutMicros: flat ?? null,
    };
    click = { lender, ...booked, reasons: new Set() };
  }
  if (click === undefined || !session.shown.has(offer)) return 'unsound';
  // Accepts times up to 5 seconds early or late, for clock skew.
  if (occurredMs < click.atMs - 5_000 || occurredMs > wallMs + 5_000 || wallMs - click.atMs > 90 * msPerDay)
    return 'unsound';
  if (kind === 4 && click.ownMicros !== null) return 'unsound';
  if (kind === 4 && (flat !== undefined || click.payoutMicros !== null)) {
    const isFunded = [...transactions.values()].some((each) => each.kind === 4 && each.offer === offer);
    if (isFunded || micros !== (click.payoutMicros ?? micros)) return 'unsound';
  }
  const limit =
    kind === 4
      ? 100_000_000_000 - confirmedMicros(session)
      : reason === undefined
        ? (transactions.get(`4 ${offer} ${txid}`)?.micros ?? 0)
        : click.ownMicros === null
          ? 0
          : confirmedMicros(session, offer);
  if (micros > limit) return 'unsound';
  transactions.set(key, { kind, offer, micros, occurredMs, reason });
  session.revenueChanges.push({
    payout: reason === undefined ? `${offer} ${txid}` : offer,
    micros: kind === 4 ? micros : -micros,
    occurredMs,
    acceptedMs: wallMs,
  });
  session.clicks.set(offer, click);
  return 'accepted';
}

function sum<Item>(items: Iterable<Item>, read: (item: Item) => number): number {
  let total = 0;
  for (const item of items) total += read(item);
  return total;
}

function metricsOf(sessions: readonly ModelSession[]): CohortMetrics {
  return {
    sessions: sessions.length,
    views: sum(sessions, ({ views }) => views),
    clicks: sum(sessions, ({ clicks }) => clicks.size),
    attributedMicros: sum(sessions, ({ clicks }) => sum(clicks.values(), ({ micros }) => micros)),
    confirmedMicros: sum(sessions, (session) => confirmedMicros(session)),
  };
}

/** Returns clicks and revenue by lender, in the order of query results. */
function byLender(sessions: readonly ModelSession[]) {
  const clicks = sessions.flatMap((session) =>
    [...session.clicks].map(([offer, { lender }]) => ({ lender, confirmedMicros: confirmedMicros(session, offer) })),
  );
  return [...Map.groupBy(clicks, ({ lender }) => lender)]
    .map(([lender, ofLender]) => ({
      lender,
      clicks: ofLender.length,
      confirmedMicros: sum(ofLender, ({ confirmedMicros }) => confirmedMicros),
    }))
    .sort((a, b) => b.clicks - a.clicks || (a.lender < b.lender ? -1 : 1));
}

/** Returns payouts and revenue confirmed by clicks, minus reversals, of a session or of one of its offers, in micro-dollars. */
function confirmedMicros({ clicks, transactions }: ModelSession, offer?: string): number {
  const counted = [...transactions.values()].filter((each) => offer === undefined || each.offer === offer);
  const own = [...clicks].filter(([clicked]) => offer === undefined || clicked === offer);
  return (
    sum(own, ([, { ownMicros }]) => ownMicros ?? 0) +
    sum(counted, ({ kind, micros }) => (kind === 4 ? micros : -micros))
  );
}
