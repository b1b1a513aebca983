import { InvalidArgumentError, Option } from 'commander';
import { isAccountName, parseKeyExpiry } from '../auth/api-key.ts';
import { bounds } from '../bounds.ts';
import { systemClock } from '../domain/clock.ts';
import { nearestWord } from '../domain/text.ts';

/** Parses an option that names an account. */
export function parseAccountName(text: string): string {
  if (isAccountName(text)) return text;
  throw new InvalidArgumentError(
    `It must be 1 to ${bounds.accountNameCharactersMax} printable characters without spaces at either end.`,
  );
}

/** An option that takes one of a few values, and proposes the nearest when it gets another. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).argParser(parseChoice(choices));
}

/** Parses what must be one of a few values. */
function parseChoice<Choice extends string>(choices: readonly Choice[]): (text: string) => Choice {
  return (text) => {
    const choice = choices.find((each) => each === text);
    if (choice !== undefined) return choice;
    const meant = nearestWord(text, choices);
    const hint = meant === null ? '' : ` Did you mean ${meant}?`;
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.${hint}`);
  };
}

/** Parses when a key ends, in milliseconds since the Unix epoch. */
export function parseFutureExpiry(text: string): number {
  const ms = parseKeyExpiry(text);
  if (ms === null) {
    throw new InvalidArgumentError('It must be a date like 2030-12-31 or a timestamp like 2030-12-31T18:00:00Z.');
  }
  if (ms <= systemClock.wallMs()) throw new InvalidArgumentError('It is in the past.');
  return ms;
}

/** Parses an option that takes a whole number from 1 to `most`. */
export function parseIntegerUpTo(most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  };
}
