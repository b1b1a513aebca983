import type { Login } from '../common/login.ts';

/** Login with the operator token. */
export interface OperatorLogin extends Login {
  readonly verticals: readonly string[];
}
