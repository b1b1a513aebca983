import type { Mode } from '../domain/mode.ts';
import type { KeyLimitOverrides } from './rate-limits.ts';

/**
 * The port behind which it is known which web pages may show an account's widgets. It is asked while a request is judged, so
 * the answer comes from memory; keeping that memory fresh is the adapter's business.
 */
export interface EmbedOrigins {
  /**
   * The origins allowed to an account (see `validateWebOrigin`), each once, in a fixed order; empty when there are none or the
   * number is nobody's. It stays the same array until the account's list changes, so that what was made of it can be kept beside it.
   */
  forAccount(account: number): readonly string[];
}

/** A key that was issued and not revoked. It never changes, but for the moment it expires. */
export interface ApiKey {
  /** Names the key in the ledger; never reused. */
  readonly number: number;
  /** Account number, unsigned 32 bits; never reused. */
  readonly account: number;
  /** Path segment of the one vertical it is good for. */
  readonly vertical: string;
  readonly mode: Mode;
  /** Wall time from which it is refused; Infinity when it does not expire. */
  readonly expiresAtMs: number;
  readonly limits: KeyLimitOverrides;
}

/**
 * The port behind which keys are looked up. A request is judged before its first await, so the answer comes from memory;
 * keeping that memory fresh is the adapter's business.
 */
export interface KeyDirectory {
  /** The key with this hash (`hashApiKey`), or undefined when there is none or it was revoked. Expiry is left to the caller. */
  findByHash(hash: string): ApiKey | undefined;
  /** Idempotent. */
  close(): void;
}
