import { isJsonObject } from '../domain/assert-options.ts';
import { isoTimestampOrNull } from '../domain/calendar.ts';
import { invalidRequest, type Outcome, succeeded } from '../domain/outcome.ts';
import { findInvalidMember, type NewKey, parseKeyExpiry } from './api-key.ts';
import type { IssuedKey } from './key-registry.ts';

export type KeyVertical = NewKey['vertical'];

/**
 * Parses the body of a request for a new key: `account`, `vertical`, `mode` and the optional members of a listed key. Rejects
 * unknown members, so that a misspelt limit or expiry is not ignored.
 */
export function parseKeyRequest(body: unknown, verticals: readonly KeyVertical[], nowMs: number): Outcome<NewKey> {
  if (!isJsonObject(body)) return invalidRequest('body');
  if (Object.keys(body).some((name) => !memberNames.includes(name))) {
    return invalidRequest('body', `must be an object with no other members than ${memberNames.join(', ')}`);
  }
  const newKey = {
    accountName: body.account,
    vertical: verticals.find(({ segment }) => segment === body.vertical),
    mode: body.mode,
    expiresAtMs: parseExpiryMember(body.expires),
    limits: {
      requestsPerMinute: body.requests_per_minute ?? null,
      analyticsPerMinute: body.analytics_per_minute ?? null,
      sessionsPerDay: body.sessions_per_day ?? null,
    },
  };
  const invalid = findInvalidMember(newKey, nowMs);
  return invalid === null ? succeeded(newKey as NewKey) : invalidRequest(invalid);
}

const memberNames = [
  'account',
  'vertical',
  'mode',
  'expires',
  'requests_per_minute',
  'analytics_per_minute',
  'sessions_per_day',
];

/** Parses the member `expires`. Returns null if the key never expires, and NaN for an invalid value. */
function parseExpiryMember(expires: unknown): number | null {
  if (expires === undefined || expires === null) return null;
  return (typeof expires === 'string' ? parseKeyExpiry(expires) : null) ?? Number.NaN;
}

/** Converts a key to the JSON of the command line and the operations API. A limit is null if the service's default applies. */
export function toIssuedKeyJson(issued: IssuedKey, nowMs: number) {
  return {
    id: issued.id,
    account: issued.accountName,
    vertical: issued.vertical,
    mode: issued.mode,
    state: keyState(issued, nowMs),
    created_at: isoTimestampOrNull(issued.createdAtMs),
    expires_at: isoTimestampOrNull(issued.expiresAtMs),
    revoked_at: isoTimestampOrNull(issued.revokedAtMs),
    requests_per_minute: issued.limits.requestsPerMinute,
    analytics_per_minute: issued.limits.analyticsPerMinute,
    sessions_per_day: issued.limits.sessionsPerDay,
  };
}

export function keyState(issued: IssuedKey, nowMs: number): 'active' | 'expired' | 'revoked' {
  if (issued.revokedAtMs !== null) return 'revoked';
  return issued.expiresAtMs !== null && nowMs >= issued.expiresAtMs ? 'expired' : 'active';
}
