import { InvalidArgumentError } from 'commander';
import { parseKeyExpiry } from '../access/key-expiry.ts';
import { systemClock } from '../domain/clock.ts';

/** Parses when a key ends, in milliseconds since the Unix epoch. */
export function parseFutureExpiry(text: string): number {
  const ms = parseKeyExpiry(text);
  if (ms === null) {
    throw new InvalidArgumentError('It must be a date like 2030-12-31 or a timestamp like 2030-12-31T18:00:00Z.');
  }
  if (ms <= systemClock.wallMs()) throw new InvalidArgumentError('It is in the past.');
  return ms;
}
