import type { Vertical } from '../../domain/vertical.ts';
import { birthdateField, stateField, zipField } from '../common/pocket-fields.ts';

/** Financial advisor search: the fields, choices and limits of docs/verticals/find-advisor.md#fields. */
export const findAdvisor: Vertical = {
  number: 5,
  segment: 'find-advisor',
  keyPrefix: 'svc_fa_',
  revenueModel: 'cost_per_lead',
  status: 'beta',
  flatPayout: true,
  product: 'financial_advisor',
  fields: [
    {
      name: 'advice_topic',
      description: 'Subject on which the visitor wants advice.',
      kind: 'choice',
      values: ['retirement', 'investing', 'tax', 'estate', 'insurance', 'debt', 'college'],
    },
    {
      name: 'investable_assets',
      description: 'Savings and investments that the visitor could invest, without the home, in whole USD.',
      kind: 'integer',
      min: 0,
      max: 100_000_000,
    },
    stateField(),
    {
      name: 'meeting_preference',
      description:
        'How the visitor wants to meet the advisor. Without it, advisors with all kinds of meetings are shown.',
      kind: 'choice',
      values: ['in_person', 'remote', 'either'],
    },
    {
      name: 'timeline',
      description: 'When the visitor wants to begin. Some advisors require it.',
      kind: 'choice',
      values: ['now', 'three_months', 'later'],
    },
    {
      name: 'has_advisor',
      description: 'Whether the visitor already works with an advisor. Some advisors require it.',
      kind: 'boolean',
    },
    birthdateField('Advisors with a minimum age are left out without it.'),
    zipField,
  ],
  required: ['advice_topic', 'investable_assets', 'state'],
  conditional: [],
  roles: { state: 'state', birthdate: 'birthdate' },
  neverMatched: ['address_zip'],
};
