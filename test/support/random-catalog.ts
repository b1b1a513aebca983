import { oneOf, type Random, seededRandom, wholeNumber } from '../../src/domain/seeded-random.ts';
import type { CatalogFile } from '../../src/offers/catalog-schema.ts';
import { generateCatalog as generate } from '../../src/offers/generate-catalog.ts';
import { personalLoans } from '../../src/verticals/personal-loans.ts';
import { absent, type PocketVector } from '../../src/verticals/pocket-vector.ts';
import type { PocketField, Vertical } from '../../src/verticals/vertical.ts';

export { type Random, seededRandom };

/** A catalog as the command line generates it. */
export function generateCatalog(seed: number, offers: number, vertical: Vertical = personalLoans): CatalogFile {
  return generate({ seed, offers, vertical });
}

/** A borrower with plausible values; each field that is not required is left out with the given chance. */
export function randomBorrower(random: Random, vertical: Vertical = personalLoans, absentChance = 0.3): PocketVector {
  return vertical.fields.map((field) => {
    if (!vertical.required.includes(field.name) && random() < absentChance) return absent;
    return randomValue(random, field);
  });
}

/** Any value of a field, as the pocket vector keeps it. */
export function randomValue(random: Random, field: PocketField): number {
  switch (field.kind) {
    case 'choice':
      return wholeNumber(random, 0, field.values.length - 1);
    case 'integer_choice':
      return oneOf(random, field.values);
    case 'boolean':
      return wholeNumber(random, 0, 1);
    case 'integer':
      // Low values are the interesting ones: the range may reach into the millions.
      return Math.round(field.min + (Math.min(field.max, 200_000) - field.min) * random() ** 2);
    case 'birthdate':
      return wholeNumber(random, 1935, 2010) * 10_000 + wholeNumber(random, 1, 12) * 100 + wholeNumber(random, 1, 28);
    case 'digits':
      return wholeNumber(random, 0, 10 ** field.length - 1);
  }
}
