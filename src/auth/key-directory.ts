import type { Mode } from '../domain/mode.ts';
import type { KeyLimitOverrides } from './rate-limits.ts';

/** The origins of web pages that may embed an account's widgets. Lookups are synchronous, so the adapter keeps them in memory. */
export interface EmbedOrigins {
  /**
   * Returns the allowed origins in a fixed order, without repeats; empty for an unknown account. Returns the same array until the
   * account's list changes, so that callers can cache by it.
   */
  forAccount(account: number): readonly string[];
}

/** An API key that is not revoked. It may have expired. */
export interface ApiKey {
  /** Identifies the key in the ledger; never reused. */
  readonly number: number;
  /** Account number, unsigned 32 bits; never reused. */
  readonly account: number;
  /** Path segment of the key's vertical. */
  readonly vertical: string;
  readonly mode: Mode;
  /** Wall-clock time from which the key is rejected; Infinity for never. */
  readonly expiresAtMs: number;
  readonly limits: KeyLimitOverrides;
}

/** The API keys by hash. Lookups are synchronous, so the adapter keeps them in memory. */
export interface KeyDirectory {
  /** Finds a key by its hash (`hashApiKey`). Undefined if there is none or it was revoked. Does not check the expiry. */
  findByHash(hash: string): ApiKey | undefined;
  /** Idempotent. */
  close(): void;
}
