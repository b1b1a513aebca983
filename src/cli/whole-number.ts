import { InvalidArgumentError } from 'commander';

/** Parses an option that takes a whole number from 1 to `most`. */
export function parseIntegerUpTo(most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  };
}
