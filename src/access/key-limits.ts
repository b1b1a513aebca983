import { bounds } from '../bounds.ts';
import { assertKnownNames } from '../domain/require-known-names.ts';
import { assertInteger } from '../domain/require-whole-number.ts';

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
export type KeyLimitOverrides = { readonly [Name in keyof KeyLimits]: number | null };

const keyLimitsMax: KeyLimits = {
  requestsPerMinute: bounds.limitPerMinuteMax,
  analyticsPerMinute: bounds.limitPerMinuteMax,
  sessionsPerDay: bounds.limitPerDayMax,
};

/** What a service lets each key have where nobody says otherwise. */
export const defaultKeyLimits: KeyLimits = {
  requestsPerMinute: bounds.requestsPerMinuteDefault,
  analyticsPerMinute: bounds.analyticsPerMinuteDefault,
  sessionsPerDay: bounds.sessionsPerDayDefault,
};

export const noLimitOverrides: KeyLimitOverrides = { requestsPerMinute: null, analyticsPerMinute: null, sessionsPerDay: null };

export function hasLimitOverrides(own: KeyLimitOverrides): boolean {
  return own.requestsPerMinute !== null || own.analyticsPerMinute !== null || own.sessionsPerDay !== null;
}

export function effectiveLimits(own: KeyLimitOverrides, defaults: KeyLimits): KeyLimits {
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
export function assertLimits(limits: { readonly [Name in keyof KeyLimits]?: number | null | undefined }): void {
  assertKnownNames('limits', limits, Object.keys(keyLimitsMax));
  for (const name of Object.keys(keyLimitsMax) as (keyof KeyLimits)[]) {
    const limit = limits[name] ?? null;
    if (limit !== null) assertInteger(`limits.${name}`, limit, 1, keyLimitsMax[name]);
  }
}
