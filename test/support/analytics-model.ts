import type {
  CohortQuery,
  DayFigures,
  Figures,
  RowsPage,
  RowsQuery,
  SessionRow,
  SummaryFigures,
  SummaryQuery,
} from '../../src/analytics/analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { dayOf } from '../../src/domain/calendar.ts';
import type { LedgerRecord } from '../../src/events/ledger-record.ts';
import { decodeSubId } from '../../src/sessions/sub-id.ts';

interface ModelSession {
  readonly position: number;
  readonly tag: string;
  readonly device: number;
  readonly metadata: string | null;
  lastEventMs: number;
  views: number;
  readonly shown: Set<string>;
  readonly clicks: Map<string, { readonly lender: string; readonly micros: number }>;
}

/** The counting rules of D10 and D12 once more, as plainly as can be: everything in memory, every answer from all sessions. */
export class AnalyticsModel {
  readonly #sessions = new Map<string, ModelSession>();
  #asOfMs: number | null = null;
  #position = 0;

  record(record: LedgerRecord): void {
    const id = Buffer.from(record[2]).toString('hex');
    const session = this.#sessions.get(id);
    this.#asOfMs = record[1];
    this.#position++;
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
          clicks: new Map(),
        });
      }
    } else if (session === undefined) {
      return;
    } else if (record[0] === 2) {
      session.views++;
      session.lastEventMs = Math.max(session.lastEventMs, record[1]);
      for (const offer of record[4]) session.shown.add(offer);
    } else {
      const { createdMs, mode } = decodeSubId(record[2]);
      const inTime = record[1] - createdMs <= bounds.clickAttributedMs;
      if (session.shown.has(record[4]) && !session.clicks.has(record[4]) && inTime) {
        session.clicks.set(record[4], { lender: record[5], micros: mode === 'test' ? 0 : record[6] });
        session.lastEventMs = Math.max(session.lastEventMs, record[1]);
      }
    }
  }

  summary(query: SummaryQuery): SummaryFigures {
    const all = { ...none };
    const matured = { sessions: 0, confirmedMicros: 0, confirmedUsdSquared: 0 };
    const devices = new Map<number, Figures & { device: number }>();
    const lenders: string[] = [];
    let subsOutsideDates = 0;
    for (const [id, session] of this.#sessions) {
      const { account, vertical, mode, createdMs } = decodeSubId(Buffer.from(id, 'hex'));
      if (account !== query.account || vertical !== query.vertical || mode !== query.mode) continue;
      if (query.referrerTag !== null && query.referrerTag !== session.tag) continue;
      if (query.subs !== null && !query.subs.some((sub) => Buffer.from(sub).toString('hex') === id)) continue;
      const day = dayOf(createdMs);
      if (day < query.fromDay || day > query.toDay) {
        if (query.subs !== null) subsOutsideDates++;
        continue;
      }
      const clicks = [...session.clicks.values()];
      const device = devices.get(session.device) ?? { device: session.device, ...none };
      const attributedMicros = clicks.reduce((sum, { micros }) => sum + micros, 0);
      const figures = {
        sessions: 1,
        views: session.views,
        clicks: clicks.length,
        attributedMicros,
        confirmedMicros: 0,
      };
      for (const name of ['sessions', 'views', 'clicks', 'attributedMicros'] as const) {
        all[name] += figures[name];
        Object.assign(device, { [name]: device[name] + figures[name] });
      }
      devices.set(session.device, device);
      for (const { lender } of clicks) lenders.push(lender);
      if (query.today - day > bounds.maturedDays) matured.sessions++;
    }
    const topLenders = byLender(lenders).slice(0, bounds.topLendersMax);
    const byDevice = [...devices.values()].sort((a, b) => a.device - b.device);
    return { ...all, topLenders, byDevice, matured, subsOutsideDates, asOfMs: this.#asOfMs };
  }

  daily(query: SummaryQuery): DayFigures[] {
    const days: DayFigures[] = [];
    for (let day = query.fromDay; day <= query.toDay; day++) {
      const { sessions, views, clicks, attributedMicros, confirmedMicros } = this.summary({
        ...query,
        fromDay: day,
        toDay: day,
      });
      const matured = query.today - day > bounds.maturedDays;
      days.push({ day, sessions, views, clicks, attributedMicros, confirmedMicros, matured });
    }
    return days;
  }

  rows(query: RowsQuery): RowsPage {
    const behind = this.#allRows(query).filter(({ position }) => position > query.afterPosition);
    const page = behind.slice(0, query.limit);
    return {
      rows: page.map(({ row }) => row),
      next: behind.length > page.length ? page.at(-1)!.position : null,
    };
  }

  #allRows(query: CohortQuery): { position: number; row: SessionRow }[] {
    const rows: { position: number; row: SessionRow }[] = [];
    for (const [id, session] of this.#sessions) {
      const sub = Buffer.from(id, 'hex');
      const { account, vertical, mode, createdMs } = decodeSubId(sub);
      const day = dayOf(createdMs);
      if (account !== query.account || vertical !== query.vertical || mode !== query.mode) continue;
      if (query.referrerTag !== null && query.referrerTag !== session.tag) continue;
      if (query.subs !== null && !query.subs.some((wanted) => Buffer.compare(wanted, sub) === 0)) continue;
      if (day < query.fromDay || day > query.toDay) continue;
      const clicks = [...session.clicks.values()];
      const { position, tag, device, metadata, views, lastEventMs } = session;
      const row = {
        sub: Uint8Array.from(sub),
        referrerTag: tag,
        device,
        metadata,
        views,
        clicks: clicks.length,
        attributedMicros: clicks.reduce((sum, { micros }) => sum + micros, 0),
        confirmedMicros: 0,
        lastEventMs,
        lenders: byLender(clicks.map(({ lender }) => lender)),
      };
      rows.push({ position, row });
    }
    return rows;
  }
}

/** Clicks by lender, in the order of answers. */
function byLender(lenders: readonly string[]): { lender: string; clicks: number; confirmedMicros: number }[] {
  const clicks = new Map<string, number>();
  for (const lender of lenders) clicks.set(lender, (clicks.get(lender) ?? 0) + 1);
  return [...clicks]
    .map(([lender, clicks]) => ({ lender, clicks, confirmedMicros: 0 }))
    .sort((a, b) => b.clicks - a.clicks || (a.lender < b.lender ? -1 : 1));
}

const none = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };
