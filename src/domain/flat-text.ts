/**
 * The same text in one piece. The engine keeps a concatenation as a tree of its parts until somebody reads it, and each text
 * it is then put into walks that tree again: whatever goes into every answer should be flat. Measured with the offers of
 * an answer, where the parts were three quarters of the work.
 */
export function flattenString(text: string): string {
  return Buffer.from(text).toString();
}
