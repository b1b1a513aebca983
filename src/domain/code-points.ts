/** Whether a text has more characters, counted as code points, than allowed; a long text is judged without being counted. */
export function exceedsCodePoints(text: string, codePointsMax: number): boolean {
  if (text.length <= codePointsMax) return false;
  return text.length > 2 * codePointsMax || [...text].length > codePointsMax;
}
