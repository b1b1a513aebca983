import { escapeInvisible, nearestWord } from './text.ts';

/** For what a program hands us, which no compiler may have seen: throws a RangeError that names what is no object. */
export function assertObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) throw new RangeError(`${name} must be an object`);
}

/** Throws a RangeError that says what `name` may hold, unless the value is a whole number from `min` to `max`. */
export function assertInteger(name: string, value: unknown, min: number, max: number): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw new RangeError(`${name} must be a whole number from ${min} to ${max}`);
}

/**
 * For what a program hands us, which no compiler may have seen: throws a RangeError that tells the first member whose name is none of
 * these, with the one that was probably meant. What the member holds is not told.
 *
 * @param within where the members are, such as `listen`; empty at the top
 */
export function assertKnownNames(within: string, holder: object, names: readonly string[]): void {
  const wrong = Object.keys(holder).find((name) => !names.includes(name));
  if (wrong === undefined) return;
  const placed = (name: string) => (within === '' ? name : `${within}.${name}`);
  const meant = nearestWord(wrong, names);
  const hint = meant === null ? `the options are ${names.map(placed).join(', ')}` : `did you mean ${placed(meant)}?`;
  throw new RangeError(`${placed(escapeInvisible(wrong))} is no option; ${hint}`);
}
