import type { ExperimentDefinitionRequest } from '../common/api-types.ts';
import { addDays } from '../common/format.ts';
import { armsMax } from '../common/limits.ts';

/** One page of the form. The share is in percent. */
export interface ArmForm {
  readonly tag: string;
  readonly label: string;
  readonly share: string;
}

/** The form of a new experiment. Numbers and days are the texts that the user entered; an empty text is no value. */
export interface ExperimentForm {
  readonly name: string;
  /** The first one is the control. */
  readonly arms: readonly ArmForm[];
  readonly unit: 'session' | 'visitor';
  readonly assignment: 'own' | 'hash';
  readonly startsOn: string;
  readonly endsOn: string;
  readonly minEffectPercent: string;
  readonly capUsd: string;
  readonly hypothesis: string;
  /** Names separated by commas. */
  readonly dimensions: string;
  readonly basedOn: string;
  readonly sessionsPerDay: string;
}

/** Parts of the form that can show an error. */
type FormField = keyof ExperimentForm | 'shares';
export type FormErrors = Partial<Readonly<Record<FormField, string>>>;

/** Days of sessions that the form suggests: six weeks. */
const suggestedDays = 42;

/** Returns equal shares in percent with two decimals, which add up to 100. */
function equalShares(count: number): string[] {
  const share = Math.floor(10_000 / count);
  return Array.from({ length: count }, (_, index) =>
    String((index === 0 ? 10_000 - share * (count - 1) : share) / 100),
  );
}

/** Returns the form with two empty pages, that starts tomorrow. `now` is the time of the server. */
export function createForm(now: string): ExperimentForm {
  const startsOn = addDays(now.slice(0, 10), 1);
  return {
    name: '',
    arms: equalShares(2).map((share) => ({ tag: '', label: '', share })),
    unit: 'visitor',
    assignment: 'hash',
    startsOn,
    endsOn: addDays(startsOn, suggestedDays - 1),
    minEffectPercent: '10',
    capUsd: '',
    hypothesis: '',
    dimensions: '',
    basedOn: '',
    sessionsPerDay: '',
  };
}

/** Adds an empty page. All pages get equal shares. */
export function addArm(form: ExperimentForm): ExperimentForm {
  if (form.arms.length >= armsMax) return form;
  return withEqualShares({ ...form, arms: [...form.arms, { tag: '', label: '', share: '' }] });
}

/** Removes a page. The other pages get equal shares. */
export function removeArm(form: ExperimentForm, index: number): ExperimentForm {
  return withEqualShares({ ...form, arms: form.arms.filter((_, at) => at !== index) });
}

function withEqualShares(form: ExperimentForm): ExperimentForm {
  const shares = equalShares(form.arms.length);
  return { ...form, arms: form.arms.map((arm, index) => ({ ...arm, share: shares[index]! })) };
}

/** Parses a number with a decimal point or a decimal comma. Returns NaN for other texts, which the API refuses in the right field. */
function parseNumber(text: string): number {
  const trimmed = text.trim().replace(',', '.');
  return /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
}

const parseOptionalNumber = (text: string) => (text.trim() === '' ? null : parseNumber(text));
const optionalText = (text: string) => (text.trim() === '' ? null : text.trim());

/** Returns the body of `PUT /experiments/{name}`. JSON turns NaN into null, so `findFormErrors` must accept the form first. */
export function toDefinition(form: ExperimentForm): ExperimentDefinitionRequest {
  const { arms, unit, assignment, startsOn, endsOn, dimensions } = form;
  return {
    arms: arms.map(({ tag, label, share }) => ({
      referrer_tag: tag.trim(),
      // Removes the rounding errors of the division.
      weight: Number((parseNumber(share) / 100).toFixed(6)),
      label: optionalText(label),
    })),
    control: arms[0]!.tag.trim(),
    unit,
    assignment: unit === 'session' ? 'own' : assignment,
    starts_on: startsOn,
    ends_on: optionalText(endsOn),
    min_effect_percent: parseOptionalNumber(form.minEffectPercent),
    cap_usd: parseOptionalNumber(form.capUsd),
    hypothesis: optionalText(form.hypothesis),
    dimensions: dimensions
      .split(',')
      .map((dimension) => dimension.trim())
      .filter((dimension) => dimension !== ''),
  };
}

/** Names that stand for those that the user has not entered yet, so that the plan can be computed before. */
const placeholderName = 'new-experiment';

/**
 * Returns the request of the plan. Empty tags and an empty name get placeholders, because the plan does not depend on them.
 *
 * @param basedOn page whose figures the plan uses
 */
export function toPlanRequest(form: ExperimentForm, basedOn: string) {
  const arms = form.arms.map((arm, index) => ({ ...arm, tag: arm.tag.trim() || `${placeholderName}-${index + 1}` }));
  return {
    name: form.name.trim() || placeholderName,
    body: {
      ...toDefinition({ ...form, arms }),
      based_on: optionalText(basedOn),
      expected_sessions_per_day: parseOptionalNumber(form.sessionsPerDay),
    },
  };
}

const namePattern = /^[a-z0-9_-]{3,64}$/;
const nameRule = 'Use 3 to 64 lower-case letters, digits, underscores or hyphens.';

/** Returns the errors of what the API cannot check: texts that are no numbers, and what is missing. The API checks everything else. */
export function findFormErrors(form: ExperimentForm): FormErrors {
  const errors: Partial<Record<FormField, string>> = {};
  if (!namePattern.test(form.name.trim())) errors.name = nameRule;
  const wrongTag = form.arms.findIndex(({ tag }) => !namePattern.test(tag.trim()));
  if (wrongTag !== -1) errors.arms = `Tag of page ${wrongTag + 1}: ${nameRule}`;
  return { ...errors, ...findNumberErrors(form) };
}

/** Returns an error for each text that is no number. */
export function findNumberErrors(form: ExperimentForm): FormErrors {
  const errors: Partial<Record<FormField, string>> = {};
  const numberRule = 'Enter a number such as 10 or 12.5.';
  if (form.arms.some(({ share }) => Number.isNaN(parseNumber(share)))) errors.shares = `Shares: ${numberRule}`;
  for (const field of ['minEffectPercent', 'capUsd', 'sessionsPerDay'] as const) {
    if (Number.isNaN(parseOptionalNumber(form[field]))) errors[field] = numberRule;
  }
  return errors;
}

/** The part of the form that a `param` of the API is about. */
const fieldsByParam: Readonly<Record<string, FormField>> = {
  name: 'name',
  arms: 'arms',
  referrer_tag: 'arms',
  label: 'arms',
  control: 'arms',
  weight: 'shares',
  unit: 'unit',
  assignment: 'assignment',
  starts_on: 'startsOn',
  ends_on: 'endsOn',
  min_effect_percent: 'minEffectPercent',
  cap_usd: 'capUsd',
  hypothesis: 'hypothesis',
  dimensions: 'dimensions',
  based_on: 'basedOn',
  expected_sessions_per_day: 'sessionsPerDay',
};

/** Returns the field that a refusal of the API is about; null if it is about no field. */
export function findFieldOfParam(param: string | null): FormField | null {
  return (param !== null && Object.hasOwn(fieldsByParam, param) && fieldsByParam[param]) || null;
}

/** Returns the error that says that the name is taken. A definition with this name would change the other experiment. */
export function nameTakenError(name: string): FormErrors {
  return { name: `An experiment with the name ${name} exists already, or existed and was deleted. Use another name.` };
}
