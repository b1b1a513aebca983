import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findAdvisor } from '../../../src/verticals/find-advisor/find-advisor.ts';
import { createOfferValidation } from '../offer-errors.ts';
import { advisorCatalogOf, plainAdvisor } from './advisor-fixtures.ts';

const at = 'lenders[0].offers[0]';
const { errorsWith, warningsWith, testErrors } = createOfferValidation(findAdvisor, (changes) =>
  advisorCatalogOf([{ ...plainAdvisor(), ...changes }]),
);

const tier = (from: number, percent: number) => ({ from, percent });
/** Removes the fee of the plain advisor. */
const none = { fee_tiers: undefined };
const flat = { ...none, fee_model: 'flat', fee_usd: 2_400.5 };
const hourly = { ...none, fee_model: 'hourly', fee_usd: 250, hours_per_year: 6 };
const commission = { ...none, fee_model: 'commission', estimated_annual_fee: 950, firm_type: 'dual', fiduciary: false };
const state = { field: 'state', in: ['CA'] };

test('accepts advisors of every fee model, and offers with every optional member', () => {
  for (const changes of [{}, flat, hourly, commission]) assert.deepEqual(errorsWith(changes), []);
  assert.deepEqual(
    errorsWith({
      name: '🧭'.repeat(80),
      compensation_disclosure: 'We are compensated, Whether or Not you hire anyone.',
      fee_tiers: [tier(0, 1.125), tier(1, 0.875), tier(100_000_000, 0)],
      services: ['retirement', 'investing', 'tax', 'estate', 'insurance', 'debt', 'college'],
      credentials: ['cfp', 'cfa', 'cpa', 'chfc', 'ea'],
      criteria: [
        { field: 'state', not_in: ['GU'] },
        { field: 'timeline', in: ['now'] },
      ],
      crd_number: '1',
      daily_cap: 10,
      budget: { per_day_usd: 100, pacing: 'even' },
    }),
    [],
  );
});

describe('rejects an offer, and names the place in the file', () => {
  const licence = 'must contain a criterion on state: the states in which the advisor is licensed';
  const paid =
    'must state that the advisor pays, "whether or not" the visitor hires the advisor (17 CFR 275.206(4)-1(b))';
  testErrors([
    [{ criteria: [] }, `criteria: ${licence}`],
    [{ criteria: [{ field: 'timeline', in: ['now'] }] }, `criteria: ${licence}`],
    [
      { criteria: [state, { field: 'address_zip', in: ['94110'] }] },
      'criteria[1].field: names a field that must not influence offers',
    ],
    [none, 'fee_tiers: is required if fee_model is percent_of_assets'],
    [{ fee_usd: 1 }, 'fee_usd: is not allowed if fee_model is percent_of_assets'],
    [{ ...flat, fee_usd: undefined }, 'fee_usd: is required if fee_model is flat'],
    [{ ...flat, hours_per_year: 2 }, 'hours_per_year: is not allowed if fee_model is flat'],
    [{ ...hourly, hours_per_year: undefined }, 'hours_per_year: is required if fee_model is hourly'],
    [{ ...hourly, estimated_annual_fee: 1 }, 'estimated_annual_fee: is not allowed if fee_model is hourly'],
    [
      { ...commission, estimated_annual_fee: undefined },
      'estimated_annual_fee: is required if fee_model is commission',
    ],
    [{ ...commission, fee_tiers: [tier(0, 1)] }, 'fee_tiers: is not allowed if fee_model is commission'],
    [{ fee_tiers: [tier(1, 1)] }, 'fee_tiers[0].from: must be 0 in the first tier'],
    [
      { fee_tiers: [tier(0, 1), tier(500, 0.8), tier(500, 0.6)] },
      'fee_tiers[2].from: must be greater than in the tier before',
    ],
    [{ fee_tiers: [tier(0, 5.1)] }, 'fee_tiers[0].percent: must be <= 5'],
    [{ fee_tiers: [tier(0, -1)] }, 'fee_tiers[0].percent: must be >= 0'],
    [{ fee_tiers: [tier(0, 0.1234)] }, 'fee_tiers[0].percent: must have at most three decimals'],
    [{ ...flat, fee_usd: 1.005 }, 'fee_usd: must have at most two decimals'],
    [{ services: ['retirement', 'crypto'] }, 'services[1]: is not a value of advice_topic'],
    [{ services: ['tax', 'tax'] }, 'services: must not repeat a value'],
    [{ credentials: ['cfp', 'cfp'] }, 'credentials: must not repeat a value'],
    [{ disclosures_url: 'http://plain.example/crs' }, 'disclosures_url: must be an https URL in printable ASCII'],
    [{ compensation_disclosure: 'Whether or not you hire.' }, `compensation_disclosure: ${paid}`],
    [{ compensation_disclosure: 'We are paid.' }, `compensation_disclosure: ${paid}`],
    [
      { compensation_disclosure: 'Plain pays us,\nwhether or not you hire.' },
      'compensation_disclosure: must not contain control characters',
    ],
    [{ crd_number: '1234567890' }, 'crd_number: must match pattern "^[1-9][0-9]{0,8}$"'],
    [{ as_of: '2026-08-02' }, 'as_of: must not be in the future'],
    [{ payout_model: 'cost_per_click' }, 'payout_model: is not a member of the format'],
  ]);

  for (const member of ['compensation_disclosure', 'legal', 'terms_url', 'as_of', 'confirm_rate', 'crd_number']) {
    test(`without ${member}`, () => {
      assert.deepEqual(errorsWith({ [member]: undefined }), [`${at}: must have required properties ${member}`]);
    });
  }
});

test('warns about figures that contradict the registration of the firm', () => {
  for (const [changes, path] of [
    [{ fiduciary: false }, 'fiduciary: is false'],
    [{ ...flat, firm_type: 'broker_dealer' }, 'fee_model: is not commission'],
  ] as const) {
    const warnings = warningsWith(changes);
    assert.equal(warnings.length, 1);
    assert.ok(warnings[0]!.startsWith(`${at}.${path}`), warnings[0]);
  }
});
