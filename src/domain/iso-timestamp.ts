/** A prime, so that the times answered together, a session's beginning and its end hours later, do not share a place. */
const places = 61;
const rememberedMs = new Float64Array(places).fill(Number.NaN);
const rememberedText = new Array<string>(places).fill('');

/** A wall time as the ISO 8601 UTC string of an answer. Answers of the same millisecond share one. */
export function isoTimestamp(wallMs: number): string {
  const place = wallMs % places;
  if (rememberedMs[place] !== wallMs) {
    rememberedText[place] = new Date(wallMs).toISOString();
    rememberedMs[place] = wallMs;
  }
  return rememberedText[place]!;
}
