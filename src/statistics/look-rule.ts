import { tuneSequence } from './confidence-sequence.ts';
import { normalQuantileOfUpperTail } from './distributions.ts';

/** Probability that some interval of an experiment, of any arm and at any look, does not contain the true difference. */
const errorProbability = 0.05;
/** Part of the error probability for the looks before the planned day. The rest is for the planned day. */
const errorBeforePlannedDay = 0.01;

/** Error probabilities of the intervals of one experiment, after the correction for several arms. */
export interface LookRule {
  /** Error probability of each confidence sequence. */
  readonly alpha: number;
  /** Result of `tuneSequence` for `alpha`. */
  readonly tuning: number;
  /** Standard errors on each side of the interval on the planned day; null without a planned day. */
  readonly plannedMultiplier: number | null;
  /** Factors that turn the p value of a sequence, or of a normal test on the planned day, into one to compare with `errorProbability`. */
  readonly sequenceFactor: number;
  readonly plannedFactor: number;
}

/**
 * Creates the rule for an experiment with `comparisons` arms besides the control.
 *
 * Without a planned day, a confidence sequence has the whole error probability. With a planned day, the looks before it share 1 % in a
 * confidence sequence, and the last look, on the planned day, has 4 % in a plain normal interval. By the union bound, both together err
 * in at most 5 %, whatever the traffic is. Several arms divide these probabilities (Bonferroni), so that intervals and decisions agree.
 */
export function createLookRule(comparisons: number, hasPlannedDay: boolean): LookRule {
  const alpha = (hasPlannedDay ? errorBeforePlannedDay : errorProbability) / comparisons;
  const plannedAlpha = (errorProbability - errorBeforePlannedDay) / comparisons;
  return {
    alpha,
    tuning: tuneSequence(alpha),
    plannedMultiplier: hasPlannedDay ? normalQuantileOfUpperTail(plannedAlpha / 2) : null,
    sequenceFactor: errorProbability / alpha,
    plannedFactor: errorProbability / plannedAlpha,
  };
}
