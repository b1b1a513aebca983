import type { InvalidField } from '../api/shapes.ts';
import { formatWholeDollars } from '../pages/numbers.ts';
import { fields } from './fields.ts';

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
