import { bounds } from '../bounds.ts';
import { centsSquaredPerUsdSquared, squareCents } from '../domain/money.ts';
import { unbookedReasons, widgetEventTypes } from '../ledger/ledger-record.ts';
import type { CohortQuery, DailyAnalyticsResult, SummaryQuery, SummaryResult } from './analytics.ts';
import { unbookedClickColumns } from './analytics-database.ts';
import { addCounts, emptyUnbookedClickCounts, emptyWidgetCounts, lastMaturedCohortDay } from './counting-rules.ts';
import { isInDayRange, LenderRevenueTotals, SessionReader, type StoredSession } from './session-reader.ts';
import type { SqlDatabase } from './sql-database.ts';

type DayWindow = Pick<CohortQuery, 'fromDay' | 'toDay'>;

/** Sums of a cohort. `counts` are the clicks without revenue in the order of `unbookedReasons`, then events by `widgetEventTypes`. */
type Sums = [
  sessions: number,
  views: number,
  clicks: number,
  attributedMicros: number,
  confirmedMicros: number,
  ...counts: number[],
];

const zeroSumsWithoutEvents: Readonly<Sums> = [0, 0, 0, 0, 0, ...emptyUnbookedClickCounts];
const zeroSums: Readonly<Sums> = [...zeroSumsWithoutEvents, ...emptyWidgetCounts];

function toMetrics([sessions, views, clicks, attributedMicros, confirmedMicros, ...counts]: Readonly<Sums>) {
  const metrics = { sessions, views, clicks, attributedMicros, confirmedMicros };
  const unbookedClicks = counts.slice(0, unbookedReasons.length);
  return { metrics, counts: { unbookedClicks, widgetEvents: counts.slice(unbookedReasons.length) } };
}

/** Sums by day number, or by the number of the device class. */
type SumsByGroup = Map<number, Sums>;

function addSums(groups: SumsByGroup, group: number, sums: Readonly<Sums>): void {
  const before = groups.get(group);
  if (before === undefined) groups.set(group, [...sums]);
  else addCounts(before, sums);
}

type Group = 'day' | 'device';
const inWindow = (group: Group) => `WHERE tag_number = ? AND day BETWEEN ? AND ? GROUP BY ${group}`;
/** `total` returns a number also for a sum beyond 64 bits, for which `sum` fails. */
const sumColumns = (columns: readonly string[]) => columns.map((column) => `total(${column})`).join(', ');
const summedColumns = ['sessions', 'views', 'clicks', 'attributed_micros', 'confirmed_micros', ...unbookedClickColumns];
const selectSums = (group: Group) =>
  `SELECT ${group}, ${sumColumns(summedColumns)} FROM day_counter ${inWindow(group)}`;
const selectWidgetSums = (group: Group) =>
  `SELECT ${group}, ${sumColumns(widgetEventTypes)} FROM widget_counter ${inWindow(group)}`;
const selectSumsSql = { day: selectSums('day'), device: selectSums('device') };
const selectWidgetSumsSql = { day: selectWidgetSums('day'), device: selectWidgetSums('device') };

/** Reads the sums of a referrer tag from the daily counters. */
function readTagSums(database: SqlDatabase, tagNumber: number, { fromDay, toDay }: DayWindow, group: Group) {
  const range = [tagNumber, fromDay, toDay];
  const groups: SumsByGroup = new Map();
  for (const [number, ...sums] of database.rows<[number, ...Sums]>(selectSumsSql[group], range)) {
    groups.set(number, [...sums, ...emptyWidgetCounts]);
  }
  const widgetRows = database.rows<[number, ...number[]]>(selectWidgetSumsSql[group], range);
  for (const [number, ...events] of widgetRows) addSums(groups, number, [...zeroSumsWithoutEvents, ...events]);
  return groups;
}

type MaturedSums = Omit<SummaryResult['matured'], 'confirmedUsdSquared'> & { readonly centsSquared: number };

const zeroMatured: MaturedSums = { sessions: 0, sessionsWithRevenue: 0, confirmedMicros: 0, centsSquared: 0 };

const selectMaturedSql = `
  SELECT coalesce(sum(sessions), 0) AS sessions, total(confirmed_micros) AS confirmedMicros,
    total(confirmed_cents_squared) AS centsSquared,
    CASE WHEN count(revenue_sessions) = count(*) THEN coalesce(sum(revenue_sessions), 0) END AS sessionsWithRevenue
  FROM day_counter WHERE tag_number = ? AND day BETWEEN ? AND ?`;

const selectTopLendersSql = `
  SELECT name AS lender, sum(clicks) AS clicks, total(confirmed_micros) AS confirmedMicros
  FROM offer_counter JOIN lender ON number = lender
  WHERE tag_number = ? AND day BETWEEN ? AND ?
  GROUP BY number HAVING sum(clicks) > 0 ORDER BY sum(clicks) DESC, name LIMIT ${bounds.topLendersMax}`;

/** Parts of a summary, computed from the daily counters for a tag, and from the sessions for listed sub_ids. */
interface SummaryParts extends Pick<SummaryResult, 'topLenders' | 'subsOutsideDates'> {
  readonly devices: SumsByGroup;
  readonly matured: MaturedSums;
}

/** Reads a summary (docs/contract.md#summary). */
export function readSummary(database: SqlDatabase, query: SummaryQuery): SummaryResult {
  const reader = new SessionReader(database);
  const { fromDay, toDay, today, maturedFromDay = fromDay } = query;
  // If `toDay` is before `fromDay`, the window is empty.
  const maturedWindow = { fromDay: maturedFromDay, toDay: Math.min(toDay, lastMaturedCohortDay(today)) };
  const { devices, matured, topLenders, subsOutsideDates } =
    query.subs === null
      ? summarizeTag(database, reader.findTagNumber(query), query, maturedWindow)
      : summarizeSessions(reader, reader.findListedSessions(query, query.subs), query, maturedWindow);
  const total: Sums = [...zeroSums];
  for (const sums of devices.values()) addCounts(total, sums);
  const { metrics, counts } = toMetrics(total);
  const { centsSquared, ...maturedFigures } = matured;
  return {
    ...metrics,
    ...counts,
    byDevice: [...devices].sort(([a], [b]) => a - b).map(([device, sums]) => ({ device, ...toMetrics(sums).metrics })),
    matured: { ...maturedFigures, confirmedUsdSquared: centsSquared / centsSquaredPerUsdSquared },
    topLenders,
    subsOutsideDates,
    ...reader.getCoverage(query),
    asOfMs: database.value<number>('SELECT last_wall_ms FROM progress'),
  };
}

/** Reads daily figures (docs/contract.md#daily-figures). */
export function readDailyAnalytics(database: SqlDatabase, query: SummaryQuery): DailyAnalyticsResult {
  const reader = new SessionReader(database);
  const { fromDay, toDay, today, subs } = query;
  let groups: SumsByGroup = new Map();
  if (subs === null) {
    const tagNumber = reader.findTagNumber(query);
    if (tagNumber !== null) groups = readTagSums(database, tagNumber, query, 'day');
  } else {
    for (const session of reader.findListedSessions(query, subs)) {
      if (isInDayRange(session.day, query)) addSums(groups, session.day, sumsOfSession(reader, session));
    }
  }
  const maturedDay = lastMaturedCohortDay(today);
  const days = Array.from({ length: Math.max(0, toDay - fromDay + 1) }, (_, index) => {
    const day = fromDay + index;
    const { metrics, counts } = toMetrics(groups.get(day) ?? zeroSums);
    return { day, matured: day <= maturedDay, ...metrics, ...counts };
  });
  return { days, ...reader.getCoverage(query) };
}

function summarizeTag(
  database: SqlDatabase,
  tagNumber: number | null,
  window: DayWindow,
  maturedWindow: DayWindow,
): SummaryParts {
  const empty = { devices: new Map(), matured: zeroMatured, topLenders: [], subsOutsideDates: 0 };
  if (tagNumber === null) return empty;
  const { fromDay, toDay } = window;
  const maturedRange = [tagNumber, maturedWindow.fromDay, maturedWindow.toDay];
  return {
    ...empty,
    devices: readTagSums(database, tagNumber, window, 'device'),
    matured: database.object<MaturedSums>(selectMaturedSql, maturedRange)!,
    topLenders: database.objects(selectTopLendersSql, [tagNumber, fromDay, toDay]),
  };
}

function summarizeSessions(
  reader: SessionReader,
  sessions: Iterable<StoredSession>,
  window: DayWindow,
  maturedWindow: DayWindow,
): SummaryParts {
  const devices: SumsByGroup = new Map();
  const lenders = new LenderRevenueTotals();
  const matured = { ...zeroMatured, sessionsWithRevenue: 0 };
  let subsOutsideDates = 0;
  for (const session of sessions) {
    const inWindow = isInDayRange(session.day, window);
    const isMatured = isInDayRange(session.day, maturedWindow);
    if (!inWindow) subsOutsideDates++;
    if (!inWindow && !isMatured) continue;
    const sums = sumsOfSession(reader, session, inWindow ? lenders : undefined);
    if (inWindow) addSums(devices, session.device, sums);
    if (!isMatured) continue;
    const [, , , , confirmedMicros] = sums;
    matured.sessions++;
    if (confirmedMicros > 0) matured.sessionsWithRevenue++;
    matured.confirmedMicros += confirmedMicros;
    matured.centsSquared += squareCents(confirmedMicros);
  }
  const topLenders = lenders.toSortedLenderMetrics(reader.lenderNameOf).slice(0, bounds.topLendersMax);
  return { devices, matured, topLenders, subsOutsideDates };
}

/** Returns the sums of one session, and adds each of its clicks to `lenders`. */
function sumsOfSession(reader: SessionReader, session: StoredSession, lenders?: LenderRevenueTotals): Sums {
  const { views, clicks, widgetEvents } = session;
  const { attributedMicros, confirmedMicros, unbookedClicks } = reader.sumSessionRevenue(session, lenders);
  return [1, views, clicks, attributedMicros, confirmedMicros, ...unbookedClicks, ...widgetEvents];
}
