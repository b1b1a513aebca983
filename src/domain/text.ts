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
 * Returns an equal string that is stored as one block of memory. The JavaScript engine stores a concatenated string as a tree of its parts,
 * and traversing the tree is slow. Without `copyToFlatString`, formatting a response with offers took four times as long.
 */
export function copyToFlatString(text: string): string {
  return Buffer.from(text).toString();
}

/** Invisible characters: control and format characters, lone surrogates, and line and paragraph separators. */
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Characters that displayed text must not contain: those of `invisibleCharacters`, which include bidirectional controls, other characters
 * without a shape, such as zero-width characters, and code points that Unicode does not assign. Variation selectors of emojis are allowed.
 */
const unprintableCharacter = /(?![\ufe0e\ufe0f])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Whether a text can be displayed as one line without characters that hide or reorder other characters. */
export function isPrintable(text: string): boolean {
  return !unprintableCharacter.test(text);
}

/** Formats a value as JSON with invisible characters escaped. */
export function toEscapedJson(value: unknown): string {
  return escapeInvisibleCharacters(JSON.stringify(value));
}

/** Formats a value as JSON with invisible characters escaped. A string of letters, digits and `_:.+-` is returned without quotes. */
export function toDisplayText(value: unknown): string {
  return typeof value === 'string' && /^[\w:.+-]+$/.test(value) ? value : toEscapedJson(value);
}

/** Replaces each invisible character by its JSON escape, such as `\u200b`. */
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
 * Returns the word with the smallest edit distance to a misspelled word, or null if no word is similar. A word is similar if the edit
 * distance is at most 1, or at most 2 for a word of 6 or more characters. Ignores case.
 */
export function nearestWord(typed: string, words: readonly string[]): string | null {
  const lowerCase = typed.toLowerCase();
  let nearest: string | null = null;
  let nearestDistance = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const distanceMax = word.length < 6 ? 1 : 2;
    // Skips words of a very different length, because computing the edit distance of a long text is slow.
    if (Math.abs(word.length - lowerCase.length) > distanceMax) continue;
    const distance = editDistance(lowerCase, word.toLowerCase());
    if (distance > distanceMax || distance >= nearestDistance) continue;
    nearest = word;
    nearestDistance = distance;
  }
  return nearest;
}

/** Computes the edit distance of two words. Exchanging two adjacent letters counts as one edit (optimal string alignment). */
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
