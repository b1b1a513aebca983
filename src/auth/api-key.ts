import { hash, randomBytes } from 'node:crypto';
import { bounds } from '../bounds.ts';
import { dayStartMs, parseIsoDate, parseIsoTimestamp } from '../domain/calendar.ts';
import type { RequestParamName } from '../domain/errors.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import { isPrintable } from '../domain/text.ts';
import { encodeVerticalAndMode } from '../ids/sub-id.ts';
import { formatTenantCode, type TenantNumbers, tenantHexDigits } from '../ids/tenant-code.ts';
import { isValidLimitOverride, type KeyLimitOverrides } from './rate-limits.ts';

/**
 * Scopes of API keys (docs/contract.md#scopes). A key with the scope `full` may use every operation. A key with another scope may use only the
 * operations that name this scope.
 */
export const apiKeyScopes = ['full', 'analytics'] as const;
export type ApiKeyScope = (typeof apiKeyScopes)[number];

export interface NewKey {
  /** Name of the account that owns the key. A new account name creates a new account. */
  readonly accountName: string;
  readonly vertical: { readonly segment: string; readonly number: number; readonly keyPrefix: string };
  readonly mode: ApiKeyMode;
  readonly scope: ApiKeyScope;
  /** Expiry time of the key in Unix milliseconds; null if the key never expires. */
  readonly expiresAtMs: number | null;
  readonly limits: KeyLimitOverrides;
}

/** An issued API key. `IssuedKey` does not contain the text of the API key, because the service stores only its hash. */
export interface IssuedKey {
  /** Id of the key: `key_` and 12 hex digits. */
  readonly id: string;
  readonly number: number;
  readonly account: number;
  readonly accountName: string;
  /** URL path segment of the vertical for which the key was issued. */
  readonly vertical: string;
  readonly mode: ApiKeyMode;
  readonly scope: ApiKeyScope;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly limits: KeyLimitOverrides;
}

export type RevokeKeyResult = 'revoked' | 'already_revoked' | 'unknown';

/** Rate limits of a key: the name in the code, and the name in the operations API. */
export const apiKeyLimitNames = [
  ['requestsPerMinute', 'requests_per_minute'],
  ['analyticsPerMinute', 'analytics_per_minute'],
  ['sessionsPerDay', 'sessions_per_day'],
] as const;

/**
 * Returns the first invalid member of `newKey`, as the name of a request parameter of the operations API; null if all members are valid.
 * Accepts members of any type, because `newKey` may come from untyped code.
 */
export function validateNewKey(
  newKey: { readonly [Name in keyof NewKey]: unknown },
  nowMs: number,
): RequestParamName | null {
  const { accountName, vertical, mode, scope, expiresAtMs } = newKey;
  if (typeof accountName !== 'string' || !isValidAccountName(accountName)) return 'account';
  if (vertical === undefined) return 'vertical';
  if (mode !== 'live' && mode !== 'test') return 'mode';
  if (!apiKeyScopes.includes(scope as ApiKeyScope)) return 'scope';
  // NaN is rejected, because SQLite would store NaN as NULL. A key whose expiry is NULL never expires.
  const expires = Number.isInteger(expiresAtMs) ? (expiresAtMs as number) : Number.NaN;
  if (expiresAtMs !== null && !(expires > nowMs && expires <= bounds.timestampMsMax)) return 'expires';
  const limits = newKey.limits as Record<string, unknown>;
  return apiKeyLimitNames.find(([name]) => !isValidLimitOverride(name, limits[name]))?.[1] ?? null;
}

/** Whether a text is a valid account name: 1 to 64 printable characters without leading or trailing spaces. */
export function isValidAccountName(text: string): boolean {
  return text !== '' && text.length <= bounds.accountNameCharactersMax && text.trim() === text && isPrintable(text);
}

/**
 * Parses the expiry of a key (docs/contract.md#api-keys): either a date `YYYY-MM-DD`, which means the end of that UTC day, or an ISO 8601
 * timestamp with a UTC offset. Returns the expiry time in Unix milliseconds, or null for an invalid text.
 */
export function parseKeyExpiry(text: string): number | null {
  const day = parseIsoDate(text);
  if (day !== null) return dayStartMs(day + 1);
  return parseIsoTimestamp(text);
}

/**
 * Format of an API key (docs/contract.md#api-keys): the key prefix of the vertical, `live_` or `test_`, and 48 lower-case hex digits: the
 * account number (8), the vertical and mode as in a sub_id (2), and 152 random bits (38). The digits of earlier keys are all random, so
 * only the hash of a key identifies its account. The key file stores only the hash of a key.
 */
const randomByteCount = 19;
const modePrefixes: Record<ApiKeyMode, string> = { live: 'live_', test: 'test_' };
const modeAndHexCharacters = modePrefixes.live.length + tenantHexDigits + 2 * randomByteCount;

const bearerScheme = 'bearer';
const spaceCode = 0x20;
/** Setting this bit makes an ASCII letter lower-case, and turns no other character into an ASCII letter. */
const lowerCaseBit = 0x20;

export function generateApiKey(
  { keyPrefix, number }: Pick<NewKey['vertical'], 'keyPrefix' | 'number'>,
  mode: ApiKeyMode,
  account: number,
): string {
  const tenantCode = formatTenantCode({ account, verticalAndMode: encodeVerticalAndMode(number, mode) });
  return `${keyPrefix}${modePrefixes[mode]}${tenantCode}${randomBytes(randomByteCount).toString('hex')}`;
}

/** Returns the SHA-256 hash of an API key as 32 Latin-1 characters, because a short string is the cheapest key of a `Map`. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'binary');
}

/**
 * Returns the API key in an `Authorization: Bearer <API_KEY>` header, or null if the header cannot be valid. The word `Bearer` is not
 * case-sensitive.
 *
 * Does not check the 48 hex digits, because this check would cost as much as hashing the key. The hash of an invalid key is not in the key
 * directory, so a lookup finds no key.
 */
export function parseBearerKey(authorization: string): string | null {
  const { length } = authorization;
  if (length > bearerScheme.length + 1 + bounds.apiKeyCharactersMax) return null;
  for (let i = 0; i < bearerScheme.length; i++) {
    if ((authorization.charCodeAt(i) | lowerCaseBit) !== bearerScheme.charCodeAt(i)) return null;
  }
  let start = bearerScheme.length;
  while (authorization.charCodeAt(start) === spaceCode) start++;
  const modeStart = length - modeAndHexCharacters;
  if (start === bearerScheme.length || modeStart <= start) return null;
  if (
    !authorization.startsWith(modePrefixes.live, modeStart) &&
    !authorization.startsWith(modePrefixes.test, modeStart)
  )
    return null;
  return authorization.slice(start);
}

/**
 * Returns the tenant of a key. The vertical number is 0 if the vertical is not served, so that the operations refuse the key.
 *
 * @param verticals served verticals
 */
export function getTenantOfKey(
  { account, vertical, mode }: Pick<ApiKey, 'account' | 'vertical' | 'mode'>,
  verticals: readonly Pick<NewKey['vertical'], 'segment' | 'number'>[],
): TenantNumbers {
  const number = verticals.find(({ segment }) => segment === vertical)?.number ?? 0;
  return { account, verticalAndMode: encodeVerticalAndMode(number, mode) };
}

/** An API key that is not revoked, but may have expired. */
export interface ApiKey {
  /** Number that identifies the key in the ledger. Key numbers are never reused. */
  readonly number: number;
  /** Account number, an unsigned 32-bit integer. Account numbers are never reused. */
  readonly account: number;
  /** URL path segment of the vertical for which the key is valid. */
  readonly vertical: string;
  readonly mode: ApiKeyMode;
  readonly scope: ApiKeyScope;
  /** Expiry time of the key in Unix milliseconds; Infinity if the key never expires. */
  readonly expiresAtMs: number;
  readonly limits: KeyLimitOverrides;
}
