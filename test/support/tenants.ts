import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { Tenant } from '../../src/verticals/tenant.ts';

export const liveTenant: Tenant = { account: 42, vertical: personalLoans, mode: 'live' };
export const testTenant: Tenant = { ...liveTenant, mode: 'test' };
