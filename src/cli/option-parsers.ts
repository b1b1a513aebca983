import { InvalidArgumentError, Option } from 'commander';
import { isAccountName, parseKeyExpiry } from '../auth/api-key.ts';
import { bounds } from '../bounds.ts';
import { systemClock } from '../domain/clock.ts';
import { nearestWord } from '../domain/text.ts';

export function parseAccountName(text: string): string {
  if (isAccountName(text)) return text;
  throw new InvalidArgumentError(
    `It must be 1 to ${bounds.accountNameCharactersMax} printable characters without spaces at either end.`,
  );
}

/** Creates an option with a few allowed values, listed by name. For any other value, the error suggests the nearest allowed value. */
export function choiceOption<Value>(
  flags: string,
  description: string,
  values: readonly Value[],
  nameOf: (value: Value) => string = String,
): Option {
  const names = values.map(nameOf);
  return new Option(flags, description).choices(names).argParser((text) => {
    const index = names.indexOf(text);
    if (index >= 0) return values[index];
    const nearest = nearestWord(text, names);
    const hint = nearest === null ? '' : ` Did you mean ${nearest}?`;
    throw new InvalidArgumentError(`Allowed choices are ${names.join(', ')}.${hint}`);
  });
}

/** Parses the expiry of a key. Returns Unix milliseconds. */
export function parseFutureExpiry(text: string): number {
  const ms = parseKeyExpiry(text);
  if (ms === null) {
    throw new InvalidArgumentError('It must be a date like 2030-12-31 or a timestamp like 2030-12-31T18:00:00Z.');
  }
  if (ms <= systemClock.wallMs()) throw new InvalidArgumentError('It is in the past.');
  return ms;
}

/** Creates a parser of integers from 1 to `max`. */
export function parseIntegerUpTo(max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`It must be an integer from 1 to ${max}.`);
  };
}
