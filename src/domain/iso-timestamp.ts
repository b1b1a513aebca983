let lastMs = Number.NaN;
let lastText = '';

/** A wall time as the ISO 8601 UTC string of an answer. Answers of the same millisecond share one. */
export function isoTimestamp(wallMs: number): string {
  if (wallMs !== lastMs) {
    lastText = new Date(wallMs).toISOString();
    lastMs = wallMs;
  }
  return lastText;
}
