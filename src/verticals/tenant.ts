import type { Mode } from '../domain/mode.ts';
import type { Vertical } from './vertical.ts';

/** Owner of sessions and statistics (docs/contract.md#tenants). Each mode of an account is a tenant of its own. */
export interface Tenant {
  readonly account: number;
  readonly vertical: Vertical;
  readonly mode: Mode;
}

export function isSameTenant(one: Tenant, other: Tenant): boolean {
  return one.account === other.account && one.vertical.number === other.vertical.number && one.mode === other.mode;
}
