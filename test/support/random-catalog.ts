import { generateCatalog as generate } from '../../bench/catalogs/generate-catalog.ts';
import { type RandomSource, randomElement, randomInteger, seededRandom } from '../../bench/catalogs/seeded-random.ts';
import { absentValue, type FieldVector } from '../../src/domain/field-vector.ts';
import type { PocketField, Vertical } from '../../src/domain/vertical.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';

export { type RandomSource as Random, seededRandom };

/** Generates a catalog as the command line does. */
export function generateCatalog(seed: number, offers: number, vertical: Vertical = personalLoans): LoanCatalog {
  return generate({ seed, offers, vertical });
}

/** Generates a plausible borrower. Omits each optional field with the probability `absentChance`. */
export function randomBorrower(
  random: RandomSource,
  vertical: Vertical = personalLoans,
  absentChance = 0.3,
): FieldVector {
  return vertical.fields.map((field) => {
    if (!vertical.required.includes(field.name) && random() < absentChance) return absentValue;
    return randomFieldValue(random, field);
  });
}

/** Returns a random valid value of a field, as stored in the pocket vector. */
export function randomFieldValue(random: RandomSource, field: PocketField): number {
  switch (field.kind) {
    case 'choice':
      return randomInteger(random, 0, field.values.length - 1);
    case 'integer_choice':
      return randomElement(random, field.values);
    case 'boolean':
      return randomInteger(random, 0, 1);
    case 'integer':
      // Prefers low values, because matching depends on these and the range may extend to millions.
      return Math.round(field.min + (Math.min(field.max, 200_000) - field.min) * random() ** 2);
    case 'birthdate':
      return (
        randomInteger(random, 1935, 2010) * 10_000 + randomInteger(random, 1, 12) * 100 + randomInteger(random, 1, 28)
      );
    case 'digits':
      return randomInteger(random, 0, 10 ** field.length - 1);
  }
}
