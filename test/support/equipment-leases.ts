import type { Vertical } from '../../src/domain/vertical.ts';

/**
 * A vertical that exists only in tests, and only as data (docs/contract.md#verticals), with other field names, another
 * revenue model and another order. The service must support this vertical without code for it.
 */
export const equipmentLeases: Vertical = {
  number: 100,
  segment: 'equipment-leases',
  keyPrefix: 'svc_eq_',
  revenueModel: 'cost_per_click',
  status: 'beta',
  fields: [
    { name: 'site_state', kind: 'choice', values: ['CA', 'NY', 'TX', 'WA'] },
    { name: 'machine_price', kind: 'integer', min: 500, max: 60_000 },
    { name: 'trade_record', kind: 'choice', values: ['thin', 'fair', 'good', 'strong'] },
    { name: 'yearly_takings', kind: 'integer', min: 0, max: 50_000_000 },
    { name: 'machine_kind', kind: 'choice', values: ['tractor', 'lathe', 'oven', 'printer'] },
    { name: 'lease_months', kind: 'integer_choice', values: [12, 24, 36, 48] },
    { name: 'running_leases', kind: 'integer', min: 0, max: 200_000 },
    { name: 'franchise', kind: 'boolean' },
    { name: 'owner_born', kind: 'birthdate', minAgeYears: 18, maxAgeYears: 120 },
    { name: 'site_code', kind: 'digits', length: 4 },
  ],
  required: ['machine_kind', 'machine_price', 'trade_record', 'yearly_takings', 'site_state'],
  conditional: [{ field: 'running_leases', when: { field: 'machine_kind', is: 'tractor' } }],
  roles: {
    amount: 'machine_price',
    creditBand: 'trade_record',
    annualIncome: 'yearly_takings',
    state: 'site_state',
    term: 'lease_months',
    monthlyDebt: 'running_leases',
    birthdate: 'owner_born',
  },
};

/** Returns the text of a catalog file with 24 offers from 8 lessors. The ids of the test catalog have another prefix. */
export function equipmentLeaseCatalog(mode: 'live' | 'test'): string {
  const bands = equipmentLeases.fields.find(({ name }) => name === 'trade_record') as { values: readonly string[] };
  return JSON.stringify({
    format: 1,
    vertical: equipmentLeases.segment,
    disclosure: 'Lessors pay us when you click; the order you see does not depend on it.',
    max_apr_percent: 36,
    state_rules: { NY: { max_apr_percent: 25, min_amount: 1_000 } },
    lenders: Array.from({ length: 8 }, (_, lender) => ({
      name: `Lessor ${String.fromCharCode(65 + lender)}`,
      logo: `lessor-${lender}.svg`,
      offers: Array.from({ length: 3 }, (_, variant) => ({
        id: `${mode}-lease-${lender}-${variant}`,
        stars: 3 + ((lender + variant) % 5) * 0.4,
        features: ['no_deposit'],
        prequalification: lender % 2 === 0,
        landing_url: `https://lessor-${lender}.example/apply?ref={click_id}`,
        amount: { min: 500 + lender * 100, max: 20_000 + lender * 5_000 },
        term_months: [12, 24, 36, 48].slice(0, 2 + (variant % 3)),
        criteria: variant === 2 ? [{ field: 'yearly_takings', min: 30_000 }] : [],
        payout_usd: 2 + lender * 0.25 + variant,
        // A cap above the clicks of any test, so that the contract suite also tests the code for daily caps.
        ...(lender === 7 && variant === 2 ? { daily_cap: 1_000 } : {}),
        bands: Object.fromEntries(
          bands.values.map((name, band) => [
            name,
            {
              note_rate_percent: { min: 24 - band * 4 + variant, max: 27 - band * 4 + variant },
              origination_fee_percent: variant,
              approval_likelihood: 0.2 + band * 0.2,
              max_amount: 20_000 + lender * 5_000,
            },
          ]),
        ),
      })),
    })),
  });
}
