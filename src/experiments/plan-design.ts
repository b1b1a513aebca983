import { bounds } from '../bounds.ts';
import { sumsOfSessions } from '../statistics/arm-sums.ts';
import { relateUnitsToEffect } from '../statistics/planning.ts';
import { type ArmEstimate, estimateArms } from '../statistics/variance-floor.ts';
import { type ExperimentDefinition, matureDayOf, plannedDayOf } from './experiment.ts';

/** Numbers of days of sessions for which a plan shows what the experiment can find: 2 weeks to a year. */
const outlookDays = [14, 28, 42, 56, 91, 182, 364] as const;

/** Figures of a page, from which the plan of an experiment is computed. */
export interface PlanBasis {
  /** Matured sessions of the page and their revenue, as in `sumsOfSessions`. */
  readonly sums: Parameters<typeof sumsOfSessions>[0];
  /** Sessions of all arms together on each day. */
  readonly sessionsPerDay: number;
}

/** What one arm needs, and what the experiment can find about it. */
export interface ArmPlan {
  readonly arm: string;
  /** Units of the arm for a difference of the minimum effect; null without a minimum effect. */
  readonly unitsNeeded: number | null;
  /** Closed day whose results include these units; null without a minimum effect, or if the experiment does not get as many. */
  readonly foundOn: number | null;
  /** Smallest effect that is found by the planned day, as a share of the revenue per session; null without a planned day. */
  readonly smallestEffect: number | null;
}

/** What an experiment with a certain last day can find about each of its arms. */
export interface OutlookEntry {
  /** Number of days from the first to the last day. */
  readonly days: number;
  readonly endsOn: number;
  readonly plannedDay: number;
  readonly smallestEffect: number;
}

export interface DesignPlan {
  /** First day with a comparison, if all arms earn as much as the page; null if there is none within the largest experiment. */
  readonly firstComparisonOn: number | null;
  readonly arms: readonly ArmPlan[];
  readonly outlook: readonly OutlookEntry[];
}

/**
 * Estimates when an experiment that has no figures yet gets its first comparison, and which differences it finds with a probability of
 * 80 %. The estimate assumes:
 * - all arms together get as many sessions as the page
 * - each arm earns as much per session as the page
 * - each session is a unit
 *
 * Returns null if the page has too few sessions with revenue, or no sessions per day.
 */
export function planDesign(definition: ExperimentDefinition, { sums, sessionsPerDay }: PlanBasis): DesignPlan | null {
  const { arms, control, startsOn, minEffectPercent, endsOn } = definition;
  const [page] = estimateArms([sumsOfSessions(sums)]) as [ArmEstimate];
  if (sums.unitsWithRevenue < bounds.unitsWithRevenueMin || page.flooredVariance === 0 || sessionsPerDay <= 0)
    return null;
  const unitVariance = page.flooredVariance * page.units;
  const controlWeight = arms.find(({ referrerTag }) => referrerTag === control)!.weight;
  const others = arms.filter(({ referrerTag }) => referrerTag !== control);
  const minEffect = minEffectPercent === null ? null : minEffectPercent / 100;
  const plannedDay = plannedDayOf(definition);

  const relate = (armWeight: number, hasPlannedDay: boolean) =>
    relateUnitsToEffect({
      armVariance: unitVariance,
      controlVariance: unitVariance,
      armWeight,
      controlWeight,
      comparisons: others.length,
      hasPlannedDay,
    }) /
    page.mean ** 2;
  const findSmallestEffect = (armWeight: number, days: number) =>
    Math.sqrt(relate(armWeight, true) / (days * sessionsPerDay * armWeight));

  const planArm = ({ referrerTag, weight }: { readonly referrerTag: string; readonly weight: number }): ArmPlan => {
    const smallestEffect = endsOn === null ? null : findSmallestEffect(weight, endsOn - startsOn + 1);
    const unitsNeeded = minEffect === null ? null : Math.ceil(relate(weight, endsOn !== null) / minEffect ** 2);
    const days = unitsNeeded === null ? null : unitsNeeded / (sessionsPerDay * weight);
    const foundOn =
      smallestEffect === null
        ? dayAfter(definition, days)
        : minEffect !== null && smallestEffect <= minEffect
          ? plannedDay
          : null;
    return { arm: referrerTag, unitsNeeded, foundOn, smallestEffect };
  };

  const smallestWeight = Math.min(...arms.map(({ weight }) => weight));
  const revenueUnitsPerDay = (sums.unitsWithRevenue / sums.sessions) * sessionsPerDay * smallestWeight;
  const firstComparisonOn = dayAfter(definition, bounds.unitsWithRevenueMin / revenueUnitsPerDay);
  const smallestOther = Math.min(...others.map(({ weight }) => weight));
  return {
    firstComparisonOn:
      firstComparisonOn !== null && plannedDay !== null && firstComparisonOn > plannedDay ? null : firstComparisonOn,
    arms: others.map(planArm),
    outlook: outlookDays.map((days) => ({
      days,
      endsOn: startsOn + days - 1,
      plannedDay: matureDayOf(definition, startsOn + days - 1),
      smallestEffect: findSmallestEffect(smallestOther, days),
    })),
  };
}

/** Returns the closed day whose results include the sessions of the first `days` days, and of at least two weeks; null for too many days. */
function dayAfter(definition: ExperimentDefinition, days: number | null): number | null {
  if (days === null || days > bounds.experimentDaysMax) return null;
  return matureDayOf(definition, definition.startsOn + Math.max(bounds.matureDaysMin, Math.ceil(days)) - 1);
}
