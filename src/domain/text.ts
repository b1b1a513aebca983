/** Whether a text has more characters, counted as code points, than allowed; a long text is judged without being counted. */
export function exceedsCodePoints(text: string, codePointsMax: number): boolean {
  if (text.length <= codePointsMax) return false;
  return text.length > 2 * codePointsMax || [...text].length > codePointsMax;
}

/** Whether a text has 1 to `charactersMax` characters, all of them visible ASCII: no space, no control character. */
export function isVisibleAscii(text: string, charactersMax: number): boolean {
  return text.length <= charactersMax && /^[!-~]+$/.test(text);
}

/**
 * The same text in one piece. The engine keeps a concatenation as a tree of its parts until somebody reads it, and each text
 * it is then put into walks that tree again: whatever goes into every answer should be flat. Measured with the offers of
 * an answer, where the parts were three quarters of the work.
 */
export function flattenString(text: string): string {
  return Buffer.from(text).toString();
}

/** What a terminal would obey, or not show at all: control and format characters, halves of pairs, other ends of lines. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A value as JSON that shows everything in it. */
export function escapedJson(value: unknown): string {
  return escapeInvisible(JSON.stringify(value));
}

/** Strings without quotes where nothing in them needs one. */
export function displayText(value: unknown): string {
  return typeof value === 'string' && /^[\w:.+-]+$/.test(value) ? value : escapedJson(value);
}

/** A text with escapes, as in JSON, in place of whatever would not be seen. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(invisibleCharacters, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** The first `most` UTF-16 units of a text, with dots behind them where there were more. */
export function truncateText(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}...` : text;
}

/**
 * The word somebody most likely meant who typed another: the nearest by letters left out, put in, changed or swapped, of which one
 * is forgiven in a short word and two in a longer one. Null when none is that near. Case does not count.
 */
export function nearestWord(typed: string, words: readonly string[]): string | null {
  const wanted = typed.toLowerCase();
  let nearest: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const most = word.length < 6 ? 1 : 2;
    // Also what keeps a long text from being compared at all.
    if (Math.abs(word.length - wanted.length) > most) continue;
    const distance = editDistance(wanted, word.toLowerCase());
    if (distance > most || distance >= least) continue;
    nearest = word;
    least = distance;
  }
  return nearest;
}

/** Optimal string alignment, row by row. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[other.length]!;
}
