import { completedYears, parseIsoDate, toCompactDate } from '../domain/calendar.ts';
import type { InvalidField } from '../domain/outcome.ts';
import { absentValue, fieldIndex, type FieldVector } from './field-vector.ts';
import type { PocketField, Vertical } from './vertical.ts';

/** Result of a submission of pocket fields (docs/contract.md#submitting-fields), in the order of submission. */
interface FieldValidation {
  readonly accepted: readonly string[];
  readonly unknown: readonly string[];
  /** Invalid fields. If the list is not empty, the whole submission is rejected. */
  readonly invalid: readonly InvalidField[];
  /** Changes of the session's field vector: position, value, position, value and so on. */
  readonly changes: readonly number[];
}

/** Validates submitted values without coercion; `null` clears a field. `today` is a compact date (YYYYMMDD). */
export function validateFields(vertical: Vertical, submitted: object, today: number): FieldValidation {
  const accepted: string[] = [];
  const unknown: string[] = [];
  const invalid: InvalidField[] = [];
  const changes: number[] = [];
  const values = submitted as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(submitted)) {
    const position = fieldIndex(vertical, name);
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

/** Encodes a value for the field vector. Returns an error if the value is invalid. */
function encodeValue(field: PocketField, value: unknown, today: number): number | InvalidField {
  switch (field.kind) {
    case 'integer':
      return encodeInteger(field, value);
    case 'choice':
      return encodeChoice(field, value);
    case 'integer_choice':
      return encodeIntegerChoice(field, value);
    case 'boolean':
      if (typeof value === 'boolean') return value ? 1 : 0;
      return { field: field.name, code: 'type', message: 'must be true or false' };
    case 'birthdate':
      return encodeBirthdate(field, value, today);
    case 'digits':
      return encodeDigits(field, value);
  }
}

type FieldOfKind<Name extends PocketField['kind']> = Extract<PocketField, { kind: Name }>;

function encodeInteger({ name, min, max }: FieldOfKind<'integer'>, value: unknown): number | InvalidField {
  if (!Number.isInteger(value)) return { field: name, code: 'type', message: 'must be a whole number', min, max };
  const integer = value as number;
  if (integer < min || integer > max) {
    return { field: name, code: 'range', message: `must be between ${min} and ${max}`, min, max };
  }
  return integer + 0; // Converts -0 to 0.
}

function encodeChoice({ name, values }: FieldOfKind<'choice'>, value: unknown): number | InvalidField {
  if (typeof value !== 'string') {
    return { field: name, code: 'type', message: 'must be a string, one of the allowed values', allowed: values };
  }
  const index = values.indexOf(value);
  return index >= 0
    ? index
    : { field: name, code: 'enum', message: 'must be one of the allowed values', allowed: values };
}

function encodeIntegerChoice({ name, values }: FieldOfKind<'integer_choice'>, value: unknown): number | InvalidField {
  if (!Number.isInteger(value)) {
    return { field: name, code: 'type', message: 'must be a whole number, one of the allowed values', allowed: values };
  }
  if (values.includes(value as number)) return value as number;
  return { field: name, code: 'enum', message: 'must be one of the allowed values', allowed: values };
}

function encodeBirthdate(field: FieldOfKind<'birthdate'>, value: unknown, today: number): number | InvalidField {
  const { name, minAgeYears, maxAgeYears } = field;
  if (typeof value !== 'string')
    return { field: name, code: 'type', message: 'must be a string, a date as YYYY-MM-DD' };
  const day = parseIsoDate(value);
  if (day === null) return { field: name, code: 'format', message: 'must be a calendar date as YYYY-MM-DD' };
  const born = toCompactDate(day);
  if (born > today) return { field: name, code: 'range', message: 'must not lie in the future' };
  const age = completedYears(born, today);
  if (age > maxAgeYears) return { field: name, code: 'range', message: `must be at most ${maxAgeYears} years ago` };
  if (age < minAgeYears) {
    return {
      field: name,
      code: 'min_age',
      message: `the borrower must be at least ${minAgeYears} years old`,
      min: minAgeYears,
    };
  }
  return born;
}

function encodeDigits({ name, length }: FieldOfKind<'digits'>, value: unknown): number | InvalidField {
  if (typeof value !== 'string') return { field: name, code: 'type', message: `must be a string of ${length} digits` };
  if (value.length !== length || !/^[0-9]+$/.test(value)) {
    return { field: name, code: 'format', message: `must be exactly ${length} digits` };
  }
  return Number(value);
}

/** Likelihood that the fields submitted so far return offers (docs/contract.md#match-readiness). */
export interface Readiness {
  readonly matchReadiness: 'high' | 'partial' | 'insufficient';
  readonly missingRequired: readonly string[];
  readonly missingConditional: readonly string[];
}

interface ReadinessRule {
  readonly required: readonly { readonly name: string; readonly position: number }[];
  readonly conditional: readonly {
    readonly name: string;
    readonly position: number;
    readonly whenPosition: number;
    readonly whenValue: number;
  }[];
}

export function computeReadiness(vertical: Vertical, fields: Readonly<FieldVector>): Readiness {
  const rule = readinessRuleFor(vertical);
  const missingRequired: string[] = [];
  for (const { name, position } of rule.required) {
    if (fields[position] === absentValue) missingRequired.push(name);
  }
  const missingConditional: string[] = [];
  for (const { name, position, whenPosition, whenValue } of rule.conditional) {
    if (fields[whenPosition] === whenValue && fields[position] === absentValue) missingConditional.push(name);
  }
  const matchReadiness =
    missingRequired.length > 0 ? 'insufficient' : missingConditional.length > 0 ? 'partial' : 'high';
  return { matchReadiness, missingRequired, missingConditional };
}

const rulesByVertical = new WeakMap<Vertical, ReadinessRule>();

function readinessRuleFor(vertical: Vertical): ReadinessRule {
  let rule = rulesByVertical.get(vertical);
  if (rule === undefined) {
    rule = {
      required: vertical.required.map((name) => ({ name, position: requiredFieldIndex(vertical, name) })),
      conditional: vertical.conditional.map(({ field, when }) => ({
        name: field,
        position: requiredFieldIndex(vertical, field),
        whenPosition: requiredFieldIndex(vertical, when.field),
        whenValue: choiceIndex(vertical, when.field, when.is),
      })),
    };
    rulesByVertical.set(vertical, rule);
  }
  return rule;
}

function requiredFieldIndex(vertical: Vertical, name: string): number {
  const index = fieldIndex(vertical, name);
  if (index < 0) throw new Error(`vertical ${vertical.segment} names ${name}, which is not one of its fields`);
  return index;
}

function choiceIndex(vertical: Vertical, name: string, value: string): number {
  const field = vertical.fields[requiredFieldIndex(vertical, name)]!;
  const index = field.kind === 'choice' ? field.values.indexOf(value) : -1;
  if (index < 0) throw new Error(`vertical ${vertical.segment}: ${name} has no choice ${value}`);
  return index;
}
