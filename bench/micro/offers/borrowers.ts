import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { emptyFieldVector, type FieldVector } from '../../../src/verticals/pocket-vector.ts';
import { validateFields } from '../../../src/verticals/validate-fields.ts';
import { drawBorrower } from '../../population/borrower.ts';
import { seededRandom } from '../../population/random.ts';

/** The day ages are reckoned on, as a compact date. */
export const fixedToday = 20260101;

/** Borrowers of the population in the form a session keeps them in. */
export function randomBorrowerVectors(count: number, seed: number): FieldVector[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const vector = emptyFieldVector(personalLoans);
    const { changes } = validateFields(personalLoans, drawBorrower(random), fixedToday);
    for (let i = 0; i < changes.length; i += 2) vector[changes[i]!] = changes[i + 1]!;
    return vector;
  });
}
