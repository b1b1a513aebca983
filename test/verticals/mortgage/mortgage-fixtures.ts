import assert from 'node:assert/strict';
import { generateMortgageCatalog } from '../../../bench/catalogs/generate-mortgage-catalog.ts';
import { randomElement } from '../../../bench/catalogs/seeded-random.ts';
import { type CompiledCatalog, compileCatalog } from '../../../src/catalogs/compile-catalog.ts';
import { absentValue, type FieldVector, findFieldIndex } from '../../../src/domain/field-vector.ts';
import { createOfferUrls } from '../../../src/operations/click-url.ts';
import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import { mortgage } from '../../../src/verticals/mortgage/mortgage.ts';
import type { MortgageTables } from '../../../src/verticals/mortgage/mortgage-tables.ts';
import type { MortgageCatalog, MortgageOffer } from '../../../src/verticals/mortgage/offer-schema.ts';
import { type MortgageOfferView, priceMortgages } from '../../../src/verticals/mortgage/offer-view.ts';
import { borrowerOf as vectorOf } from '../../matching/loan-fixtures.ts';
import { renderOffers } from '../../matching/priced-rankings.ts';
import { type Random, randomBorrower } from '../../support/random-catalog.ts';

/** Day on which the tests compute ages. */
export const today = 20_260_801;

export const field = (name: string) => findFieldIndex(mortgage, name);

/** Draws a borrower whose figures are in the ranges of most offers. */
export function drawBorrower(random: Random): FieldVector {
  // Every third home is expensive enough for a jumbo loan.
  const value = (random() < 0.3 ? 1_000_000 : 150_000) + Math.floor(random() * 600) * 1_000;
  // Every second down payment leaves a loan of exactly the upper end of a loan-to-value band, or of a few dollars more.
  const downShare = random() < 0.5 ? randomElement(random, [0.03, 0.05, 0.1, 0.2, 0.25]) : 0.03 + 0.4 * random();
  const borrower = randomBorrower(random, mortgage)
    .with(field('loan_purpose'), randomElement(random, [0, 0, 1, 1, 2]))
    .with(field('property_value'), value)
    .with(
      field('down_payment'),
      Math.floor(Math.round(value * downShare * 1e6) / 1e6) - (random() < 0.5 ? 0 : Math.floor(40 * random())),
    )
    .with(field('mortgage_balance'), Math.floor(value * (0.4 + 0.5 * random())))
    .with(field('cash_out_amount'), Math.floor(value * (0.01 + 0.2 * random())))
    .with(field('annual_income'), Math.floor(value * (0.1 + 0.5 * random() ** 2)));
  if (random() < 0.1) return borrower.with(field('monthly_debt_payments'), absentValue);
  return borrower.with(field('monthly_debt_payments'), Math.floor(random() * 1_000));
}

/** A buyer of a home of 400,000 USD with a loan of 80 %. */
export const buyer = {
  loan_purpose: 'purchase',
  property_type: 'single_family',
  occupancy: 'primary',
  property_value: 400_000,
  down_payment: 80_000,
  credit_score_range: '750-799',
  annual_income: 140_000,
  monthly_debt_payments: 600,
  state: 'TX',
} as const;

/** Returns the field vector of a borrower. A value of null is a field without a value. */
export const borrowerOf = (values: Readonly<Record<string, unknown>>): FieldVector => vectorOf(values, mortgage);

type CompiledMortgages = CompiledCatalog & { readonly tables: MortgageTables };

export function compileMortgages(catalog: MortgageCatalog): CompiledMortgages {
  return compileCatalog(catalog, builtInVerticals.withProduct(mortgage), { mode: 'live' }) as CompiledMortgages;
}

const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example' });

/** Returns offers as clients get them, and asserts that their JSON text contains the same figures. */
export function viewOffers(
  compiled: CompiledMortgages,
  shown: readonly number[],
  borrower: Readonly<FieldVector>,
): MortgageOfferView[] {
  const { views, json } = renderOffers<MortgageOfferView>(compiled, priceMortgages(compiled, shown, borrower), urls);
  assert.equal(json, JSON.stringify(views));
  return views;
}

export function generateMortgages(seed: number, offers: number): MortgageCatalog {
  return generateMortgageCatalog({ seed, offers, vertical: mortgage });
}

/** Returns a fixed conventional loan for the credit band 750-799, without insurance, points or fees. */
export function plainMortgage(changes: Partial<MortgageOffer> = {}): MortgageOffer {
  return {
    id: 'plain',
    stars: 4,
    features: [],
    prequalification: true,
    landing_url: 'https://plain.example/?c={click_id}',
    terms_url: 'https://plain.example/terms',
    legal: 'A mortgage of tests.',
    as_of: '2026-05-01',
    criteria: [],
    payout_usd: 50,
    loan_type: 'conventional',
    amount: { min: 50_000, max: 750_000 },
    lock_days: 30,
    terms: { '360': { rate_percent: 6.5 } },
    ltv_bands: [{ max_ltv_percent: 80 }],
    bands: { '750-799': { max_ltv_percent: 80, approval_likelihood: 0.8, confirm_rate: 0.05 } },
    ...changes,
  };
}

/** Returns a catalog of one lender with these offers. */
export function mortgageCatalogOf(offers: readonly MortgageOffer[], nmlsId = '123456'): MortgageCatalog {
  return {
    format: 1,
    vertical: mortgage.segment,
    disclosure: 'Mortgages of tests.',
    max_age_days: null,
    lenders: [{ name: 'Plain Home Loans', logo: 'plain.svg', nmls_id: nmlsId, offers: [...offers] }],
  };
}
