import { flattenString } from '../domain/flat-text.ts';

/**
 * Headers of an answer as the wire has them: for each of them CR LF, name, `: `, value. Texts are put together with `+`, and
 * what never changes is written once; an answer has a dozen headers, and nothing looks them up.
 */
export type HeaderText = string;

/** Throws for a value with a line break, which would let it write headers of its own. */
export function formatHeader(name: string, value: string): HeaderText {
  if (value.includes('\n') || value.includes('\r')) throw new Error(`a line break in the reply header ${name}`);
  return `\r\n${name}: ${value}`;
}

/** Headers that never change. */
export function formatHeaders(headers: Readonly<Record<string, string>>): HeaderText {
  return flattenString(
    Object.entries(headers)
      .map(([name, value]) => formatHeader(name, value))
      .join(''),
  );
}

/** Name, value, name, value: for an engine that writes the head by itself. */
export function splitHeaders(headers: HeaderText): string[] {
  return headers
    .split('\r\n')
    .slice(1)
    .flatMap((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
}
