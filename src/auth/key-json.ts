import { bounds } from '../bounds.ts';
import { isoTimestampOrNull } from '../domain/calendar.ts';
import { invalidRequest, type Outcome } from '../domain/outcome.ts';
import { isAccountName, parseKeyExpiry } from './api-key.ts';
import type { IssuedKey, NewKey } from './key-registry.ts';

/** What a key can be issued for. */
export type KeyVertical = NewKey['vertical'];

/**
 * A key as the body of a request wishes for it: `account`, `vertical`, `mode`, and what else `marketplace keys create` has
 * options for, under the names that a listed key has them by. Refused with the member at fault, or as `body` with one unknown: a limit
 * or an expiry that is misspelt would be missing in silence.
 */
export function parseKeyRequest(body: unknown, verticals: readonly KeyVertical[], nowMs: number): Outcome<NewKey> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return invalidRequest('body');
  const wish = body as Readonly<Record<string, unknown>>;
  if (Object.keys(wish).some((name) => !knownMembers.has(name))) {
    return invalidRequest('body', `must be an object with no other members than ${[...knownMembers].join(', ')}`);
  }
  const { account, mode } = wish;
  if (typeof account !== 'string' || !isAccountName(account)) return invalidRequest('account');
  const vertical = verticals.find(({ segment }) => segment === wish.vertical);
  if (vertical === undefined) return invalidRequest('vertical');
  if (mode !== 'live' && mode !== 'test') return invalidRequest('mode');
  const expiresAtMs = parseExpiryMember(wish.expires);
  if (expiresAtMs !== null && !(expiresAtMs > nowMs && expiresAtMs <= bounds.timestampMsMax)) {
    return invalidRequest('expires');
  }
  for (const [member, most] of limitMemberBounds) if (!isLimitValue(wish[member], most)) return invalidRequest(member);
  const limit = (member: LimitMember) => (wish[member] ?? null) as number | null;
  const limits = {
    requestsPerMinute: limit('requests_per_minute'),
    analyticsPerMinute: limit('analytics_per_minute'),
    sessionsPerDay: limit('sessions_per_day'),
  };
  return { ok: true, value: { accountName: account, vertical, mode, expiresAtMs, limits } };
}

const limitMemberBounds = [
  ['requests_per_minute', bounds.limitPerMinuteMax],
  ['analytics_per_minute', bounds.limitPerMinuteMax],
  ['sessions_per_day', bounds.limitPerDayMax],
] as const;
type LimitMember = (typeof limitMemberBounds)[number][0];

const knownMembers = new Set<string>([
  'account',
  'vertical',
  'mode',
  'expires',
  ...limitMemberBounds.map(([name]) => name),
]);

/** Null for never; what is no moment comes to NaN, which no key may have. */
function parseExpiryMember(expires: unknown): number | null {
  if (expires === undefined || expires === null) return null;
  return (typeof expires === 'string' ? parseKeyExpiry(expires) : null) ?? Number.NaN;
}

function isLimitValue(value: unknown, most: number): boolean {
  if (value === undefined || value === null) return true;
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
}

/** A key as the command line and the operations listener show it: times as ISO 8601, limits null where the service's default applies. */
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
