/** How much one key may ask for (contract section 8, D13). */
export interface KeyLimits {
  /** Requests admitted in any 60 seconds, all operations together. */
  readonly requestsPerMinute: number;
  /** Analytics queries admitted in any 60 seconds; they count as requests too. */
  readonly analyticsPerMinute: number;
  /** Sessions created in one UTC day. */
  readonly sessionsPerDay: number;
}

/** A key's own limits; null where the service's default applies. */
export type OwnLimits = { readonly [Name in keyof KeyLimits]: number | null };

export const noOwnLimits: OwnLimits = { requestsPerMinute: null, analyticsPerMinute: null, sessionsPerDay: null };

export function effectiveLimits(own: OwnLimits, defaults: KeyLimits): KeyLimits {
  return {
    requestsPerMinute: own.requestsPerMinute ?? defaults.requestsPerMinute,
    analyticsPerMinute: own.analyticsPerMinute ?? defaults.analyticsPerMinute,
    sessionsPerDay: own.sessionsPerDay ?? defaults.sessionsPerDay,
  };
}
