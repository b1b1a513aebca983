import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { emptyFieldVector, type FieldVector } from '../../src/domain/field-vector.ts';
import { validatePocketFields } from '../../src/domain/pocket-fields.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import type { MatchTables } from '../../src/matching/match-tables.ts';
import { packOffers, type Ranking } from '../../src/matching/matcher.ts';
import type { OfferPricer } from '../../src/matching/pricing-ranker.ts';
import type { RankedOffers } from '../../src/matching/product-ranking.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import type { LoanOfferView } from '../../src/verticals/personal-loans/offer-view.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import {
  calculatePrice,
  createEmptyLoanPrice,
  monthlyPaymentCents,
  readApplicant,
} from '../../src/verticals/personal-loans/price-offer.ts';

/** Compact date on which all tests of offers take place. */
export const today = 20260801;

/** A borrower whom most lenders accept. */
export const goodBorrower = {
  loan_amount: 15_000,
  loan_purpose: 'debt_consolidation',
  credit_score_range: '700-749',
  annual_income: 85_000,
  employment_status: 'employed',
  state: 'CA',
  monthly_debt_payments: 1_500,
} as const;

/** Returns the vector of a borrower who submitted these fields. */
export function borrowerOf(fields: Readonly<Record<string, unknown>>, vertical: Vertical = personalLoans): FieldVector {
  const { invalid, unknown, changes } = validatePocketFields(vertical, fields, today);
  if (invalid.length > 0 || unknown.length > 0) throw new Error(JSON.stringify({ invalid, unknown }));
  const vector = emptyFieldVector(vertical);
  for (let at = 0; at < changes.length; at += 2) vector[changes[at]!] = changes[at + 1]!;
  return vector;
}

/** Returns an offer for every borrower in the credit band 700-749. */
export function plainOffer(changes: Partial<LoanOffer> = {}): LoanOffer {
  return {
    id: 'plain',
    stars: 4,
    features: [],
    prequalification: true,
    landing_url: 'https://plain.example/?c={click_id}',
    amount: { min: 1_000, max: 50_000 },
    term_months: [36],
    criteria: [],
    payout_usd: 100,
    bands: { '700-749': plainBand() },
    ...changes,
  };
}

export function plainBand(changes: Partial<LoanOffer['bands'][string]> = {}): LoanOffer['bands'][string] {
  return {
    note_rate_percent: { min: 10, max: 12 },
    origination_fee_percent: 0,
    approval_likelihood: 0.8,
    confirm_rate: 0.05,
    max_amount: 50_000,
    ...changes,
  };
}

/** Returns a catalog of one lender with these offers. */
export function catalogOf(offers: readonly LoanOffer[], changes: Partial<LoanCatalog> = {}): LoanCatalog {
  return {
    format: 1,
    vertical: 'personal-loans',
    disclosure: 'Made up for tests.',
    max_apr_percent: 36,
    state_rules: {},
    lenders: [{ name: 'Plain Lender', logo: 'plain.svg', offers: [...offers] }],
    ...changes,
  };
}

/** A compiled loan catalog. */
export type CompiledLoans = CompiledCatalog & { readonly tables: LoanTables };

export function compileLoans(
  catalog: LoanCatalog,
  mode: 'live' | 'test' = 'live',
  vertical: Vertical = personalLoans,
): CompiledLoans {
  return compileCatalog(catalog, builtInVerticals.withProduct(vertical), { mode }) as CompiledLoans;
}

/** The members of an offer that depend on the borrower. */
export type Quote = Pick<
  LoanOfferView,
  'apr_range' | 'payment_term_months' | 'monthly_payment_estimate' | 'loan_amount_range' | 'term_months'
>;

/** Prices one offer for a borrower. Returns null if the borrower cannot get the offer. */
export function quote({ tables }: CompiledLoans, offerIndex: number, borrower: Readonly<FieldVector>): Quote | null {
  const applicant = readApplicant(tables, borrower);
  const price = createEmptyLoanPrice();
  if (applicant === null || !calculatePrice(tables, offerIndex, applicant, price)) return null;
  return {
    apr_range: { min: tables.aprMin[price.slot]! / 100, max: tables.aprMax[price.slot]! / 100 },
    payment_term_months: tables.termMonths[tables.slotTerm[price.slot]!]!,
    monthly_payment_estimate: monthlyPaymentCents(tables, price, applicant.amount) / 100,
    loan_amount_range: { min: price.amountMin, max: price.amountMax },
    term_months: tables.termMonths
      .filter((_months, term) => (price.openTerms & (1 << term)) !== 0)
      .toSorted((one, other) => one - other),
  };
}

/** Returns the scores of the offers that have a price for a borrower, by offer id. */
export function scoresOf<Tables extends MatchTables, Applicant>(
  { tables, offers }: CompiledCatalog & { readonly tables: Tables },
  borrower: FieldVector,
  pricer: OfferPricer<Tables, Applicant>,
): Map<string, number> {
  const applicant = pricer.readApplicant(tables, borrower);
  if (applicant === null) throw new Error('the borrower lacks required fields');
  const scores = new Map<string, number>();
  for (const [at, { id }] of offers.entries()) {
    const keys = { recommended: 0, lowestApr: 0, highestAmount: 0, revenue: 0 };
    if (pricer.computeSortKeys(tables, at, applicant, keys)) scores.set(id, -keys.recommended);
  }
  return scores;
}

/** Returns a ranking as a matcher returns it, except the catalog version. */
export function packed({ orders, ...ranked }: RankedOffers): Omit<Ranking, 'catalogVersion'> {
  return { ...ranked, orders: packOffers(orders) };
}
