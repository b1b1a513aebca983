/** Whether a text has 1 to `charactersMax` characters, all of them visible ASCII: no space, no control character. */
export function isVisibleAscii(text: string, charactersMax: number): boolean {
  return text.length <= charactersMax && /^[!-~]+$/.test(text);
}
