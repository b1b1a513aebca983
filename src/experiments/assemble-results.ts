import { bounds } from '../bounds.ts';
import { daysSinceEpoch, formatIsoDate } from '../domain/calendar.ts';
import { microsToUsd } from '../domain/money.ts';
import { largestPayoutShare } from '../statistics/capped-revenue.ts';
import { compareArms } from '../statistics/compare-arms.ts';
import { intervalOfMean } from '../statistics/mean-interval.ts';
import { type Planning, planUnits } from '../statistics/planning.ts';
import { splitChiSquareP } from '../statistics/split-check.ts';
import { type ArmEstimate, estimateArms } from '../statistics/variance-floor.ts';
import { type ArmTotals, sumArmDays } from './arm-totals.ts';
import { compareGuardrails } from './compare-guardrails.ts';
import { type Concentration, measureConcentration } from './concentration.ts';
import { decideArm, decideExperiment } from './decide.ts';
import { describeClosing } from './describe-closing.ts';
import { describeComparison } from './describe-comparison.ts';
import { describeExperiment } from './describe-experiment.ts';
import {
  type Experiment,
  type ExperimentArm,
  type ExperimentDefinition,
  experimentStateOn,
  isRetrospective,
  lastMatureCohortDay,
  matureDayOf,
} from './experiment.ts';
import type { ArmDay, ExperimentFigures, RevenueAge } from './experiment-figures.ts';
import type { ArmFindings, ExperimentFindings } from './experiment-findings.ts';
import type {
  ArmResults,
  CappedDifference,
  ComparisonResults,
  ExperimentResults,
  ResultsWithSeries,
} from './experiment-results.ts';
import { findInvalidReason, shareInSeveralArms } from './find-invalid-reason.ts';
import { predictRevenue } from './predict-revenue.ts';
import { sumRevenueByAge } from './revenue-by-age.ts';
import { type LooksTaken, maxSplitLogMartingale, orderArms, takeLooks } from './take-looks.ts';
import { formatPercent } from './wording.ts';

/** Figures of one arm. */
interface Arm extends ExperimentArm {
  readonly name: string;
  readonly days: readonly ArmDay[];
  readonly ages: readonly RevenueAge[];
  /** Totals of all closed days, and of the mature days. */
  readonly all: ArmTotals;
  readonly mature: ArmTotals;
  readonly matureDays: number;
  readonly estimate: ArmEstimate;
  /** Largest revenue of a mature unit, in micro-dollars. */
  readonly largestMicros: number;
}

/** Last day of the results of an experiment: the last closed day, or that before the closing. */
export function resultsDayOf({ closing }: Pick<Experiment, 'closing'>, today: number): number {
  return (closing === null ? today : Math.min(today, daysSinceEpoch(closing.closedMs))) - 1;
}

/**
 * Computes the results of an experiment from its figures up to `figures.asOf`, which is `resultsDayOf` the day of the request. The results
 * of a closed experiment are those stored at its closing.
 *
 * @param isLast whether a closing is going to store the results
 */
export function assembleResults(
  experiment: Experiment,
  figures: ExperimentFigures,
  concentration: Concentration = measureConcentration(experiment.definition, figures),
  isLast = false,
): ResultsWithSeries {
  const taken = takeLooks(experiment.definition, figures);
  const { series } = taken;
  const { closing } = experiment;
  if (closing === null)
    return { results: assembleOpenResults(experiment, figures, concentration, taken, isLast), series };
  const stored = closing.results as ExperimentResults;
  const sentence = describeClosing(experiment.definition, closing, stored);
  return { results: { ...stored, state: 'closed', sentence }, series };
}

function assembleOpenResults(
  experiment: Experiment,
  figures: ExperimentFigures,
  concentration: Concentration,
  taken: LooksTaken,
  isLast: boolean,
): ExperimentResults {
  const { name, definition } = experiment;
  const { asOf, fillProgress, leftOut } = figures;
  const arms = collectArms(definition, figures, concentration);
  const splitLogMartingaleMax = maxSplitLogMartingale(definition, figures.days);
  const findings = findAll(experiment, figures, taken, arms, { splitLogMartingaleMax, isLast });
  const compared = orderArms(definition).map((index) => arms[index]!);
  const [control, ...others] = compared as [Arm, ...Arm[]];
  const capped = compareCapped(definition, taken, concentration);
  const mismatches = arms.reduce((sum, { all }) => sum + all.assignmentMismatches, 0);
  return {
    name,
    state: experimentStateOn(experiment, asOf + 1),
    decision: decideExperiment(findings.decisions),
    sentence: describeExperiment(findings),
    as_of: formatIsoDate(asOf),
    planned_day: findings.plannedDay === null ? null : formatIsoDate(findings.plannedDay),
    retrospective: isRetrospective(experiment),
    unit: definition.unit,
    control: definition.control,
    fill_progress: fillProgress,
    warnings: arms.flatMap(warnOfSeveralArms),
    left_out: { bots: leftOut.bots, outside_dates: leftOut.outsideDates, no_unit: leftOut.noUnit },
    arms: arms.map((arm) => toArmResults(definition, asOf, arm)),
    comparisons: others.map((arm, index) =>
      toComparisonResults(findings, index, { arm, control, capped: capped[index]! }),
    ),
    split_check: {
      log_martingale: splitLogMartingaleMax,
      chi_square_p: splitChiSquareP(arms.map(({ weight, all }) => ({ weight, units: all.sums.units }))),
      invalid: splitLogMartingaleMax >= Math.log(bounds.splitMartingaleMax),
      assignment_mismatches: definition.assignment === 'hash' ? mismatches : null,
    },
    guardrails: others.flatMap((arm) =>
      compareGuardrails(definition.unit, { ...arm, tag: arm.referrerTag }, { ...control, tag: control.referrerTag }),
    ),
  };
}

/** Collects the figures of each arm, in the order of the definition. */
function collectArms(
  definition: ExperimentDefinition,
  figures: ExperimentFigures,
  { largestMicros }: Concentration,
): Arm[] {
  const lastMatureDay = lastMatureCohortDay(definition, figures.asOf);
  const days = Map.groupBy(figures.days, ({ arm }) => arm);
  const ages = Map.groupBy(figures.ages, ({ arm }) => arm);
  const collected = definition.arms.map((arm, index) => {
    const own = days.get(index) ?? [];
    const mature = own.filter(({ day }) => day <= lastMatureDay);
    return {
      ...arm,
      name: arm.label ?? arm.referrerTag,
      days: own,
      ages: ages.get(index) ?? [],
      largestMicros: largestMicros[index]!,
      all: sumArmDays(own),
      mature: sumArmDays(mature),
      matureDays: mature.filter(({ sums }) => sums.sessions > 0).length,
    };
  });
  const estimates = estimateArms(collected.map(({ mature }) => mature.sums));
  return collected.map((arm, index) => ({ ...arm, estimate: estimates[index]! }));
}

/** Decides about each arm, and collects what the sentences need. */
function findAll(
  experiment: Experiment,
  { asOf, days, fillProgress, leftOut }: ExperimentFigures,
  { looks, plan }: LooksTaken,
  arms: readonly Arm[],
  { splitLogMartingaleMax, isLast }: { readonly splitLogMartingaleMax: number; readonly isLast: boolean },
): ExperimentFindings {
  const { definition } = experiment;
  const { unit, minEffectPercent, capMicros } = definition;
  const sessions = arms.reduce((sum, { all }) => sum + all.sums.sessions, leftOut.noUnit);
  const invalidReason = findInvalidReason({
    splitLogMartingaleMax,
    arms: arms.map(({ name, all }) => ({ name, units: all.sums.units, unitsInSeveralArms: all.unitsInSeveralArms })),
    sessions,
    sessionsWithoutUnit: leftOut.noUnit,
  });
  const minEffect = minEffectPercent === null ? null : minEffectPercent / 100;
  const decisionInput = {
    isFilling: fillProgress !== null,
    isInvalid: invalidReason !== null,
    isRetrospective: isRetrospective(experiment),
    minEffect,
    looks,
  };
  const firstDay = days.find(({ sums }) => sums.sessions > 0)?.day;
  const compared = orderArms(definition).map((index) => arms[index]!);
  return {
    unit,
    asOf,
    arms: compared.map(toArmFindings),
    decisions: looks.comparisons.map((comparison) => decideArm(decisionInput, comparison)),
    looks,
    isLast,
    plannings: looks.isPlanOver
      ? looks.comparisons.map(() => null)
      : planArms(definition, asOf, plan.plannedDay, minEffect, compared),
    fillProgress,
    invalidReason,
    plannedDay: plan.plannedDay,
    firstMatureDay: firstDay === undefined ? null : matureDayOf(definition, firstDay),
    minEffect,
    capUsd: capMicros === null ? null : microsToUsd(capMicros),
  };
}

function toArmFindings({ name, weight, all, mature, matureDays }: Arm): ArmFindings {
  return {
    name,
    weight,
    units: all.sums.units,
    matureUnits: mature.sums.units,
    unitsWithRevenue: mature.sums.unitsWithRevenue,
    matureDays,
  };
}

/** Plans the units of each arm other than the control, which is the first of `arms`. */
function planArms(
  { startsOn, revenueDays, graceDays }: ExperimentDefinition,
  asOf: number,
  plannedDay: number | null,
  minEffect: number | null,
  arms: readonly Arm[],
): (Planning | null)[] {
  const [control, ...others] = arms as [Arm, ...Arm[]];
  const elapsedDays = asOf - startsOn - revenueDays - graceDays;
  return others.map((arm) =>
    minEffect === null
      ? null
      : planUnits({
          arm: arm.estimate,
          control: control.estimate,
          armWeight: arm.weight,
          controlWeight: control.weight,
          comparisons: others.length,
          minEffect,
          unitsPerDay: arm.estimate.units / Math.max(1, elapsedDays),
          daysToPlannedDay: plannedDay === null ? null : plannedDay - asOf,
        }),
  );
}

function toArmResults(definition: ExperimentDefinition, asOf: number, arm: Arm): ArmResults {
  const { referrerTag, label, weight, all, mature, estimate } = arm;
  const early = predictRevenue(definition, asOf, arm.days, arm.ages);
  return {
    referrer_tag: referrerTag,
    label,
    weight,
    sessions: all.sums.sessions,
    units: all.sums.units,
    mature_sessions: mature.sums.sessions,
    mature_units: mature.sums.units,
    mature_days: arm.matureDays,
    units_with_revenue: mature.sums.unitsWithRevenue,
    views: all.views,
    clicks: all.clicks.count,
    click_rate: all.views > 0 ? all.clicks.count / all.views : 0,
    rev_attributed: microsToUsd(all.attributedMicros),
    rev_confirmed: microsToUsd(all.confirmedMicros),
    revenue_per_session: estimate.sessions > 0 ? estimate.mean : null,
    interval: intervalOfMean(estimate),
    after_freeze: {
      confirmed: microsToUsd(mature.afterConfirmedMicros),
      reversed: microsToUsd(mature.afterReversedMicros),
    },
    units_in_several_arms: all.unitsInSeveralArms,
    largest_payout_share: largestPayoutShare(arm.largestMicros, mature.sums.revenueMicros),
    early_read: early && { revenue_per_session: early.value, low: early.low, high: early.high },
    funnel: {
      units: all.sums.units,
      with_offers: all.inputs.unitsWithEvents,
      with_clicks: all.clicks.unitsWithEvents,
      with_revenue: all.sums.unitsWithRevenue,
    },
    revenue_by_age: sumRevenueByAge(definition, asOf, arm.days, arm.ages),
  };
}

function toComparisonResults(
  findings: ExperimentFindings,
  index: number,
  { arm, control, capped }: { readonly arm: Arm; readonly control: Arm; readonly capped: CappedDifference | null },
): ComparisonResults {
  const { look, pValue, final } = findings.looks.comparisons[index]!;
  const planning = findings.plannings[index]!;
  const [today, controlToday] = findings.capUsd === null ? [arm, control].map(revenuePerSessionToday) : [];
  return {
    arm: arm.referrerTag,
    decision: findings.decisions[index]!,
    sentence: describeComparison(findings, index),
    difference: look?.difference ?? null,
    relative: look?.relative ?? null,
    difference_today: today == null || controlToday == null ? null : today - controlToday,
    p_value: pValue,
    decided_on: final === null ? null : formatIsoDate(final.day),
    difference_then: final?.look.difference ?? null,
    capped_difference: capped,
    planning: planning && {
      units_per_arm: planning.unitsNeeded,
      units_left: planning.unitsLeft,
      days_left: planning.daysLeft,
      smallest_effect_percent: planning.smallestEffect === null ? null : planning.smallestEffect * 100,
    },
  };
}

/** Returns the revenue per mature session with the revenue that came too late to count, in USD; null without sessions. */
function revenuePerSessionToday({ mature }: Arm): number | null {
  const { sums, afterConfirmedMicros, afterReversedMicros } = mature;
  if (sums.sessions === 0) return null;
  return microsToUsd(sums.revenueMicros + afterConfirmedMicros - afterReversedMicros) / sums.sessions;
}

/** Compares each arm with the control by capped revenue, in the same way as by revenue. */
function compareCapped(
  definition: ExperimentDefinition,
  { plan, looks }: LooksTaken,
  { capped }: Concentration,
): (CappedDifference | null)[] {
  if (capped === null || !looks.isGateOpen) return looks.comparisons.map(() => null);
  const [control, ...others] = estimateArms(orderArms(definition).map((index) => capped.arms[index]!));
  return others.map((arm) => {
    const look = compareArms(arm, control!, plan.rule, looks.isPlanOver);
    return look && { ...look.difference, cap: microsToUsd(capped.capMicros), share_cut: capped.shareCut };
  });
}

function warnOfSeveralArms({ name, all }: Arm): string[] {
  const share = shareInSeveralArms({ units: all.sums.units, unitsInSeveralArms: all.unitsInSeveralArms });
  if (share <= bounds.visitorsInSeveralArmsShareWarned) return [];
  return [
    `${formatPercent(share)} of the visitors of ${name} saw more than one arm. Above ` +
      `${formatPercent(bounds.visitorsInSeveralArmsShareMax)}, the figures must not be used.`,
  ];
}
