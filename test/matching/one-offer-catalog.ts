import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';

/** An offer anyone in the 700-749 band may have, changed as a test needs it. */
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

/** A catalog of one lender with these offers. */
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
