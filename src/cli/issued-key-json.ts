import type { IssuedKey } from '../access/key-register.ts';
import { isoOrNull } from './output.ts';

/** A key as `--json` shows it: times as ISO 8601, limits null where the service's default applies. */
export function issuedKeyJson(issued: IssuedKey, nowMs: number) {
  return {
    id: issued.id,
    account: issued.accountName,
    vertical: issued.vertical,
    mode: issued.mode,
    state: keyState(issued, nowMs),
    created_at: isoOrNull(issued.createdAtMs),
    expires_at: isoOrNull(issued.expiresAtMs),
    revoked_at: isoOrNull(issued.revokedAtMs),
    requests_per_minute: issued.limits.requestsPerMinute,
    analytics_per_minute: issued.limits.analyticsPerMinute,
    sessions_per_day: issued.limits.sessionsPerDay,
  };
}

/** The same in the words of a guide. */
export const issuedKeyMembers = {
  id: 'what the key is called, `key_` and twelve hexadecimal digits',
  account: 'whose it is',
  vertical: 'the vertical it is good for',
  mode: '`live` or `test`',
  state: '`active`, `expired` or `revoked`',
  created_at: 'ISO 8601, as every time',
  expires_at: 'null for never',
  revoked_at: 'null while it is not',
  requests_per_minute: "its own limit; null for the service's",
  analytics_per_minute: 'the same for analytics queries',
  sessions_per_day: 'the same for sessions of one UTC day',
} as const;

export function keyState(issued: IssuedKey, nowMs: number): 'active' | 'expired' | 'revoked' {
  if (issued.revokedAtMs !== null) return 'revoked';
  return issued.expiresAtMs !== null && nowMs >= issued.expiresAtMs ? 'expired' : 'active';
}
