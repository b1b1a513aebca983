import { generateCatalog as generate } from '../../bench/catalogs/generate-catalog.ts';
import { type Random, randomElement, randomInteger, seededRandom } from '../../bench/catalogs/seeded-random.ts';
import { absentValue, type FieldVector } from '../../src/verticals/field-vector.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { PocketField, Vertical } from '../../src/verticals/vertical.ts';

export { type Random, seededRandom };

/** A catalog as the command line generates it. */
export function generateCatalog(seed: number, offers: number, vertical: Vertical = personalLoans): LoanCatalog {
  return generate({ seed, offers, vertical });
}

/** A borrower with plausible values; each field that is not required is left out with the given chance. */
export function randomBorrower(random: Random, vertical: Vertical = personalLoans, absentChance = 0.3): FieldVector {
  return vertical.fields.map((field) => {
    if (!vertical.required.includes(field.name) && random() < absentChance) return absentValue;
    return randomValue(random, field);
  });
}

/** Any value of a field, as the pocket vector keeps it. */
export function randomValue(random: Random, field: PocketField): number {
  switch (field.kind) {
    case 'choice':
      return randomInteger(random, 0, field.values.length - 1);
    case 'integer_choice':
      return randomElement(random, field.values);
    case 'boolean':
      return randomInteger(random, 0, 1);
    case 'integer':
      // Low values are the interesting ones: the range may reach into the millions.
      return Math.round(field.min + (Math.min(field.max, 200_000) - field.min) * random() ** 2);
    case 'birthdate':
      return (
        randomInteger(random, 1935, 2010) * 10_000 + randomInteger(random, 1, 12) * 100 + randomInteger(random, 1, 28)
      );
    case 'digits':
      return randomInteger(random, 0, 10 ** field.length - 1);
  }
}
