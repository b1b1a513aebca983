import { usStateCodes } from '../../../src/domain/us-states.ts';
import type { Vertical } from '../../../src/domain/vertical.ts';

/** A vertical of a kind that the service does not know: insurance policies for pets. It exists only in tests. */
export const petInsurance: Vertical = {
  number: 101,
  segment: 'pet-insurance',
  keyPrefix: 'svc_pi_',
  revenueModel: 'cost_per_click',
  clicksConfirmRevenue: true,
  status: 'beta',
  product: 'pet_policy',
  fields: [
    { name: 'pet', kind: 'choice', values: ['cat', 'dog'] },
    { name: 'age_years', kind: 'integer', min: 0, max: 25 },
    { name: 'state', kind: 'choice', values: usStateCodes },
  ],
  required: ['pet', 'age_years', 'state'],
  conditional: [],
  roles: { state: 'state' },
  sortOrders: ['recommended', 'highest_amount'],
};
