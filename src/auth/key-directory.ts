import type { Mode } from '../domain/mode.ts';
import type { KeyLimitOverrides } from './rate-limits.ts';

/** Port of the web origins that may embed an account's widgets. Lookups are synchronous, so the adapter has all origins in memory. */
export interface EmbedOrigins {
  /**
   * Returns the allowed origins in a fixed order, without repeats; empty for an unknown account. Returns the same array until the list of
   * the account changes, so that callers can use the array as a cache key.
   */
  forAccount(account: number): readonly string[];
}

/** An API key that is not revoked. It may have expired. */
export interface ApiKey {
  /** Number that identifies the key in the ledger. Never reused. */
  readonly number: number;
  /** Account number, an unsigned 32-bit integer. Never reused. */
  readonly account: number;
  /** Path segment of the key's vertical. */
  readonly vertical: string;
  readonly mode: Mode;
  /** Wall-clock time from which the key is rejected, in Unix milliseconds; Infinity if the key never expires. */
  readonly expiresAtMs: number;
  readonly limits: KeyLimitOverrides;
}

/** Port of the API keys, by hash. Lookups are synchronous, so the adapter has all keys in memory. */
export interface KeyDirectory {
  /** Finds a key by its hash (`hashApiKey`). Returns undefined for an unknown or revoked key. Does not check the expiry. */
  findByHash(hash: string): ApiKey | undefined;
  /** Closes the directory. Repeated calls have no effect. */
  close(): void;
}
