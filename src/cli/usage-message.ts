import { escapeInvisible } from '../domain/plain-text.ts';

/** What commander says of a wrong command line, in the form of all other errors: one line, whatever was typed, without a prefix. */
export function formatUsageError(text: string): string {
  const line = text
    .trimEnd()
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean ([^\n]*)\?\)$/, '; did you mean $1?');
  return escapeInvisible(line);
}
