import { generateCreditCardsCatalog } from '../../../bench/catalogs/generate-credit-cards-catalog.ts';
import { type CompiledCatalog, compileCatalog } from '../../../src/catalogs/compile-catalog.ts';
import type { FieldVector } from '../../../src/domain/field-vector.ts';
import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import type { CardTables } from '../../../src/verticals/credit-cards/card-tables.ts';
import { creditCards } from '../../../src/verticals/credit-cards/credit-cards.ts';
import type { CardCatalog, CardOffer, CreditBandTerms } from '../../../src/verticals/credit-cards/offer-schema.ts';
import { computeFirstYearCents, readApplicant } from '../../../src/verticals/credit-cards/price-card.ts';
import { borrowerOf } from '../../matching/loan-fixtures.ts';
import { type Random, randomBorrower } from '../../support/random-catalog.ts';

/** Compact date on which all tests of cards take place. */
export const today = 20260801;

/** A borrower whom most issuers accept. */
export const goodCardBorrower = {
  card_purpose: 'cash_back',
  credit_score_range: '750-799',
  annual_income: 90_000,
  state: 'CA',
  monthly_spend: 2_000,
} as const;

/** Returns the vector of a borrower who submitted these fields. */
export function cardBorrowerOf(fields: Readonly<Record<string, unknown>>): FieldVector {
  return borrowerOf(fields, creditCards);
}

/** Terms of the plain card that are the same in the catalog and in the view of an offer. */
export const plainCardTerms = {
  cash_advance_apr: 29.99,
  minimum_interest_charge: 1,
  transfer_fee: { percent: 0, min: 0 },
  cash_advance_fee: { percent: 5, min: 10 },
  foreign_transaction_fee_percent: 3,
  late_fee_max: 40,
  returned_payment_fee_max: 40,
  grace_period_days: 25,
  balance_method: 'average_daily_balance' as const,
  rewards: [{ category: 'base', percent: 0 }],
};

/** Returns a card for every borrower in the credit band 750-799, without fees, rewards or interest. */
export function plainCard(changes: Partial<CardOffer> = {}): CardOffer {
  return {
    id: 'plain',
    name: 'Plain Card',
    stars: 4,
    features: [],
    prequalification: true,
    landing_url: 'https://plain.example/?c={click_id}',
    terms_url: 'https://plain.example/terms',
    legal: 'A card of tests.',
    as_of: '2026-05-01',
    purposes: ['cash_back', 'travel', 'balance_transfer', 'low_interest', 'build_credit', 'student'],
    criteria: [],
    payout_usd: 5,
    annual_fee: 0,
    ...plainCardTerms,
    bands: { '750-799': plainBand() },
    ...changes,
  };
}

export function plainBand(changes: Partial<CreditBandTerms> = {}): CreditBandTerms {
  return { purchase_apr: { min: 18.24, max: 26.24 }, approval_likelihood: 0.6, ...changes };
}

/** Returns a catalog of one issuer with these cards. */
export function cardCatalogOf(offers: readonly CardOffer[], changes: Partial<CardCatalog> = {}): CardCatalog {
  return {
    format: 1,
    vertical: 'credit-cards',
    disclosure: 'Made up for tests.',
    max_age_days: null,
    lenders: [{ name: 'Plain Issuer', logo: 'plain.svg', offers: [...offers] }],
    ...changes,
  };
}

/** A compiled card catalog. */
export type CompiledCards = CompiledCatalog & { readonly tables: CardTables };

export function compileCards(catalog: CardCatalog): CompiledCards {
  return compileCatalog(catalog, builtInVerticals.withProduct(creditCards), { mode: 'live' }) as CompiledCards;
}

export function generateCards(seed: number, offers: number): CardCatalog {
  return generateCreditCardsCatalog({ seed, offers, vertical: creditCards });
}

/** Returns a random borrower. Each optional field is absent with the probability `absentChance`. */
export function randomCardBorrower(random: Random, absentChance = 0.3): FieldVector {
  return randomBorrower(random, creditCards, absentChance);
}

/** Returns the first-year value of a card in cents, for a borrower with these fields in addition to those of `goodCardBorrower`. */
export function firstYearCentsOf(offer: CardOffer, fields: Readonly<Record<string, unknown>>): number {
  const { tables } = compileCards(cardCatalogOf([offer]));
  const borrower = cardBorrowerOf({ ...goodCardBorrower, monthly_spend: null, ...fields });
  const applicant = readApplicant(tables, borrower);
  if (applicant === null) throw new Error('the borrower lacks required fields');
  return computeFirstYearCents(tables, 0, applicant);
}
