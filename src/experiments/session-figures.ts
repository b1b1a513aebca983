import { dayStartMs, msPerDay } from '../domain/calendar.ts';
import type { ExperimentDefinition } from './experiment.ts';

/** A change of a session's confirmed revenue. */
export interface RevenueChange {
  readonly amountMicros: number;
  /** Time of the change according to the lender, in Unix milliseconds; for revenue that a click confirmed itself, the time of the click. */
  readonly occurredMs: number;
  /** Time at which the service accepted the change, in Unix milliseconds. */
  readonly acceptedMs: number;
}

/** A lender's payout for a click, or revenue that a click confirmed itself. */
export interface ReversiblePayout extends RevenueChange {
  readonly reversals: readonly RevenueChange[];
}

/** Counted events of one session. */
export interface SessionActivity {
  /** Cohort day. */
  readonly day: number;
  readonly views: number;
  readonly clicks: number;
  /** Number of widget events of type `widget_error`. */
  readonly widgetErrors: number;
  readonly attributedMicros: number;
  readonly payouts: readonly ReversiblePayout[];
}

/** Names of the additive figures of a session. The order determines the encoding of stored figures: add new names only at the end. */
export const sessionFigureNames = [
  'sessions',
  'views',
  /** Sessions with a view. */
  'viewedSessions',
  'clicks',
  'widgetErrors',
  'attributedMicros',
  'confirmedMicros',
  /** Payouts and reversals that do not count. */
  'afterConfirmedMicros',
  'afterReversedMicros',
  /** Number of payouts that count, and of those with a reversal that counts. */
  'payouts',
  'reversedPayouts',
  'misassignedSessions',
] as const;

/** Figures of one or more sessions in an experiment. The figures of several sessions are the sums of their figures. */
export type SessionFigures = Record<(typeof sessionFigureNames)[number], number> & {
  /** Frozen revenue by the number of weeks from the start of the cohort day to its acceptance. Reversals can make items negative. */
  revenueMicrosByWeek: readonly number[];
};

export const noSessions: SessionFigures = {
  sessions: 0,
  views: 0,
  viewedSessions: 0,
  clicks: 0,
  widgetErrors: 0,
  attributedMicros: 0,
  confirmedMicros: 0,
  afterConfirmedMicros: 0,
  afterReversedMicros: 0,
  payouts: 0,
  reversedPayouts: 0,
  misassignedSessions: 0,
  revenueMicrosByWeek: [],
};

type FreezeRule = Pick<ExperimentDefinition, 'revenueDays' | 'graceDays' | 'capMicros'>;

/** Returns the figures of a session in an experiment. */
export function sessionFigures(activity: SessionActivity, definition: FreezeRule): SessionFigures {
  const { day, views, clicks, widgetErrors, attributedMicros, payouts } = activity;
  const figures = { ...noSessions, sessions: 1, views, clicks, widgetErrors, attributedMicros };
  figures.viewedSessions = views > 0 ? 1 : 0;
  if (payouts.length > 0) addPayouts(figures, day, payouts, definition);
  return figures;
}

function addPayouts(
  figures: SessionFigures,
  day: number,
  payouts: readonly ReversiblePayout[],
  { revenueDays, graceDays, capMicros }: FreezeRule,
): void {
  const occurredBeforeMs = dayStartMs(day + revenueDays + 1);
  const acceptedBeforeMs = dayStartMs(day + revenueDays + graceDays + 1);
  const isInTime = ({ occurredMs, acceptedMs }: RevenueChange) =>
    occurredMs < occurredBeforeMs && acceptedMs < acceptedBeforeMs;
  /** Changes that count, by week of their acceptance, without the maximum for each session. */
  const byWeek: number[] = [];
  const addInWeek = (acceptedMs: number, micros: number) => {
    const week = Math.max(0, Math.floor((acceptedMs - dayStartMs(day)) / (7 * msPerDay)));
    while (byWeek.length <= week) byWeek.push(0);
    byWeek[week]! += micros;
  };
  for (const payout of payouts) {
    const counts = isInTime(payout);
    if (counts) {
      figures.payouts++;
      addInWeek(payout.acceptedMs, payout.amountMicros);
    } else figures.afterConfirmedMicros += payout.amountMicros;
    figures.confirmedMicros += payout.amountMicros;
    let isReversed = false;
    for (const reversal of payout.reversals) {
      figures.confirmedMicros -= reversal.amountMicros;
      if (counts && isInTime(reversal)) {
        isReversed = true;
        addInWeek(reversal.acceptedMs, -reversal.amountMicros);
      } else figures.afterReversedMicros += reversal.amountMicros;
    }
    if (isReversed) figures.reversedPayouts++;
  }
  figures.revenueMicrosByWeek = limitTotal(byWeek, capMicros ?? Number.POSITIVE_INFINITY);
}

/** Changes the items so that every partial sum is at least 0 and at most `max`. */
function limitTotal(changes: readonly number[], max: number): number[] {
  let total = 0;
  let limitedBefore = 0;
  return changes.map((change) => {
    total += change;
    const limited = Math.min(max, Math.max(0, total));
    const limitedChange = limited - limitedBefore;
    limitedBefore = limited;
    return limitedChange;
  });
}

/** Adds `sign` times the figures `change` to `figures`. */
export function addFigures(figures: SessionFigures, change: SessionFigures, sign: 1 | -1): void {
  for (const name of sessionFigureNames) figures[name] += sign * change[name];
  if (change.revenueMicrosByWeek.length === 0) return;
  const weeks = [...figures.revenueMicrosByWeek];
  for (const [week, micros] of change.revenueMicrosByWeek.entries()) weeks[week] = (weeks[week] ?? 0) + sign * micros;
  figures.revenueMicrosByWeek = weeks;
}

/** Returns the frozen revenue in micro-dollars, which is never negative. */
export function frozenRevenue({ revenueMicrosByWeek }: SessionFigures): number {
  let sum = 0;
  for (const micros of revenueMicrosByWeek) sum += micros;
  return sum;
}
