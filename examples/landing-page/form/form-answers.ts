import type { ApiFields, InvalidField } from '../api/marketplace-api.ts';
import type { Answers } from '../experiment/visit.ts';
import { formatWholeDollars } from '../pages/formatting.ts';
import type { Field } from './fields.ts';

/** Maximum number of characters of an answer, because the cookie that contains the answers must be small. */
const answerLengthMax = 40;

/** Returns the posted answers to these fields and ignores other posted values. */
export function parseAnswers(form: URLSearchParams, names: readonly string[]): Answers {
  return Object.fromEntries(names.map((name) => [name, (form.get(name) ?? '').trim().slice(0, answerLengthMax)]));
}

/**
 * Converts answers to API fields. An answer that is no amount or choice is sent unchanged: the API validates every value, and its
 * error is shown beside the field. An empty answer clears the field.
 */
export function toApiFields(fields: readonly Field[], answers: Answers): ApiFields {
  return Object.fromEntries(
    fields
      .filter(({ name }) => answers[name] !== undefined)
      .map((field) => [field.name, toApiValue(field, answers[field.name]!)]),
  );
}

/** Returns the amount of an answer in USD, or null if the answer is not a number. */
export function parseAmount(text: string | undefined): number | null {
  const amount = toNumber(text ?? '');
  return typeof amount === 'number' ? amount : null;
}

function toApiValue({ choices }: Field, text: string): unknown {
  if (text === '') return null;
  if (choices === undefined) return toNumber(text);
  const [value] = choices.find(([choice]) => String(choice) === text) ?? [text];
  return value;
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

export function invalidFieldErrors(fields: readonly Field[], invalid: readonly InvalidField[]): FieldErrors {
  return Object.fromEntries(
    invalid.map((fault) => [
      fault.field,
      describeInvalidField(
        fields.find(({ name }) => name === fault.field),
        fault,
      ),
    ]),
  );
}

function describeInvalidField(field: Field | undefined, { code, message, min, max }: InvalidField): string {
  const isAmount = field?.choices === undefined;
  if (isAmount && code === 'type') return 'Please enter whole dollars, such as 15,000.';
  if (isAmount && code === 'range' && min !== undefined && max !== undefined) {
    return `Please enter an amount from ${formatWholeDollars(min)} to ${formatWholeDollars(max)}.`;
  }
  if (code === 'enum') return 'Please choose one of the answers.';
  // Another rule: shows the message of the API, such as `the down_payment of a purchase must be less than property_value`.
  const rule = message.replaceAll('_', ' ');
  return rule.startsWith('must ') ? `This ${rule}.` : `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`;
}
