import type {
  CohortMetrics,
  CohortQuery,
  DailyResult,
  DayMetrics,
  SessionRowsPage,
  SessionRowsQuery,
  SummaryQuery,
  SummaryResult,
} from '../../src/analytics/analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { dayMs, dayNumberOf } from '../../src/domain/calendar.ts';
import { decodeSubId } from '../../src/ids/sub-id.ts';
import {
  type LedgerRecord,
  type RevenueConfirmed,
  type RevenueReversed,
  type WidgetEventType,
  widgetEventTypes,
} from '../../src/ledger/ledger-record.ts';

interface ModelSession {
  readonly position: number;
  readonly tag: string;
  readonly device: number;
  readonly metadata: string | null;
  lastEventMs: number;
  views: number;
  readonly shown: Set<string>;
  readonly widgetEvents: WidgetEventType[];
  readonly clicks: Map<string, { readonly lender: string; readonly micros: number; readonly atMs: number }>;
  /** Payouts by offer and txid. */
  readonly payouts: Map<string, ModelPayout>;
}

interface ModelPayout {
  readonly offer: string;
  readonly micros: number;
  reversedMicros: number | null;
}

/** In-memory implementation of docs/contract.md#counting-clicks and docs/contract.md#cohorts, independent of the service. */
export class AnalyticsModel {
  readonly #sessions = new Map<string, ModelSession>();
  #asOfMs: number | null = null;
  #position = 0;
  #retainedFromDay = 0;

  /** Deletes the sessions created before a day. Their totals are final; queries for rows or sub_ids no longer include them. */
  retainFrom(retainedFromDay: number): void {
    this.#retainedFromDay = Math.max(this.#retainedFromDay, retainedFromDay);
  }

  record(record: LedgerRecord, position = this.#position + 1): void {
    const id = Buffer.from(record[2]).toString('hex');
    const session = this.#sessions.get(id);
    this.#asOfMs = record[1];
    this.#position = position;
    if (!this.#isRetained(record[2])) return;
    if (record[0] === 1) {
      if (session === undefined) {
        this.#sessions.set(id, {
          position: this.#position,
          tag: record[3],
          device: record[5],
          metadata: record[6],
          lastEventMs: record[1],
          views: 0,
          shown: new Set(),
          widgetEvents: [],
          clicks: new Map(),
          payouts: new Map(),
        });
      }
    } else if (session === undefined) {
      return;
    } else if (record[0] === 2) {
      if (record[6] !== true) session.views++;
      session.lastEventMs = Math.max(session.lastEventMs, record[1]);
      for (const offer of record[4]) session.shown.add(offer);
    } else if (record[0] === 3) {
      const [, wallMs, sub, , offer, lender, micros] = record;
      const { createdMs, mode } = decodeSubId(sub);
      const inTime = wallMs - createdMs <= bounds.clickAttributionMs;
      if (session.shown.has(offer) && !session.clicks.has(offer) && inTime) {
        session.clicks.set(offer, { lender, micros: mode === 'test' ? 0 : micros, atMs: wallMs });
        session.lastEventMs = Math.max(session.lastEventMs, wallMs);
      }
    } else if (record[0] === 6) {
      session.lastEventMs = Math.max(session.lastEventMs, record[1]);
      for (const type of record[5]) if (widgetEventTypes[type]) session.widgetEvents.push(widgetEventTypes[type]);
    } else if (decodeSubId(record[2]).mode === 'live') {
      this.#applyConfirmation(session, record);
    }
  }

  #applyConfirmation(session: ModelSession, record: RevenueConfirmed | RevenueReversed): void {
    const [kind, wallMs, sub, offer, lender, txid, micros, occurredMs, evidenceMs = null, value = null] = record;
    const createdMs = decodeSubId(sub).createdMs;
    const payout = session.payouts.get(`${offer} ${txid}`);
    let click = session.clicks.get(offer);
    if (click === undefined && evidenceMs !== null && evidenceMs - createdMs <= bounds.clickAttributionMs) {
      click = { lender, micros: value ?? 0, atMs: evidenceMs };
    }
    if (click === undefined || !session.shown.has(offer)) return;
    // Accepts times up to 5 seconds early or late, for clock skew.
    if (occurredMs < click.atMs - 5_000 || occurredMs > wallMs + 5_000 || wallMs - click.atMs > 90 * dayMs) return;
    if (kind === 5) {
      if (payout === undefined || payout.reversedMicros !== null || micros > payout.micros) return;
      payout.reversedMicros = micros;
    } else {
      if (payout !== undefined || confirmedMicros(session) + micros > 100_000_000_000) return;
      session.payouts.set(`${offer} ${txid}`, { offer, micros, reversedMicros: null });
      session.clicks.set(offer, click);
    }
    session.lastEventMs = Math.max(session.lastEventMs, wallMs);
  }

  #isRetained(sub: Uint8Array): boolean {
    return dayNumberOf(decodeSubId(sub).createdMs) >= this.#retainedFromDay;
  }

  summary(query: SummaryQuery): SummaryResult {
    const all = { ...none };
    const matured = { sessions: 0, confirmedMicros: 0, confirmedUsdSquared: 0 };
    const devices = new Map<number, CohortMetrics & { device: number }>();
    let centsSquared = 0;
    const lenders: LenderShare[] = [];
    const events: WidgetEventType[] = [];
    let subsOutsideDates = 0;
    for (const { sub, session, day } of this.#select(query)) {
      if (query.subs !== null && !this.#isRetained(sub)) continue;
      const figures = { sessions: 1, ...figuresOf(session) };
      const isMatured = query.today - day > bounds.maturedDays;
      if (isMatured && day >= (query.maturedFromDay ?? query.fromDay) && day <= query.toDay) {
        matured.sessions++;
        matured.confirmedMicros += figures.confirmedMicros;
        centsSquared += Math.round(figures.confirmedMicros / 10_000) ** 2;
      }
      if (day < query.fromDay || day > query.toDay) {
        if (query.subs !== null) subsOutsideDates++;
        continue;
      }
      const device = devices.get(session.device) ?? { device: session.device, ...none };
      for (const name of ['sessions', 'views', 'clicks', 'attributedMicros', 'confirmedMicros'] as const) {
        all[name] += figures[name];
        Object.assign(device, { [name]: device[name] + figures[name] });
      }
      devices.set(session.device, device);
      lenders.push(...lenderShares(session));
      events.push(...session.widgetEvents);
    }
    matured.confirmedUsdSquared = centsSquared / 10_000;
    return {
      ...all,
      topLenders: byLender(lenders).slice(0, bounds.topLendersMax),
      widgetEvents: widgetEventTypes.map((type) => events.filter((event) => event === type).length),
      byDevice: [...devices.values()].sort((a, b) => a.device - b.device),
      matured,
      subsOutsideDates,
      retainedFromDay: this.#retainedFromDay,
      asOfMs: this.#asOfMs,
    };
  }

  daily(query: SummaryQuery): DailyResult {
    const days: DayMetrics[] = [];
    for (let day = query.fromDay; day <= query.toDay; day++) {
      const summary = this.summary({ ...query, fromDay: day, toDay: day });
      const { sessions, views, clicks, attributedMicros, confirmedMicros, widgetEvents } = summary;
      const matured = query.today - day > bounds.maturedDays;
      days.push({ day, sessions, views, clicks, attributedMicros, confirmedMicros, widgetEvents, matured });
    }
    return { days, retainedFromDay: this.#retainedFromDay };
  }

  rows(query: SessionRowsQuery): SessionRowsPage {
    const remaining = [...this.#select(query)].filter(
      ({ sub, session, day }) =>
        day >= query.fromDay && day <= query.toDay && this.#isRetained(sub) && session.position > query.afterPosition,
    );
    const page = remaining.slice(0, query.limit);
    return {
      rows: page.map(({ sub, session }) => ({
        sub: Uint8Array.from(sub),
        referrerTag: session.tag,
        device: session.device,
        metadata: session.metadata,
        ...figuresOf(session),
        lastEventMs: session.lastEventMs,
        lenders: byLender(lenderShares(session)),
      })),
      retainedFromDay: this.#retainedFromDay,
      nextAfterPosition: remaining.length > page.length ? page.at(-1)!.session.position : null,
    };
  }

  /** Yields the sessions of the query's tenant, tag and sub_ids in ledger order, with the day of their creation. */
  *#select(
    query: CohortQuery,
  ): Generator<{ readonly sub: Buffer; readonly session: ModelSession; readonly day: number }> {
    for (const [id, session] of this.#sessions) {
      const sub = Buffer.from(id, 'hex');
      const { account, vertical, mode, createdMs } = decodeSubId(sub);
      if (account !== query.account || vertical !== query.vertical || mode !== query.mode) continue;
      if (query.referrerTag !== null && query.referrerTag !== session.tag) continue;
      if (query.subs !== null && !query.subs.some((listed) => Buffer.compare(listed, sub) === 0)) continue;
      yield { sub, session, day: dayNumberOf(createdMs) };
    }
  }
}

function figuresOf(session: ModelSession): Omit<CohortMetrics, 'sessions'> {
  const clicks = [...session.clicks.values()];
  return {
    views: session.views,
    clicks: clicks.length,
    attributedMicros: clicks.reduce((sum, { micros }) => sum + micros, 0),
    confirmedMicros: confirmedMicros(session),
  };
}

interface LenderShare {
  readonly lender: string;
  readonly confirmedMicros: number;
}

/** Returns one share for each click of a session. */
function lenderShares(session: ModelSession): LenderShare[] {
  return [...session.clicks].map(([offer, { lender }]) => ({
    lender,
    confirmedMicros: confirmedMicros(session, offer),
  }));
}

/** Returns clicks and revenue by lender, in the order of query results. */
function byLender(shares: readonly LenderShare[]): { lender: string; clicks: number; confirmedMicros: number }[] {
  const sums = new Map<string, { clicks: number; confirmedMicros: number }>();
  for (const { lender, confirmedMicros } of shares) {
    const sum = sums.get(lender) ?? { clicks: 0, confirmedMicros: 0 };
    sums.set(lender, { clicks: sum.clicks + 1, confirmedMicros: sum.confirmedMicros + confirmedMicros });
  }
  return [...sums]
    .map(([lender, sum]) => ({ lender, ...sum }))
    .sort((a, b) => b.clicks - a.clicks || (a.lender < b.lender ? -1 : 1));
}

const none = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };

/** Returns payouts minus reversals of a session, or of one of its offers, in micro-dollars. */
function confirmedMicros(session: ModelSession, offer?: string): number {
  let sum = 0;
  for (const payout of session.payouts.values()) {
    if (offer === undefined || payout.offer === offer) sum += payout.micros - (payout.reversedMicros ?? 0);
  }
  return sum;
}
