import type { Tenant } from '../verticals/tenant.ts';

/** Who is asking, as far as anything behind the gate needs to know: sessions, tags and figures are their tenant's alone. */
export interface Caller extends Tenant {
  /** The key used, for the day's count in the ledger (docs/contract.md#sessions-per-day). */
  readonly keyNumber: number;
}
