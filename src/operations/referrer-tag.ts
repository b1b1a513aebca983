const referrerTagPattern = /^[a-z0-9_-]{3,64}$/;

/** Whether a value may be a referrer tag (docs/contract.md#session-members): 3 to 64 lower-case letters, digits, underscores, hyphens. */
export function isReferrerTag(value: unknown): value is string {
  return typeof value === 'string' && referrerTagPattern.test(value);
}
