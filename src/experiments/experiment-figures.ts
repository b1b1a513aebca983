import type { ArmSums } from '../statistics/arm-sums.ts';
import type { UnitRevenue } from '../statistics/capped-revenue.ts';

/**
 * Figures of an experiment in the analytics store, up to the closed day `asOf`. Days are in days since 1970-01-01 UTC. An arm is its index in
 * `ExperimentDefinition.arms`.
 */
export interface ExperimentFigures {
  /** Last day of the figures: sessions created later are not included. */
  readonly asOf: number;
  /** Share from 0 to 1 of the earlier sessions that are counted; null when all are counted. */
  readonly fillProgress: number | null;
  /** Rows in the order of day, then arm; only days up to `asOf`. A row without sessions may be absent. */
  readonly days: readonly ArmDay[];
  /** Revenue of each cohort day by its age. */
  readonly ages: readonly RevenueAge[];
  /** Units with revenue above 0, with their mature sessions only. */
  readonly unitsWithRevenue: readonly (UnitRevenue & { readonly arm: number })[];
  readonly leftOut: LeftOutSessions;
}

/** Sessions with tags of the experiment that are in no arm. */
export interface LeftOutSessions {
  /** Sessions of bots, created on a day of the experiment, also before its definition and after its closing. */
  readonly bots: number;
  /** Sessions of all devices, created before `startsOn`, or after `endsOn`. */
  readonly outsideDates: number;
  /** Sessions without `unit_id`; 0 if the unit is a session. */
  readonly noUnit: number;
}

/**
 * Figures of one arm and cohort day. All figures of units are changes by the sessions of this day: the sum of a figure over all days up to a
 * day D is the figure of the sessions created up to D. So the figures of mature sessions are the sums over all mature days.
 *
 * Revenue is frozen revenue, limited to `capMicros` per session: payouts minus reversals that occurred and were accepted in time. Before its
 * day is mature, it is the revenue so far.
 */
export interface ArmDay {
  readonly arm: number;
  readonly day: number;
  readonly sums: ArmSums;
  readonly views: number;
  readonly attributedMicros: number;
  /** Confirmed revenue today, including late revenue, without a maximum for each session. */
  readonly confirmedMicros: number;
  /** Payouts that came too late to count, and reversals that came too late or whose payout does not count. */
  readonly afterConfirmedMicros: number;
  readonly afterReversedMicros: number;
  /** Counted clicks, in relation to sessions. */
  readonly clicks: EventSums;
  /** Sessions with at least one view, which only complete inputs allow, in relation to sessions. */
  readonly inputs: EventSums;
  /** Widget events of type `widget_error`, in relation to sessions. */
  readonly errors: EventSums;
  /** Payouts that count and have a reversal that counts, in relation to payouts that count. */
  readonly reversals: EventSums;
  /** Number of payouts that count, and the sum over units of the squared number. */
  readonly payouts: number;
  readonly payoutsSquared: number;
  /** Units with sessions in other arms too; each is counted in its arm on its first day. */
  readonly unitsInSeveralArms: number;
  /** Sessions with the tag of another arm than `assignArm` returns; 0 unless the assignment is `hash`. */
  readonly assignmentMismatches: number;
}

/** Sums over units of a number of events, and of its product with the number of sessions (or payouts) of the unit. */
export interface EventSums {
  readonly count: number;
  readonly squared: number;
  readonly product: number;
  readonly unitsWithEvents: number;
}

/** Frozen revenue by the time between the start of the cohort day and the acceptance of the revenue, in whole weeks. */
export interface RevenueAge {
  readonly arm: number;
  readonly day: number;
  readonly ageWeeks: number;
  readonly revenueMicros: number;
}
