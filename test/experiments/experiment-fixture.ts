import type { Experiment, ExperimentDefinition } from '../../src/experiments/experiment.ts';
import type { ArmDay, EventSums, ExperimentFigures } from '../../src/experiments/experiment-figures.ts';
import { sampleDefinition } from '../support/ledger-records.ts';

export const dayOf = (date: string) => Date.parse(date) / 86_400_000;

/** First day of the experiments by default: 1 January 2027. Days of sessions count from the first day, which is 0. */
export const startsOn = dayOf('2027-01-01');

/** An experiment with the arms a (control), b, ... of equal weight, whose revenue is final after 53 days. */
export function experimentWith(arms: number, more: Partial<ExperimentDefinition & Experiment> = {}): Experiment {
  const { createdMs = startsOn * 86_400_000, closing = null, ...definition } = more;
  return {
    name: 'hero-test',
    createdMs,
    closing,
    isDeleted: false,
    definition: {
      ...sampleDefinition,
      arms: Array.from({ length: arms }, (_, index) => ({
        referrerTag: `page-${'abcdefghij'[index]}`,
        weight: 1 / arms,
        label: 'ABCDEFGHIJ'[index]!,
      })),
      control: 'page-a',
      startsOn,
      ...definition,
    },
  };
}

export interface RawSession {
  readonly arm: number;
  readonly day: number;
  /** Visitor of the session; a session without it is a unit. */
  readonly visitor?: string;
  readonly usd?: number;
  readonly lateUsd?: number;
  readonly lateReversedUsd?: number;
  readonly clicks?: number;
  readonly views?: number;
  readonly errors?: number;
  readonly payouts?: number;
  readonly reversals?: number;
  /** Age at which the revenue is accepted. */
  readonly ageWeeks?: number;
}

const sumOf = (sessions: readonly RawSession[], figure: (session: RawSession) => number | undefined) =>
  sessions.reduce((sum, session) => sum + (figure(session) ?? 0), 0);

/** Returns the figures of one unit with these sessions. */
function unitFigures(sessions: readonly RawSession[]): Omit<ArmDay, 'arm' | 'day'> {
  const count = sessions.length;
  const revenueMicros = Math.round(sumOf(sessions, ({ usd }) => usd) * 1e6);
  const payouts = sumOf(sessions, ({ payouts }) => payouts);
  const events = (number: number, denominator = count): EventSums => ({
    count: number,
    squared: number ** 2,
    product: number * denominator,
    unitsWithEvents: number > 0 ? 1 : 0,
  });
  return {
    sums: {
      sessions: count,
      units: count > 0 ? 1 : 0,
      unitsWithRevenue: revenueMicros > 0 ? 1 : 0,
      revenueMicros,
      revenueCentsSquared: Math.round(revenueMicros / 1e4) ** 2,
      revenueMicrosTimesSessions: revenueMicros * count,
      sessionsSquared: count ** 2,
    },
    views: sumOf(sessions, ({ views }) => views),
    attributedMicros: 0,
    confirmedMicros: revenueMicros,
    afterConfirmedMicros: sumOf(sessions, ({ lateUsd }) => lateUsd) * 1e6,
    afterReversedMicros: sumOf(sessions, ({ lateReversedUsd }) => lateReversedUsd) * 1e6,
    clicks: events(sumOf(sessions, ({ clicks }) => clicks)),
    inputs: events(sessions.filter(({ views = 0 }) => views > 0).length),
    errors: events(sumOf(sessions, ({ errors }) => errors)),
    reversals: events(
      sumOf(sessions, ({ reversals }) => reversals),
      payouts,
    ),
    payouts,
    payoutsSquared: payouts ** 2,
    unitsInSeveralArms: 0,
    assignmentMismatches: 0,
  };
}

/** Adds `sign` times the numbers of `other`, also of nested objects. */
function combine<Figures extends object>(figures: Figures, other: Figures, sign: 1 | -1): Figures {
  const entries = Object.entries(figures).map(([name, value]) => {
    const added = other[name as keyof Figures];
    return [name, typeof value === 'object' ? combine(value, added as object, sign) : value + sign * (added as number)];
  });
  return Object.fromEntries(entries) as Figures;
}

/** Computes the figures up to the day `asOf`, which counts from the first day, of sessions that are in the arms of their visitors. */
export function figuresOf(
  { definition }: Experiment,
  asOf: number,
  sessions: readonly RawSession[],
  more: Partial<ExperimentFigures> = {},
): ExperimentFigures {
  const { startsOn, revenueDays, graceDays } = definition;
  const units = Map.groupBy(sessions, (session) => session.visitor ?? session);
  const rows = new Map<string, ArmDay>();
  const unitsWithRevenue: ExperimentFigures['unitsWithRevenue'][number][] = [];
  for (const unit of units.values()) {
    const { arm } = unit[0]!;
    for (const day of new Set(unit.map((session) => session.day).filter((day) => day <= asOf))) {
      const until = (last: number) => unitFigures(unit.filter((session) => session.day <= last));
      const change = combine(until(day), until(day - 1), -1);
      const [key, before] = [`${day} ${arm}`, rows.get(`${day} ${arm}`)];
      const figures = before === undefined ? change : combine(before, { ...before, ...change, arm: 0, day: 0 }, 1);
      rows.set(key, { ...figures, arm, day: startsOn + day });
    }
    const mature = unit.filter(({ day }) => day < asOf - revenueDays - graceDays);
    const { revenueMicros } = unitFigures(mature).sums;
    if (revenueMicros > 0) unitsWithRevenue.push({ arm, revenueMicros, sessions: mature.length });
  }
  return {
    asOf: startsOn + asOf,
    fillProgress: null,
    days: [...rows.values()].sort((a, b) => a.day - b.day || a.arm - b.arm),
    ages: sessions
      .filter(({ usd = 0 }) => usd > 0)
      .map(({ arm, day, usd = 0, ageWeeks = 0 }) => ({ arm, day: startsOn + day, ageWeeks, revenueMicros: usd * 1e6 })),
    unitsWithRevenue,
    leftOut: { bots: 0, outsideDates: 0, noUnit: 0 },
    ...more,
  };
}
