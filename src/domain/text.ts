/** Whether a text has more than `codePointsMax` code points. Returns early for a very long text, without counting its code points. */
export function exceedsCodePointLimit(text: string, codePointsMax: number): boolean {
  if (text.length <= codePointsMax) return false;
  return text.length > 2 * codePointsMax || [...text].length > codePointsMax;
}

/** Whether a text has 1 to `charactersMax` characters, all of which are visible ASCII characters without spaces. */
export function isVisibleAscii(text: string, charactersMax: number): boolean {
  return text.length <= charactersMax && /^[!-~]+$/.test(text);
}

/**
 * Returns the same string in contiguous memory. The JavaScript engine represents a concatenated string as a tree, and each later
 * concatenation would traverse the tree again. Without `flattenString`, traversing the tree took three quarters of the time needed to
 * format a response with offers.
 */
export function flattenString(text: string): string {
  return Buffer.from(text).toString();
}

/** Control characters, format characters, lone surrogates, line separators and paragraph separators. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Formats a value as JSON with invisible characters escaped. */
export function toEscapedJson(value: unknown): string {
  return escapeInvisibleCharacters(JSON.stringify(value));
}

/** Formats a value as JSON with invisible characters escaped, but without quotes around a simple string. */
export function toDisplayText(value: unknown): string {
  return typeof value === 'string' && /^[\w:.+-]+$/.test(value) ? value : toEscapedJson(value);
}

/** Replaces invisible characters by JSON escapes. */
export function escapeInvisibleCharacters(text: string): string {
  return text.replaceAll(invisibleCharacters, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Truncates a text to `lengthMax` UTF-16 code units and appends three dots to a truncated text. */
export function truncateText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}...` : text;
}

/**
 * Returns the word with the smallest edit distance to a misspelled word, or null if no word is similar. A word of up to 5 characters is
 * similar up to an edit distance of 1, a longer word up to an edit distance of 2. Ignores case.
 */
export function nearestWord(typed: string, words: readonly string[]): string | null {
  const lowerCase = typed.toLowerCase();
  let nearest: string | null = null;
  let nearestDistance = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const distanceMax = word.length < 6 ? 1 : 2;
    // The edit distance is not computed for two words of very different lengths, so that long texts are never compared.
    if (Math.abs(word.length - lowerCase.length) > distanceMax) continue;
    const distance = editDistance(lowerCase, word.toLowerCase());
    if (distance > distanceMax || distance >= nearestDistance) continue;
    nearest = word;
    nearestDistance = distance;
  }
  return nearest;
}

/** Computes the optimal string alignment distance of two words. */
function editDistance(one: string, other: string): number {
  let rowBeforeLast: number[] = [];
  let lastRow = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const substitution = one[i - 1] === other[j - 1] ? 0 : 1;
      let cost = Math.min(lastRow[j]! + 1, row[j - 1]! + 1, lastRow[j - 1]! + substitution);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        cost = Math.min(cost, rowBeforeLast[j - 2]! + 1);
      }
      row.push(cost);
    }
    rowBeforeLast = lastRow;
    lastRow = row;
  }
  return lastRow[other.length]!;
}
