import { bounds } from '../../bounds.ts';
import { isJsonObject } from '../../domain/assert-options.ts';
import { parseIsoDate } from '../../domain/calendar.ts';
import type { RequestParamName } from '../../domain/errors.ts';
import { usdToExactMicros } from '../../domain/money.ts';
import { type Failure, invalidRequest, type Outcome, successOutcome } from '../../domain/outcome.ts';
import { exceedsCodePointLimit, isPrintable } from '../../domain/text.ts';
import type { Vertical } from '../../domain/vertical.ts';
import type { ExperimentDefinition } from '../../experiments/experiment.ts';
import { isReferrerTag } from '../../sessions/referrer-tags.ts';
import type { RequestMember } from '../request-members.ts';
import { definitionRequestSchemas, type ExperimentDefinitionRequest } from './experiment-schemas.ts';

const isDate = (value: unknown) => typeof value === 'string' && parseIsoDate(value) !== null;

/** Whether a value is null, or a text of printable lines within the limit. The length is the number of code points. */
export function isExperimentText(value: unknown): boolean {
  if (value === null) return true;
  return (
    typeof value === 'string' &&
    !exceedsCodePointLimit(value, bounds.experimentTextCharactersMax) &&
    value.split(/[\t\r\n]/).every(isPrintable)
  );
}

/** Members of the body of PUT /experiments/{name}. `parseDefinition` checks the arms, and the rules about several members. */
export const definitionMembers = {
  arms: { schema: definitionRequestSchemas.arms, accepts: isArmList },
  control: { schema: definitionRequestSchemas.control },
  unit: { schema: definitionRequestSchemas.unit },
  assignment: { schema: definitionRequestSchemas.assignment },
  starts_on: { schema: definitionRequestSchemas.starts_on, accepts: isDate },
  ends_on: { schema: definitionRequestSchemas.ends_on, accepts: (value: unknown) => value === null || isDate(value) },
  min_effect_percent: { schema: definitionRequestSchemas.min_effect_percent },
  cap_usd: { schema: definitionRequestSchemas.cap_usd, accepts: isCap },
  hypothesis: { schema: definitionRequestSchemas.hypothesis, accepts: isExperimentText },
  dimensions: { schema: definitionRequestSchemas.dimensions, accepts: isDimensionList },
} satisfies Readonly<Record<string, RequestMember>>;

/** Whether a value is null, or a short text of one line. Sentences contain labels several times. */
function isLabel(value: unknown): boolean {
  if (value === null) return true;
  return (
    typeof value === 'string' &&
    !exceedsCodePointLimit(value, bounds.experimentLabelCharactersMax) &&
    isPrintable(value)
  );
}

// `every` skips the holes of a sparse array of an embedding program, so the lists are copied first.
function isArmList(value: unknown): boolean {
  const { experimentArmsMin: min, experimentArmsMax: max } = bounds;
  return Array.isArray(value) && value.length >= min && value.length <= max && [...value].every(isJsonObject);
}

function isCap(value: unknown): boolean {
  return (
    value === null ||
    (typeof value === 'number' &&
      value > 0 &&
      value <= bounds.confirmedRevenueUsdMax &&
      usdToExactMicros(value) !== null)
  );
}

function isDimensionList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length <= bounds.experimentDimensionsMax &&
    [...value].every(
      (name) => typeof name === 'string' && name !== '' && !exceedsCodePointLimit(name, bounds.metadataCharactersMax),
    ) &&
    new Set(value).size === value.length
  );
}

/**
 * Converts the body of PUT /experiments/{name}, whose members are valid on their own, to a definition. Returns an error that names the first
 * member that violates a rule.
 */
export function parseDefinition(
  body: ExperimentDefinitionRequest,
  vertical: Vertical,
  graceDays: number,
): Outcome<ExperimentDefinition> {
  const { arms, control, unit, assignment = 'own', dimensions = [], cap_usd: capUsd = null } = body;
  const invalidArm = findInvalidArm(arms);
  if (invalidArm !== null) return invalidArm;
  if (!arms.some(({ referrer_tag: tag }) => tag === control)) return invalidRequest('control');
  if (assignment === 'hash' && unit !== 'visitor') return invalidRequest('assignment');
  const startsOn = parseIsoDate(body.starts_on)!;
  const endsOn = body.ends_on == null ? null : parseIsoDate(body.ends_on)!;
  if (endsOn !== null && !isLastDay(startsOn, endsOn)) return invalidRequest('ends_on');
  if (dimensions.some((name) => name === 'device' || vertical.fields.some((field) => field.name === name))) {
    return invalidRequest('dimensions');
  }
  return successOutcome({
    arms: arms.map(({ referrer_tag: referrerTag, weight, label = null }) => ({ referrerTag, weight, label })),
    control,
    unit,
    assignment,
    startsOn,
    endsOn,
    minEffectPercent: body.min_effect_percent ?? null,
    capMicros: capUsd === null ? null : usdToExactMicros(capUsd),
    hypothesis: body.hypothesis ?? null,
    dimensions: [...dimensions],
    revenueDays: vertical.clicksConfirmRevenue ? bounds.clickRevenueDays : bounds.maturedDays,
    graceDays,
  });
}

/** Without `bounds.matureDaysMin` cohort days, no comparison of the experiment would ever begin. */
function isLastDay(startsOn: number, endsOn: number): boolean {
  return endsOn >= startsOn + bounds.matureDaysMin - 1 && endsOn <= startsOn + bounds.experimentDaysMax;
}

function findInvalidArm(arms: ExperimentDefinitionRequest['arms']): Failure | null {
  for (const { referrer_tag: tag, weight, label = null } of arms) {
    if (!isReferrerTag(tag)) return invalidRequest('referrer_tag', armTagRule);
    if (!(typeof weight === 'number' && weight >= bounds.armWeightMin)) return invalidRequest('weight');
    if (!isLabel(label)) return invalidRequest('label');
  }
  const sum = arms.reduce((total, { weight }) => total + weight, 0);
  // The negated comparison also rejects NaN.
  if (!(Math.abs(sum - 1) <= bounds.weightSumTolerance)) return invalidRequest('weight');
  return new Set(arms.map(({ referrer_tag: tag }) => tag)).size === arms.length ? null : invalidRequest('arms');
}

const armTagRule = 'must be a string of 3 to 64 lower-case letters, digits, underscores or hyphens in each arm';

/**
 * Returns the first member in which two definitions differ and that may not change after the first session of an arm, or null. Only labels,
 * the hypothesis and the dimensions may change.
 */
export function findFixedMemberChange(one: ExperimentDefinition, other: ExperimentDefinition): RequestParamName | null {
  const describeArms = ({ arms }: ExperimentDefinition) =>
    JSON.stringify(arms.map(({ referrerTag, weight }) => [referrerTag, weight]));
  const isSame: readonly (readonly [RequestParamName, boolean])[] = [
    ['arms', describeArms(one) === describeArms(other)],
    ['control', one.control === other.control],
    ['unit', one.unit === other.unit],
    ['assignment', one.assignment === other.assignment],
    ['starts_on', one.startsOn === other.startsOn],
    ['ends_on', one.endsOn === other.endsOn],
    ['min_effect_percent', one.minEffectPercent === other.minEffectPercent],
    ['cap_usd', one.capMicros === other.capMicros],
  ];
  return isSame.find(([, same]) => !same)?.[0] ?? null;
}
