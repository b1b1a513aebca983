import { isoTimestampOrNull } from '../domain/iso-or-null.ts';
import type { IssuedKey } from './key-register.ts';

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
