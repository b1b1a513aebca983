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
 * Returns the next question, or null if offers can be requested: the first question with missing fields, or the first question after
 * `current` that the visitor has not seen. The API reports the missing fields, so the order of the questions can change and a visitor can go
 * back without additional rules here. Every visitor sees all questions with fields for this visitor, because both variants ask for the same
 * fields.
 *
 * @param current question that the visitor has just answered; null if only missing fields matter
 */
export function nextQuestion(
  product: Product,
  inputs: InputsResponse,
  skipped: boolean,
  current: Question | null,
  answers: Answers,
): Question | null {
  const { questions } = product;
  const missing = skipped ? inputs.missing_required : [...inputs.missing_required, ...inputs.missing_conditional];
  const unseen =
    current === null
      ? []
      : questions.slice(questions.indexOf(current) + 1).filter((question) => {
          const asked = askedFields(product, question, answers);
          return asked.length > 0 && asked.every((name) => answers[name] === undefined);
        });
  return (
    questions.find((question) => question.fields.some((name) => missing.includes(name)) || unseen.includes(question)) ??
    null
  );
}
