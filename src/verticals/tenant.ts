import type { Mode } from '../domain/mode.ts';
import type { Vertical } from './vertical.ts';

/** Whose something is (D4): sessions, tags and figures are visible to keys of the same account, vertical and mode only. */
export interface Tenant {
  readonly account: number;
  readonly vertical: Vertical;
  readonly mode: Mode;
}

export function sameTenant(one: Tenant, other: Tenant): boolean {
  return one.account === other.account && one.vertical.number === other.vertical.number && one.mode === other.mode;
}
