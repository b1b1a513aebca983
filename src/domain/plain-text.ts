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
