import type { InputsResponse } from '../api/marketplace-api.ts';
import type { Answers } from '../experiment/visit.ts';
import { irrelevantFields } from './fields.ts';

/** One page of the quiz, with one or several form fields. */
export interface Question {
  readonly id: string;
  readonly title: string;
  readonly fields: readonly string[];
  /** Whether the visitor can skip the question. */
  readonly optional: boolean;
}

/** Questions of the quiz in order. Easy questions come first, because visitors who have started usually continue. */
export const questions: readonly Question[] = [
  { id: 'purpose', title: 'What is the loan for?', fields: ['loan_purpose'], optional: false },
  { id: 'amount', title: 'How much would you like to borrow?', fields: ['loan_amount'], optional: false },
  { id: 'credit', title: 'What is your credit score, roughly?', fields: ['credit_score_range'], optional: false },
  { id: 'you', title: 'A little about you', fields: ['annual_income', 'employment_status', 'state'], optional: false },
  { id: 'more', title: 'One last question', fields: ['monthly_debt_payments', 'housing_status'], optional: true },
];

export const firstQuestion = questions[0]!;

export function findQuestion(id: string | null): Question | null {
  return questions.find((question) => question.id === id) ?? null;
}

/** Returns the fields of a question for this visitor. The fields of the last question depend on the loan purpose. */
export function askedFields(question: Question, answers: Answers): readonly string[] {
  const unasked = irrelevantFields(answers.loan_purpose);
  return question.fields.filter((name) => !unasked.includes(name));
}

/**
 * Returns the next question, or null if offers can be requested. The API reports the missing fields, so the order of the
 * questions can change and a visitor can go back without additional rules here.
 */
export function nextQuestion(inputs: InputsResponse, skipped: boolean): Question | null {
  const missing = skipped ? inputs.missing_required : [...inputs.missing_required, ...inputs.missing_conditional];
  return questions.find((question) => question.fields.some((name) => missing.includes(name))) ?? null;
}
