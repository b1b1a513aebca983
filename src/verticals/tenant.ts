import type { Mode } from '../domain/mode.ts';
import type { Vertical } from './vertical.ts';

/** Whose something is (D4). What one tenant has is nobody else's to see, another mode of the same account included. */
export interface Tenant {
  readonly account: number;
  readonly vertical: Vertical;
  readonly mode: Mode;
}

export function sameTenant(one: Tenant, other: Tenant): boolean {
  return one.account === other.account && one.vertical.number === other.vertical.number && one.mode === other.mode;
}
