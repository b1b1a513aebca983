import { hash, randomBytes } from 'node:crypto';
import { bounds } from '../bounds.ts';
import { dayStartMs, parseIsoDate, parseIsoTimestamp } from '../domain/calendar.ts';
import type { RequestParam } from '../domain/errors.ts';
import type { Mode } from '../domain/mode.ts';
import { isLimitOverride, type KeyLimitOverrides } from './rate-limits.ts';

export interface NewKey {
  /** Name of the account. The account is created if it does not exist. */
  readonly accountName: string;
  readonly vertical: { readonly segment: string; readonly keyPrefix: string };
  readonly mode: Mode;
  /** Wall-clock time from which the key is rejected, in Unix milliseconds; null if the key never expires. */
  readonly expiresAtMs: number | null;
  readonly limits: KeyLimitOverrides;
}

/** An issued API key. The text of the key is not stored, so it is not included. */
export interface IssuedKey {
  /** Id of the key: `key_` and 12 hex digits. */
  readonly id: string;
  readonly number: number;
  readonly account: number;
  readonly accountName: string;
  /** Path segment of the key's vertical. */
  readonly vertical: string;
  readonly mode: Mode;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly limits: KeyLimitOverrides;
}

export type RevokeResult = 'revoked' | 'already_revoked' | 'unknown';

const limitParams = [
  ['requestsPerMinute', 'requests_per_minute'],
  ['analyticsPerMinute', 'analytics_per_minute'],
  ['sessionsPerDay', 'sessions_per_day'],
] as const;

/** Returns the first invalid member under its name in the operations API, or null. `newKey` may come from untyped code. */
export function findInvalidMember(
  newKey: { readonly [Name in keyof NewKey]: unknown },
  nowMs: number,
): RequestParam | null {
  const { accountName, vertical, mode, expiresAtMs } = newKey;
  if (typeof accountName !== 'string' || !isAccountName(accountName)) return 'account';
  if (vertical === undefined) return 'vertical';
  if (mode !== 'live' && mode !== 'test') return 'mode';
  // NaN is invalid, but SQLite would store it as NULL, which means that the key never expires.
  const expires = Number.isInteger(expiresAtMs) ? (expiresAtMs as number) : Number.NaN;
  if (expiresAtMs !== null && !(expires > nowMs && expires <= bounds.timestampMsMax)) return 'expires';
  const limits = newKey.limits as Record<string, unknown>;
  return limitParams.find(([name]) => !isLimitOverride(name, limits[name]))?.[1] ?? null;
}

/** Whether a text is a valid account name: 1 to 64 printable characters without spaces at either end. */
export function isAccountName(text: string): boolean {
  return (
    text.length <= bounds.accountNameCharactersMax && text.trim() === text && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(text)
  );
}

/**
 * Parses an expiry (docs/contract.md#api-keys) into the wall-clock time from which the key is rejected: a date `YYYY-MM-DD`, to
 * the end of that UTC day, or an ISO 8601 timestamp with its offset from UTC. Returns null for anything else.
 */
export function parseKeyExpiry(text: string): number | null {
  const day = parseIsoDate(text);
  if (day !== null) return dayStartMs(day + 1);
  return parseIsoTimestamp(text);
}

/**
 * Layout of an API key (docs/contract.md#api-keys): the key prefix of the vertical, `live_` or `test_`, then 192 random bits as 48
 * lower-case hex digits. Only the hash of a key is stored.
 */
const secretBytes = 24;
const secretHexDigits = secretBytes * 2;
const modePrefixes: Record<Mode, string> = { live: 'live_', test: 'test_' };
const modeAndSecretCharacters = modePrefixes.live.length + secretHexDigits;

const bearerScheme = 'bearer';
const spaceCode = 0x20;
/** Converts an upper-case ASCII letter to lower case, and no other character to a letter of the scheme. */
const lowerCaseBit = 0x20;

/** Value of the `WWW-Authenticate` header of every 401 (RFC 9110, section 11.6.1). */
export const wwwAuthenticate = 'Bearer';

export function generateApiKey(keyPrefix: string, mode: Mode): string {
  return `${keyPrefix}${modePrefixes[mode]}${randomBytes(secretBytes).toString('hex')}`;
}

/** Returns the SHA-256 of a key as 32 Latin-1 characters, the cheapest form for a map key. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'binary');
}

/**
 * Returns the key of an `Authorization: Bearer <API_KEY>` header, or null if it cannot be a key. The scheme is not
 * case-sensitive.
 *
 * The 48 digits are not checked, because this would cost as much as the hash. A text that is not a key has an unknown hash.
 */
export function parseBearerKey(authorization: string): string | null {
  const { length } = authorization;
  if (length > bearerScheme.length + 1 + bounds.apiKeyCharactersMax) return null;
  for (let i = 0; i < bearerScheme.length; i++) {
    if ((authorization.charCodeAt(i) | lowerCaseBit) !== bearerScheme.charCodeAt(i)) return null;
  }
  let start = bearerScheme.length;
  while (authorization.charCodeAt(start) === spaceCode) start++;
  const modeStart = length - modeAndSecretCharacters;
  if (start === bearerScheme.length || modeStart <= start) return null;
  if (
    !authorization.startsWith(modePrefixes.live, modeStart) &&
    !authorization.startsWith(modePrefixes.test, modeStart)
  )
    return null;
  return authorization.slice(start);
}

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
