import type { InputsResponse } from '../api/marketplace-api.ts';
import type { Answers } from '../experiment/visit.ts';
import { fieldsOf, type Product } from '../products/product.ts';
import { irrelevantFields } from './fields.ts';

/** One page of the quiz, with one or several form fields. */
export interface Question {
  readonly id: string;
  readonly title: string;
  readonly fields: readonly string[];
  /** Whether the visitor can skip the question. */
  readonly optional?: true;
}

export function findQuestion({ questions }: Product, id: string | null): Question | null {
  return questions.find((question) => question.id === id) ?? null;
}

/** Returns the fields of a question for this visitor. Conditional fields depend on the other answers. */
export function askedFields(product: Product, question: Question, answers: Answers): readonly string[] {
  const unasked = irrelevantFields(fieldsOf(product), answers);
  return question.fields.filter((name) => !unasked.includes(name));
}

/**
 * Returns the next question, or null if offers can be requested. The API reports the missing fields, so the order of the
 * questions can change and a visitor can go back without additional rules here.
 */
export function nextQuestion({ questions }: Product, inputs: InputsResponse, skipped: boolean): Question | null {
  const missing = skipped ? inputs.missing_required : [...inputs.missing_required, ...inputs.missing_conditional];
  return questions.find((question) => question.fields.some((name) => missing.includes(name))) ?? null;
}
