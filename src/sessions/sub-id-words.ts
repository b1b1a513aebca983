import { subIdByteLength, subIdCharacters, subIdPrefix } from './sub-id.ts';

/** The 32 bytes of a sub_id as numbers of 32 bits, big endian: what it is compared and found by. */
export const subIdWordCount = subIdByteLength / 4;
const hexDigitsPerWord = 8;

/** The value of each lower-case hex digit by its byte; -1 for any other. */
const hexDigitValues = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte)));

/** The text being read, as UTF-8, with room for the last character to be a long one: what is no digit has no byte that is one. */
const textBuffer = Buffer.alloc(subIdCharacters + 4);

/** Reads an id into `words`; false, with anything in them, for a text that is not spelt as one. Says nothing of its being genuine. */
export function parseSubIdWords(text: string, words: Int32Array): boolean {
  if (text.length !== subIdCharacters || !text.startsWith(subIdPrefix)) return false;
  // The bytes of a buffer are read twice as fast as the characters of a string, the copy included.
  textBuffer.write(text, 0, 'utf8');
  // Judged once, at the end: a digit that is none is negative.
  let all = 0;
  for (let word = 0, at = subIdPrefix.length; word < subIdWordCount; word++, at += hexDigitsPerWord) {
    const a = hexDigitValues[textBuffer[at]!]!;
    const b = hexDigitValues[textBuffer[at + 1]!]!;
    const c = hexDigitValues[textBuffer[at + 2]!]!;
    const d = hexDigitValues[textBuffer[at + 3]!]!;
    const e = hexDigitValues[textBuffer[at + 4]!]!;
    const f = hexDigitValues[textBuffer[at + 5]!]!;
    const g = hexDigitValues[textBuffer[at + 6]!]!;
    const h = hexDigitValues[textBuffer[at + 7]!]!;
    all |= a | b | c | d | e | f | g | h;
    words[word] = (a << 28) | (b << 24) | (c << 20) | (d << 16) | (e << 12) | (f << 8) | (g << 4) | h;
  }
  return all >= 0;
}

/** When the session of an id was created: its first six bytes, in milliseconds. */
export function subIdCreatedMs(firstWord: number, secondWord: number): number {
  return (firstWord >>> 0) * 0x1_0000 + (secondWord >>> 16);
}
