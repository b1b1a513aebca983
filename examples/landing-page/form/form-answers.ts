import type { ApiFields, InvalidField } from '../api/marketplace-api.ts';
import type { Answers } from '../experiment/visit.ts';
import { formatWholeDollars } from '../pages/formatting.ts';
import { type Field, fields } from './fields.ts';

/** Maximum number of characters of an answer, because the cookie that contains the answers must be small. */
const answerLengthMax = 40;

/** Returns the posted answers to these fields and ignores other posted values. */
export function parseAnswers(form: URLSearchParams, names: readonly string[]): Answers {
  return Object.fromEntries(names.map((name) => [name, (form.get(name) ?? '').trim().slice(0, answerLengthMax)]));
}

/**
 * Converts answers to API fields. An amount that is not a number is sent unchanged: the API validates every value, and its error
 * is shown beside the field. An empty answer clears the field.
 */
export function toApiFields(answers: Answers): ApiFields {
  return Object.fromEntries(
    [...fields.values()]
      .filter(({ name }) => answers[name] !== undefined)
      .map((field) => [field.name, toApiValue(field, answers[field.name]!)]),
  );
}

/** Returns the requested loan amount in USD, or null if the answer is not a number. */
export function parseLoanAmount(answers: Answers): number | null {
  const amount = toNumber(answers.loan_amount ?? '');
  return typeof amount === 'number' ? amount : null;
}

function toApiValue({ kind }: Field, text: string): unknown {
  if (text === '') return null;
  return kind === 'dollars' ? toNumber(text) : text;
}

/** Parses amounts such as `15000`, `15,000` and `$15,000.00`; returns the text if it is not a number. */
function toNumber(text: string): number | string {
  const bare = text.replaceAll(/[$,\s]/g, '');
  return /^-?\d+(\.\d+)?$/.test(bare) ? Number(bare) : text;
}

/** Error messages for the visitor, by field name. */
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
  // An unknown rule: shows the message of the API.
  return `This ${message}.`;
}
