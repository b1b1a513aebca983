import { bounds } from '../bounds.ts';
import { requireKnownNames } from '../domain/require-known-names.ts';
import { requireWholeNumber } from '../domain/require-whole-number.ts';

/** How much one key may ask for (docs/contract.md#rate-limits). */
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

const limitsMax: KeyLimits = {
  requestsPerMinute: bounds.limitPerMinuteMax,
  analyticsPerMinute: bounds.limitPerMinuteMax,
  sessionsPerDay: bounds.limitPerDayMax,
};

/** What a service lets each key have where nobody says otherwise. */
export const defaultKeyLimits: KeyLimits = {
  requestsPerMinute: bounds.requestsPerMinute,
  analyticsPerMinute: bounds.analyticsPerMinute,
  sessionsPerDay: bounds.sessionsPerDay,
};

export const noOwnLimits: OwnLimits = { requestsPerMinute: null, analyticsPerMinute: null, sessionsPerDay: null };

export function hasOwnLimits(own: OwnLimits): boolean {
  return own.requestsPerMinute !== null || own.analyticsPerMinute !== null || own.sessionsPerDay !== null;
}

export function effectiveLimits(own: OwnLimits, defaults: KeyLimits): KeyLimits {
  return {
    requestsPerMinute: own.requestsPerMinute ?? defaults.requestsPerMinute,
    analyticsPerMinute: own.analyticsPerMinute ?? defaults.analyticsPerMinute,
    sessionsPerDay: own.sessionsPerDay ?? defaults.sessionsPerDay,
  };
}

/**
 * Throws a RangeError that names the first member that is no limit, or is neither left to its default (null, undefined) nor a whole
 * number within its bounds.
 */
export function requireLimits(limits: { readonly [Name in keyof KeyLimits]?: number | null | undefined }): void {
  requireKnownNames('limits', limits, Object.keys(limitsMax));
  for (const name of Object.keys(limitsMax) as (keyof KeyLimits)[]) {
    const limit = limits[name] ?? null;
    if (limit !== null) requireWholeNumber(`limits.${name}`, limit, 1, limitsMax[name]);
  }
}
