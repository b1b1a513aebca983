import { bounds } from '../../bounds.ts';
import type { Vertical } from '../../domain/vertical.ts';
import { birthdateField, stateField, zipField } from '../common/pocket-fields.ts';

/** Banking: the fields, choices and limits of docs/verticals/banking.md#fields. */
export const banking: Vertical = {
  number: 4,
  segment: 'banking',
  keyPrefix: 'svc_bk_',
  revenueModel: 'cost_per_click',
  status: 'beta',
  clicksConfirmRevenue: true,
  product: 'deposit_account',
  fields: [
    {
      name: 'product_type',
      description: 'Kind of account that the depositor wants to open.',
      kind: 'choice',
      values: ['savings', 'checking', 'money_market', 'cd'],
    },
    {
      name: 'deposit_amount',
      description: 'Amount that the depositor wants to deposit, in whole USD.',
      kind: 'integer',
      min: 0,
      max: bounds.depositUsdMax,
    },
    stateField(),
    {
      name: 'cd_term_months',
      description: 'Term of the certificate of deposit, in months.',
      kind: 'integer_choice',
      values: [3, 6, 9, 12, 18, 24, 36, 48, 60],
    },
    {
      name: 'direct_deposit',
      description: 'Whether wages or benefits will be paid into the account. Some offers and bonuses require it.',
      kind: 'boolean',
    },
    {
      name: 'new_customer',
      description: 'Whether the depositor has no account at the institution yet. Some offers and bonuses require it.',
      kind: 'boolean',
    },
    birthdateField('Offers with a minimum age are left out without it.'),
    zipField,
  ],
  required: ['product_type', 'deposit_amount', 'state'],
  conditional: [{ field: 'cd_term_months', when: { field: 'product_type', is: 'cd' }, isRequired: true }],
  roles: { state: 'state', birthdate: 'birthdate' },
  neverMatched: ['address_zip'],
};
