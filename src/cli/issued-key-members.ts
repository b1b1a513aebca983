/** What `toIssuedKeyJson` makes of a key, in the words of a guide. */
export const keyJsonMembers = {
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
