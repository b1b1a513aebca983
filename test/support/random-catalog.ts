import type { CatalogCriterion, CatalogFile, CatalogOffer } from '../../src/offers/catalog-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans.ts';
import { absent, type PocketVector } from '../../src/verticals/pocket-vector.ts';
import type { PocketField, Vertical } from '../../src/verticals/vertical.ts';

/** Uniform numbers in [0, 1), the same for the same seed on every machine (mulberry32). */
export type Random = () => number;

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A valid catalog of `offers` offers with criteria on any field that may have some; the same for the same arguments. */
export function generateCatalog(seed: number, offers: number, vertical: Vertical = personalLoans): CatalogFile {
  const random = seededRandom(seed);
  const lenders: CatalogFile['lenders'] = [];
  for (let made = 0; made < offers; ) {
    const count = Math.min(offers - made, whole(random, 1, 4));
    lenders.push({
      name: `Lender ${lenders.length} "of" ${vertical.segment}`,
      logo: `lender-${lenders.length}.svg`,
      // Ids in no particular order, so that nothing leans on the order of the file.
      offers: Array.from({ length: count }, () =>
        randomOffer(random, `o${whole(random, 0, 9999)}-${made++}`, vertical),
      ),
    });
  }
  const states = choices(vertical, vertical.roles.state);
  return {
    format: 1,
    vertical: vertical.segment,
    disclosure: 'Offers made up for tests.',
    max_apr_percent: 36,
    state_rules: Object.fromEntries(
      states
        .filter(() => random() < 0.2)
        .map((state) => [
          state,
          {
            ...(random() < 0.7 ? { max_apr_percent: pick(random, [15, 17, 20, 24, 24.5, 30, 36]) } : {}),
            ...(random() < 0.5 ? { min_amount: whole(random, 1, 10) * 1_000 } : {}),
          },
        ]),
    ),
    lenders,
  };
}

function randomOffer(random: Random, id: string, vertical: Vertical): CatalogOffer {
  const amountMin = whole(random, 1, 5) * 500;
  const amountMax = amountMin + whole(random, 20, 190) * 500;
  const bands = choices(vertical, vertical.roles.creditBand);
  const worst = whole(random, 0, Math.ceil(bands.length / 2));
  const best = random() < 0.3 ? whole(random, worst, bands.length - 1) : bands.length - 1;
  const terms = [6, 12, 24, 36, 48, 60, 72, 84].filter(() => random() < 0.55);
  const fee = random() < 0.35 ? 0 : pick(random, [1, 1.5, 3, 4.99, 6, 8, 10]);
  return {
    id,
    stars: whole(random, 10, 50) / 10,
    features: ['no_fee', 'direct_pay', 'fast_funding'].filter(() => random() < 0.4),
    prequalification: random() < 0.8,
    landing_url: `https://${id}.example/start?c={click_id}`,
    amount: { min: amountMin, max: amountMax },
    term_months: terms.length === 0 ? [36] : terms,
    criteria: vertical.fields.flatMap((field) => randomCriteria(random, field, vertical)),
    ...(vertical.roles.monthlyDebt !== undefined && random() < 0.5
      ? { max_debt_to_income_percent: whole(random, 20, 60) }
      : {}),
    payout_usd: whole(random, 0, 40) * 10,
    bands: Object.fromEntries(
      bands.slice(worst, best + 1).map((name, at) => {
        const min = Math.max(3, 30 - 4 * (worst + at) + whole(random, -300, 300) / 100);
        return [
          name,
          {
            note_rate_percent: { min, max: Math.min(36, min + whole(random, 0, 900) / 100) },
            origination_fee_percent: fee,
            approval_likelihood: whole(random, 0, 100) / 100,
            confirm_rate: whole(random, 0, 20) / 100,
            max_amount: Math.max(amountMin, whole(random, 5, 100) * 1_000),
          },
        ];
      }),
    ),
  };
}

function randomCriteria(random: Random, field: PocketField, vertical: Vertical): CatalogCriterion[] {
  if (vertical.neverMatched?.includes(field.name) || random() < 0.88) return [];
  switch (field.kind) {
    case 'choice':
    case 'integer_choice': {
      const few = field.values.filter(() => random() < 0.15).slice(0, 200);
      const values = few.length === 0 ? [field.values[0]!] : few;
      return [
        random() < 0.7 ? { field: field.name, not_in: values } : { field: field.name, in: [...field.values].slice(1) },
      ];
    }
    case 'boolean':
      return [{ field: field.name, in: [random() < 0.5] }];
    case 'integer': {
      const min = Math.min(field.max, whole(random, 0, 30) * 1_000);
      return [random() < 0.8 ? { field: field.name, min } : { field: field.name, max: min + 50_000 }];
    }
    case 'birthdate':
      return [{ field: field.name, min_age: whole(random, 18, 25) }];
    case 'digits':
      return [];
  }
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
      return whole(random, 0, field.values.length - 1);
    case 'integer_choice':
      return pick(random, field.values);
    case 'boolean':
      return whole(random, 0, 1);
    case 'integer':
      // Low values are the interesting ones: the range may reach into the millions.
      return Math.round(field.min + (Math.min(field.max, 200_000) - field.min) * random() ** 2);
    case 'birthdate':
      return whole(random, 1935, 2010) * 10_000 + whole(random, 1, 12) * 100 + whole(random, 1, 28);
    case 'digits':
      return whole(random, 0, 10 ** field.length - 1);
  }
}

function choices(vertical: Vertical, name: string): readonly string[] {
  const field = vertical.fields.find((candidate) => candidate.name === name);
  if (field?.kind !== 'choice') throw new TypeError(`${name} must be a choice field`);
  return field.values;
}

function whole(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!;
}
