import { compareGuardrail, type GuardrailSums } from '../statistics/guardrail.ts';
import type { ArmTotals } from './arm-totals.ts';
import type { GuardrailName, GuardrailResults } from './experiment-results.ts';

interface GuardrailDefinition {
  readonly name: GuardrailName;
  readonly harm: 'if higher' | 'if lower';
  /** Whether only mature sessions count, because the events come as late as revenue. */
  readonly isLate: boolean;
  readonly sumsOf: (totals: ArmTotals) => GuardrailSums;
}

const sessionsPerVisitor: GuardrailDefinition = {
  name: 'sessions_per_visitor',
  harm: 'if lower',
  isLate: false,
  sumsOf: ({ sums }) => ({
    units: sums.units,
    unitsWithEvents: sums.units,
    numerator: sums.sessions,
    numeratorSquared: sums.sessionsSquared,
    product: sums.sessions,
    denominator: sums.units,
    denominatorSquared: sums.units,
  }),
};

const commonGuardrails: readonly GuardrailDefinition[] = [
  { name: 'clicks_per_session', harm: 'if lower', isLate: false, sumsOf: perSession('clicks') },
  { name: 'inputs_completed', harm: 'if lower', isLate: false, sumsOf: perSession('inputs') },
  { name: 'widget_errors', harm: 'if higher', isLate: false, sumsOf: perSession('errors') },
  {
    name: 'reversed_share',
    harm: 'if higher',
    isLate: true,
    sumsOf: ({ sums, reversals, payouts, payoutsSquared }) => ({
      units: sums.units,
      unitsWithEvents: reversals.unitsWithEvents,
      numerator: reversals.count,
      numeratorSquared: reversals.squared,
      product: reversals.product,
      denominator: payouts,
      denominatorSquared: payoutsSquared,
    }),
  },
];

function perSession(events: 'clicks' | 'inputs' | 'errors'): GuardrailDefinition['sumsOf'] {
  return ({ sums, [events]: { count, squared, product, unitsWithEvents } }) => ({
    units: sums.units,
    unitsWithEvents,
    numerator: count,
    numeratorSquared: squared,
    product,
    denominator: sums.sessions,
    denominatorSquared: sums.sessionsSquared,
  });
}

interface ArmToCompare {
  readonly tag: string;
  /** Totals of all closed days, and of the mature days. */
  readonly all: ArmTotals;
  readonly mature: ArmTotals;
}

/** Compares the guardrails of an arm with those of the control. */
export function compareGuardrails(
  unit: 'session' | 'visitor',
  arm: ArmToCompare,
  control: ArmToCompare,
): GuardrailResults[] {
  const guardrails = unit === 'visitor' ? [sessionsPerVisitor, ...commonGuardrails] : commonGuardrails;
  return guardrails.map(({ name, harm, isLate, sumsOf }) => {
    const [own, base] = [arm, control].map(({ all, mature }) => sumsOf(isLate ? mature : all)) as [
      GuardrailSums,
      GuardrailSums,
    ];
    const [value, controlValue] = [ratioOf(own), ratioOf(base)];
    const compared = compareGuardrail(own, base, harm);
    return {
      arm: arm.tag,
      name,
      control: controlValue,
      value,
      difference: value === null || controlValue === null ? null : value - controlValue,
      low: compared?.difference.low ?? null,
      high: compared?.difference.high ?? null,
      word: compared === null ? null : compared.isWorse ? 'worse' : 'no sign of harm',
    };
  });
}

function ratioOf({ numerator, denominator }: GuardrailSums): number | null {
  return denominator > 0 ? numerator / denominator : null;
}
