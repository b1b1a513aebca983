import type { ApiFields } from '../api/marketplace-api.ts';
import type { Answers } from '../experiment/visit.ts';
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
