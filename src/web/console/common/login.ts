import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Members that the logins of both consoles have. */
export interface Login {
  readonly login_expires_at: string;
  /** Time of the server. */
  readonly now: string;
  /** Whether the time of the server is that of a test clock. */
  readonly test_clock: boolean;
}

/** Login to the partner console with an API key. */
export interface PartnerLogin extends Login {
  readonly account: string;
  readonly key_id: string;
  readonly vertical: string;
  readonly mode: 'live' | 'test';
  readonly scope: 'full' | 'analytics';
  readonly key_expires_at: string | null;
}

export const LoginContext = createContext<Login | null>(null);

/** Returns the current login. Only for components inside of `Console`, which shows its pages to users that are logged in. */
export function useLogin<OwnLogin extends Login>(): OwnLogin {
  return useContext(LoginContext) as OwnLogin;
}
