import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateFindAdvisorCatalog } from '../../../bench/catalogs/generate-find-advisor-catalog.ts';
import { parseCatalog } from '../../../src/catalogs/parse-catalog.ts';
import { parseIsoDate } from '../../../src/domain/calendar.ts';
import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import { findAdvisor } from '../../../src/verticals/find-advisor/find-advisor.ts';
import type { AdvisorOffer } from '../../../src/verticals/find-advisor/offer-schema.ts';
import { advisorCatalogOf, plainAdvisor } from './advisor-fixtures.ts';

const at = 'lenders[0].offers[0]';

function parse(catalog: unknown) {
  const today = parseIsoDate('2026-08-01')!;
  return parseCatalog(JSON.stringify(catalog), builtInVerticals.withProduct(findAdvisor), today);
}

function errorsOf(catalog: unknown): readonly string[] {
  const parsed = parse(catalog);
  return parsed.ok ? [] : parsed.errors;
}

const catalogWith = (changes: Readonly<Record<string, unknown>>) =>
  advisorCatalogOf([{ ...plainAdvisor(), ...changes } as AdvisorOffer]);
const errorsWith = (changes: Readonly<Record<string, unknown>>) => errorsOf(catalogWith(changes));

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

test('accepts generated catalogs, which use every optional member', () => {
  for (const seed of [1, 2, 3]) {
    const catalog = generateFindAdvisorCatalog({ seed, offers: 300, lenders: 40 });
    const parsed = parse(catalog);
    assert.deepEqual(parsed.ok ? parsed.warnings : parsed.errors, []);
    assert.deepEqual([catalog.lenders.length, catalog.lenders.flatMap(({ offers }) => offers).length], [40, 300]);
    const text = JSON.stringify(catalog);
    for (const word of 'fee_tiers fee_usd hours_per_year estimated_annual_fee daily_cap min_age has_advisor'.split(
      ' ',
    )) {
      assert.ok(text.includes(`"${word}"`), word);
    }
  }
});

describe('rejects an offer, and names the place in the file', () => {
  const licence = 'must contain a criterion on state: the states in which the advisor is licensed';
  const paid =
    'must state that the advisor pays, "whether or not" the visitor hires the advisor (17 CFR 275.206(4)-1(b))';
  for (const [name, changes, path, problem] of [
    ['no criterion', { criteria: [] }, 'criteria', licence],
    ['no criterion on the state', { criteria: [{ field: 'timeline', in: ['now'] }] }, 'criteria', licence],
    [
      'a criterion on the ZIP code',
      { criteria: [state, { field: 'address_zip', in: ['94110'] }] },
      'criteria[1].field',
      'names a field that must not influence offers',
    ],
    ['a percentage without tiers', none, 'fee_tiers', 'is required if fee_model is percent_of_assets'],
    ['a percentage with a fee', { fee_usd: 1 }, 'fee_usd', 'is not allowed if fee_model is percent_of_assets'],
    ['a flat fee without a fee', { ...flat, fee_usd: undefined }, 'fee_usd', 'is required if fee_model is flat'],
    ['a flat fee with hours', { ...flat, hours_per_year: 2 }, 'hours_per_year', 'is not allowed if fee_model is flat'],
    [
      'an hourly fee without hours',
      { ...hourly, hours_per_year: undefined },
      'hours_per_year',
      'is required if fee_model is hourly',
    ],
    [
      'an hourly fee with an estimate',
      { ...hourly, estimated_annual_fee: 1 },
      'estimated_annual_fee',
      'is not allowed if fee_model is hourly',
    ],
    [
      'a commission without an estimate',
      { ...commission, estimated_annual_fee: undefined },
      'estimated_annual_fee',
      'is required if fee_model is commission',
    ],
    [
      'a commission with tiers',
      { ...commission, fee_tiers: [tier(0, 1)] },
      'fee_tiers',
      'is not allowed if fee_model is commission',
    ],
    ['a first tier above 0', { fee_tiers: [tier(1, 1)] }, 'fee_tiers[0].from', 'must be 0 in the first tier'],
    [
      'tiers out of order',
      { fee_tiers: [tier(0, 1), tier(500, 0.8), tier(500, 0.6)] },
      'fee_tiers[2].from',
      'must be greater than in the tier before',
    ],
    ['a percentage above 5', { fee_tiers: [tier(0, 5.1)] }, 'fee_tiers[0].percent', 'must be <= 5'],
    ['a negative percentage', { fee_tiers: [tier(0, -1)] }, 'fee_tiers[0].percent', 'must be >= 0'],
    [
      'a percentage with four decimals',
      { fee_tiers: [tier(0, 0.1234)] },
      'fee_tiers[0].percent',
      'must have at most three decimals',
    ],
    ['a fee with fractions of a cent', { ...flat, fee_usd: 1.005 }, 'fee_usd', 'must have at most two decimals'],
    ['an unknown topic', { services: ['retirement', 'crypto'] }, 'services[1]', 'is not a value of advice_topic'],
    ['a repeated topic', { services: ['tax', 'tax'] }, 'services', 'must not repeat a value'],
    ['a repeated credential', { credentials: ['cfp', 'cfp'] }, 'credentials', 'must not repeat a value'],
    [
      'an http URL of the disclosures',
      { disclosures_url: 'http://plain.example/crs' },
      'disclosures_url',
      'must be an https URL in printable ASCII',
    ],
    [
      'a text without a payment',
      { compensation_disclosure: 'Whether or not you hire.' },
      'compensation_disclosure',
      paid,
    ],
    ['a text without its condition', { compensation_disclosure: 'We are paid.' }, 'compensation_disclosure', paid],
    [
      'a text of several lines',
      { compensation_disclosure: 'Plain pays us,\nwhether or not you hire.' },
      'compensation_disclosure',
      'must not contain control characters',
    ],
    [
      'a CRD number with ten digits',
      { crd_number: '1234567890' },
      'crd_number',
      'must match pattern "^[1-9][0-9]{0,8}$"',
    ],
    ['figures of the future', { as_of: '2026-08-02' }, 'as_of', 'must not be in the future'],
    ['a payout model', { payout_model: 'cost_per_click' }, 'payout_model', 'is not a member of the format'],
  ] as const) {
    test(name, () => assert.deepEqual(errorsWith(changes), [`${at}.${path}: ${problem}`]));
  }

  for (const member of ['compensation_disclosure', 'legal', 'terms_url', 'as_of', 'confirm_rate', 'crd_number']) {
    test(`without ${member}`, () => {
      assert.deepEqual(errorsWith({ [member]: undefined }), [`${at}: must have required properties ${member}`]);
    });
  }
});

describe('warns about figures that contradict the registration of the firm', () => {
  for (const [name, changes, path] of [
    ['an investment adviser that is no fiduciary', { fiduciary: false }, 'fiduciary: is false'],
    ['a broker-dealer with a flat fee', { ...flat, firm_type: 'broker_dealer' }, 'fee_model: is not commission'],
  ] as const) {
    test(name, () => {
      const parsed = parse(catalogWith(changes));
      assert.ok(parsed.ok);
      assert.equal(parsed.warnings.length, 1);
      assert.ok(parsed.warnings[0]!.startsWith(`${at}.${path}`), parsed.warnings[0]);
    });
  }
});
