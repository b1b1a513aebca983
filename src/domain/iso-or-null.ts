/** A wall time as JSON has it. */
export function isoTimestampOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
