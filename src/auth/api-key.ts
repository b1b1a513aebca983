import { hash, randomBytes } from 'node:crypto';
import { bounds } from '../bounds.ts';
import { dayStartMs, parseIsoDate, parseIsoTimestamp } from '../domain/calendar.ts';
import type { Mode } from '../domain/mode.ts';

/** Whether an account may be called this: 1 to 64 printable characters without spaces at either end. */
export function isAccountName(text: string): boolean {
  return (
    text.length <= bounds.accountNameCharactersMax && text.trim() === text && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(text)
  );
}

/**
 * Wall time from which a key with the expiry `text` is refused (docs/contract.md#api-keys): a date `YYYY-MM-DD` lasts to the end of
 * that UTC day, an ISO 8601 timestamp, with its offset from UTC, is meant to the millisecond. Null for anything else.
 */
export function parseKeyExpiry(text: string): number | null {
  const day = parseIsoDate(text);
  if (day !== null) return dayStartMs(day + 1);
  return parseIsoTimestamp(text);
}

/**
 * API keys (docs/contract.md#api-keys): the key prefix of the vertical, `live_` or `test_`, then 192 random bits as 48
 * lower-case hexadecimal digits. The text is a secret; everything after its creation works on its hash.
 */
const secretBytes = 24;
const secretHexDigits = secretBytes * 2;
const modePrefixes: Record<Mode, string> = { live: 'live_', test: 'test_' };
const modeAndSecretCharacters = modePrefixes.live.length + secretHexDigits;

const bearerScheme = 'bearer';
const spaceCode = 0x20;
/** Turns an upper-case ASCII letter into its lower-case one; what else it changes cannot become a letter of the scheme. */
const lowerCaseBit = 0x20;

/** Value of the `WWW-Authenticate` header that goes with every 401 (RFC 9110, section 11.6.1). */
export const wwwAuthenticate = 'Bearer';

export function generateApiKey(keyPrefix: string, mode: Mode): string {
  return `${keyPrefix}${modePrefixes[mode]}${randomBytes(secretBytes).toString('hex')}`;
}

/** SHA-256 of a key as a string of 32 Latin-1 characters: the cheapest form that can be looked up in a map. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'binary');
}

/**
 * The key of an `Authorization: Bearer <API_KEY>` header, or null when it cannot be one. The scheme is not case-sensitive.
 *
 * This looks only at what keeps rubbish away from the hash, where a whole check of the 48 digits would cost as much as the
 * hash itself: whatever passes and is not a key has a hash that nobody has.
 */
export function parseBearerKey(authorization: string): string | null {
  const { length } = authorization;
  if (length > bearerScheme.length + 1 + bounds.apiKeyCharactersMax) return null;
  for (let at = 0; at < bearerScheme.length; at++) {
    if ((authorization.charCodeAt(at) | lowerCaseBit) !== bearerScheme.charCodeAt(at)) return null;
  }
  let start = bearerScheme.length;
  while (authorization.charCodeAt(start) === spaceCode) start++;
  const mark = length - modeAndSecretCharacters;
  if (start === bearerScheme.length || mark <= start) return null;
  if (!authorization.startsWith(modePrefixes.live, mark) && !authorization.startsWith(modePrefixes.test, mark))
    return null;
  return authorization.slice(start);
}
