import type { ApiFields, InvalidField } from '../api/marketplace-api.ts';
import type { Answers } from '../experiment/visit.ts';
import { formatWholeDollars } from '../pages/formatting.ts';
import { type Field, fields } from './fields.ts';

/** Nobody types more than this by hand; the cookie that answers travel in has to stay small. */
const answerLengthMax = 40;

/** What was entered for these fields, and nothing else that was posted. */
export function parseAnswers(form: URLSearchParams, names: readonly string[]): Answers {
  return Object.fromEntries(names.map((name) => [name, (form.get(name) ?? '').trim().slice(0, answerLengthMax)]));
}

/**
 * Answers as the API takes them. What cannot be read is sent as it was entered: the API judges every value, and its words
 * come back beside the field. What is left empty is cleared.
 */
export function toApiFields(answers: Answers): ApiFields {
  return Object.fromEntries(
    [...fields.values()]
      .filter(({ name }) => answers[name] !== undefined)
      .map((field) => [field.name, toApiValue(field, answers[field.name]!)]),
  );
}

/** The amount asked for in USD, or null where none was understood. */
export function parseLoanAmount(answers: Answers): number | null {
  const amount = toNumber(answers.loan_amount ?? '');
  return typeof amount === 'number' ? amount : null;
}

function toApiValue({ kind }: Field, text: string): unknown {
  if (text === '') return null;
  return kind === 'dollars' ? toNumber(text) : text;
}

/** Reads `15000`, `15,000` and `$15,000.00`. */
function toNumber(text: string): number | string {
  const bare = text.replaceAll(/[$,\s]/g, '');
  return /^-?\d+(\.\d+)?$/.test(bare) ? Number(bare) : text;
}

/** What is wrong, by field, in words for a visitor. */
export type FieldErrors = Readonly<Record<string, string>>;

export function missingFieldErrors(names: readonly string[]): FieldErrors {
  return Object.fromEntries(names.map((name) => [name, 'Please answer this question.']));
}

export function invalidFieldErrors(invalid: readonly InvalidField[]): FieldErrors {
  return Object.fromEntries(invalid.map((fault) => [fault.field, describeInvalidField(fault)]));
}

function describeInvalidField({ field: name, code, message, min, max }: InvalidField): string {
  const kind = fields.get(name)?.kind;
  if (kind === 'dollars' && code === 'type') return 'Please enter whole dollars, such as 15,000.';
  if (kind === 'dollars' && code === 'range' && min !== undefined && max !== undefined) {
    return `Please enter an amount from ${formatWholeDollars(min)} to ${formatWholeDollars(max)}.`;
  }
  if (code === 'enum') return 'Please choose one of the answers.';
  // A rule we do not know yet: the API's own words are written for whoever sent the value.
  return `This ${message}.`;
}
