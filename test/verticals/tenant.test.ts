import assert from 'node:assert/strict';
import { it } from 'node:test';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { isSameTenant, type Tenant } from '../../src/verticals/tenant.ts';

it('distinguishes tenants by account, vertical and mode', () => {
  const tenant: Tenant = { account: 7, vertical: personalLoans, mode: 'live' };
  assert(isSameTenant(tenant, { ...tenant }));
  assert(!isSameTenant(tenant, { ...tenant, account: 8 }));
  assert(!isSameTenant(tenant, { ...tenant, mode: 'test' }));
  assert(!isSameTenant(tenant, { ...tenant, vertical: { ...personalLoans, number: 2 } }));
});
