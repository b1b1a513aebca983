import assert from 'node:assert/strict';
import { it } from 'node:test';
import { personalLoans } from '../../src/verticals/personal-loans.ts';
import { sameTenant, type Tenant } from '../../src/verticals/tenant.ts';

it('tells tenants apart by account, vertical and mode', () => {
  const tenant: Tenant = { account: 7, vertical: personalLoans, mode: 'live' };
  assert(sameTenant(tenant, { ...tenant }));
  assert(!sameTenant(tenant, { ...tenant, account: 8 }));
  assert(!sameTenant(tenant, { ...tenant, mode: 'test' }));
  assert(!sameTenant(tenant, { ...tenant, vertical: { ...personalLoans, number: 2 } }));
});
