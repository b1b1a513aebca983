import type { ApiKeyMode } from './mode.ts';
import type { Vertical } from './vertical.ts';

/** Owner of sessions and analytics (docs/contract.md#tenants). Live and test mode of the same account are two tenants. */
export interface Tenant {
  readonly account: number;
  readonly vertical: Vertical;
  readonly mode: ApiKeyMode;
}

export function isSameTenant(one: Tenant, other: Tenant): boolean {
  return one.account === other.account && one.vertical.number === other.vertical.number && one.mode === other.mode;
}
