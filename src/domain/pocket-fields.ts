import { completedYearsBetween, parseIsoDate, toCompactDate } from './calendar.ts';
import { absentValue, type FieldVector, findFieldIndex, getChoiceValues } from './field-vector.ts';
import { getOrAdd } from './get-or-add.ts';
import type { InvalidField } from './outcome.ts';
import type { PocketField, Vertical } from './vertical.ts';

/** Result of validating submitted pocket fields (docs/contract.md#submitting-fields), each list in the order of submission. */
interface FieldValidation {
  readonly accepted: readonly string[];
  readonly unknown: readonly string[];
  /** Invalid fields. If one field is invalid, the caller rejects the whole submission. */
  readonly invalid: readonly InvalidField[];
  /** Changes to the session's field vector, as a flat list: position, new encoded value, next position, next value, and so on. */
  readonly changes: readonly number[];
}

/** Validates submitted pocket fields without type coercion; `null` clears a field. `today` is the UTC day as an integer: 20260131. */
export function validatePocketFields(vertical: Vertical, submitted: object, today: number): FieldValidation {
  const accepted: string[] = [];
  const unknown: string[] = [];
  const invalid: InvalidField[] = [];
  const changes: number[] = [];
  const values = submitted as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(submitted)) {
    const position = findFieldIndex(vertical, name);
    if (position < 0) {
      unknown.push(name);
      continue;
    }
    const value = values[name];
    const encoded = value === null ? absentValue : encodeValue(vertical.fields[position]!, value, today);
    if (typeof encoded !== 'number') {
      invalid.push(encoded);
      continue;
    }
    accepted.push(name);
    changes.push(position, encoded);
  }
  return { accepted, unknown, invalid, changes };
}

/** Encodes a value for the field vector. Returns an `InvalidField` if the value is invalid. */
function encodeValue(field: PocketField, value: unknown, today: number): number | InvalidField {
  const invalid = (code: InvalidField['code'], message: string, limits: Partial<InvalidField> = {}): InvalidField => ({
    field: field.name,
    code,
    message,
    ...limits,
  });
  switch (field.kind) {
    case 'integer': {
      const { min, max } = field;
      if (!Number.isInteger(value)) return invalid('type', 'must be a whole number', { min, max });
      const integer = value as number;
      if (integer < min || integer > max) return invalid('range', `must be between ${min} and ${max}`, { min, max });
      return integer + 0; // Converts -0 to 0.
    }
    case 'choice': {
      const { values: allowed } = field;
      if (typeof value !== 'string') return invalid('type', 'must be a string, one of the allowed values', { allowed });
      const index = allowed.indexOf(value);
      return index >= 0 ? index : invalid('enum', 'must be one of the allowed values', { allowed });
    }
    case 'integer_choice': {
      const { values: allowed } = field;
      if (!Number.isInteger(value)) {
        return invalid('type', 'must be a whole number, one of the allowed values', { allowed });
      }
      if (allowed.includes(value as number)) return value as number;
      return invalid('enum', 'must be one of the allowed values', { allowed });
    }
    case 'boolean':
      return typeof value === 'boolean' ? Number(value) : invalid('type', 'must be true or false');
    case 'birthdate': {
      if (typeof value !== 'string') return invalid('type', 'must be a string, a date as YYYY-MM-DD');
      const day = parseIsoDate(value);
      if (day === null) return invalid('format', 'must be a calendar date as YYYY-MM-DD');
      const born = toCompactDate(day);
      if (born > today) return invalid('range', 'must not be in the future');
      const { minAgeYears, maxAgeYears } = field;
      const age = completedYearsBetween(born, today);
      if (age > maxAgeYears) return invalid('range', `must be at most ${maxAgeYears} years ago`);
      if (age >= minAgeYears) return born;
      return invalid('min_age', `the borrower must be at least ${minAgeYears} years old`, { min: minAgeYears });
    }
    case 'digits': {
      const { length } = field;
      if (typeof value !== 'string') return invalid('type', `must be a string of ${length} digits`);
      const isValid = value.length === length && /^[0-9]+$/.test(value);
      return isValid ? Number(value) : invalid('format', `must be exactly ${length} digits`);
    }
  }
}

/** Rule for fields whose values can be impossible together. Most products have no such rule. */
export interface FieldConflictRule {
  /**
   * Returns the names of fields whose combination of values is impossible, with the most likely cause first, and the rule that the fields
   * break, such as `must be less than property_value`; null if the combination is possible. A rule does not apply if one of its fields has
   * no value.
   */
  findConflictingFields?(
    vertical: Vertical,
    fields: Readonly<FieldVector>,
  ): { readonly names: readonly string[]; readonly rule: string } | null;
}

/**
 * Returns an `InvalidField` if the changes lead to a combination of values that is impossible, such as a down payment of the whole value of
 * a house; otherwise null. The reported field is one of the changed fields.
 *
 * @param earlier field vector of the session, followed by the changes that take effect before these changes
 * @param changes list of `FieldValidation.changes`
 */
export function findConflictingField(
  { findConflictingFields }: FieldConflictRule,
  vertical: Vertical,
  [fields, ...earlier]: readonly [Readonly<FieldVector>, ...(readonly number[])[]],
  changes: readonly number[],
): InvalidField | null {
  if (findConflictingFields === undefined) return null;
  const merged = [...fields];
  for (const list of [...earlier, changes]) {
    for (let at = 0; at < list.length; at += 2) merged[list[at]!] = list[at + 1]!;
  }
  const impossible = findConflictingFields(vertical, merged);
  const isChanged = (name: string) =>
    changes.some((value, at) => at % 2 === 0 && vertical.fields[value]!.name === name);
  const field = impossible?.names.find(isChanged);
  return field === undefined ? null : { field, code: 'range', message: impossible!.rule };
}

/** Whether the pocket fields submitted so far suffice to match offers (docs/contract.md#match-readiness). */
export interface MatchReadiness {
  readonly matchReadiness: 'high' | 'partial' | 'insufficient';
  readonly missingRequired: readonly string[];
  readonly missingConditional: readonly string[];
}

export function computeMatchReadiness(vertical: Vertical, fields: Readonly<FieldVector>): MatchReadiness {
  const rule = getOrAdd(rulesByVertical, vertical, () => compileReadinessRule(vertical));
  const missingRequired: string[] = [];
  for (const { name, position } of rule.required) {
    if (fields[position] === absentValue) missingRequired.push(name);
  }
  const missingConditional: string[] = [];
  for (const { name, position, whenPosition, whenValue, isRequired } of rule.conditional) {
    if (fields[whenPosition] !== whenValue || fields[position] !== absentValue) continue;
    (isRequired ? missingRequired : missingConditional).push(name);
  }
  const matchReadiness =
    missingRequired.length > 0 ? 'insufficient' : missingConditional.length > 0 ? 'partial' : 'high';
  return { matchReadiness, missingRequired, missingConditional };
}

const rulesByVertical = new WeakMap<Vertical, ReturnType<typeof compileReadinessRule>>();

/** Returns the required and conditional fields of a vertical, each with its position in the field vector. */
function compileReadinessRule(vertical: Vertical) {
  return {
    required: vertical.required.map((name) => ({ name, position: findFieldIndex(vertical, name) })),
    conditional: vertical.conditional.map(({ field, when, isRequired = false }) => ({
      name: field,
      position: findFieldIndex(vertical, field),
      whenPosition: findFieldIndex(vertical, when.field),
      whenValue: getChoiceValues(vertical, when.field).indexOf(when.is),
      isRequired,
    })),
  };
}
