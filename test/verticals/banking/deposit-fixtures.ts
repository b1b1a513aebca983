import { createTiersWithYields } from '../../../bench/catalogs/generate-banking-catalog.ts';
import { type CompiledCatalog, compileCatalog } from '../../../src/catalogs/compile-catalog.ts';
import { absentValue, type FieldVector, findFieldIndex } from '../../../src/domain/field-vector.ts';
import { banking } from '../../../src/verticals/banking/banking.ts';
import type { DepositTables } from '../../../src/verticals/banking/deposit-tables.ts';
import type { DepositCatalog, DepositOffer } from '../../../src/verticals/banking/offer-schema.ts';
import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import { borrowerOf } from '../../matching/loan-fixtures.ts';
import { type Random, randomBorrower } from '../../support/random-catalog.ts';

/** Compact date on which all tests of deposits take place. */
export const today = 20260801;

/** A depositor who gets many savings offers. */
export const saver = { product_type: 'savings', deposit_amount: 10_000, state: 'CA' } as const;

export type CompiledDeposits = CompiledCatalog & { readonly tables: DepositTables };

export function compileDeposits(catalog: DepositCatalog): CompiledDeposits {
  return compileCatalog(catalog, builtInVerticals.withProduct(banking), { mode: 'live' }) as CompiledDeposits;
}

/** Returns the vector of a depositor who submitted these fields. */
export const depositorOf = (fields: Readonly<Record<string, unknown>>): FieldVector => borrowerOf(fields, banking);

/** Returns a savings offer for every depositor. The yields of the tiers are computed from the rates, unless `changes` has tiers with yields. */
export function plainDeposit(changes: Partial<DepositOffer> = {}): DepositOffer {
  return {
    id: 'plain',
    name: 'Plain Savings',
    stars: 4,
    features: [],
    prequalification: true,
    landing_url: 'https://plain.example/?c={click_id}',
    legal: 'Plain Bank pays the annual percentage yield (APY) shown. Member FDIC.',
    terms_url: 'https://plain.example/terms',
    as_of: '2026-07-01',
    criteria: [],
    payout_usd: 5,
    product_type: 'savings',
    tiers: [{ from: 0, rate: 4, apy: 4 }],
    compounding: 'annual',
    tier_method: 'whole_balance',
    minimum_deposit: 0,
    minimum_balance_for_apy: 0,
    monthly_fee: 0,
    insured_by: 'fdic',
    certificate_number: '999999',
    variable: true,
    ...changes,
  };
}

/** Returns a savings offer for every depositor, with the yields that follow from the rates. */
export function depositWithRates(
  tiers: readonly { from: number; rate: number }[],
  changes: Partial<DepositOffer> = {},
): DepositOffer {
  const offer = plainDeposit(changes);
  return { ...offer, tiers: createTiersWithYields({ ...offer, tiers }) };
}

/** Returns a catalog of one bank with these offers. */
export function depositCatalogOf(offers: readonly DepositOffer[]): DepositCatalog {
  return {
    format: 1,
    vertical: 'banking',
    disclosure: 'Made up for tests.',
    lenders: [{ name: 'Plain Bank', logo: 'plain.svg', offers: [...offers] }],
  };
}

/** Returns a random depositor whose deposit is often at the edge of a tier or of a minimum, and who rarely lacks a required field. */
export function drawDepositor(random: Random, absentChance = 0.3): FieldVector {
  const borrower = randomBorrower(random, banking, absentChance);
  const edge = [
    0, 1, 5, 25, 100, 300, 500, 1_000, 1_500, 2_500, 5_000, 10_000, 15_000, 25_000, 50_000, 100_000, 250_000,
  ];
  const deposit = edge[Math.floor(random() * edge.length * 2)];
  if (deposit !== undefined) {
    borrower[findFieldIndex(banking, 'deposit_amount')] = Math.max(0, deposit + Math.floor(random() * 3) - 1);
  }
  if (random() < 0.04) borrower[Math.floor(random() * borrower.length)] = absentValue;
  return borrower;
}
