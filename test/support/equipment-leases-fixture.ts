import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { equipmentLeaseCatalog, equipmentLeases } from './equipment-leases.ts';
import { choiceCases, flagCases, integerCases, integerChoiceCases } from './field-cases.ts';
import type { VerticalFixture } from './vertical-fixture.ts';

const texts = { live: equipmentLeaseCatalog('live'), test: equipmentLeaseCatalog('test') };

const complete = {
  machine_kind: 'tractor',
  machine_price: 10_000,
  trade_record: 'strong',
  yearly_takings: 500_000,
  site_state: 'CA',
  running_leases: 300,
};

export const equipmentLeasesFixture: VerticalFixture = {
  vertical: equipmentLeases,
  catalogs: [
    { vertical: equipmentLeases, mode: 'live', text: texts.live },
    { vertical: equipmentLeases, mode: 'test', text: texts.test },
  ],
  catalogFiles: { live: JSON.parse(texts.live) as LoanCatalog, test: JSON.parse(texts.test) as LoanCatalog },
  complete,
  unmatched: { ...complete, machine_price: 60_000 },
  required: ['machine_kind', 'machine_price', 'trade_record', 'yearly_takings', 'site_state'],
  conditional: [
    {
      when: { machine_kind: 'tractor' },
      unless: { machine_kind: 'oven' },
      field: 'running_leases',
      value: 0,
    },
  ],
  fields: [
    choiceCases('site_state', ['CA', 'NY', 'TX', 'WA']),
    integerCases('machine_price', 500, 60_000),
    choiceCases('trade_record', ['thin', 'fair', 'good', 'strong']),
    integerCases('yearly_takings', 0, 50_000_000),
    choiceCases('machine_kind', ['tractor', 'lathe', 'oven', 'printer']),
    integerChoiceCases('lease_months', [12, 24, 36, 48]),
    integerCases('running_leases', 0, 200_000),
    flagCases('franchise'),
    {
      name: 'owner_born',
      valid: ['1980-02-29', '2008-05-20'],
      invalid: [
        ['2008-05-21', 'min_age'],
        ['2026-05-21', 'range'],
        ['1905-05-20', 'range'],
        ['1981-02-29', 'format'],
        [1980, 'type'],
      ],
      hints: { min_age: { min: 18 } },
    },
    {
      name: 'site_code',
      valid: ['0001', '9999'],
      invalid: [
        ['001', 'format'],
        ['00001', 'format'],
        ['00o1', 'format'],
        [1234, 'type'],
      ],
      hints: {},
    },
  ],
  creditBand: 'trade_record',
  amount: 'machine_price',
  term: 'lease_months',
  someTerm: 48,
  clickMicros: ({ payout_usd }) => payout_usd * 1_000_000,
};
