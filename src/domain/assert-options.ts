import { escapeInvisibleCharacters, nearestWord } from './text.ts';

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Runtime checks of API options. JavaScript programs need runtime checks, because no compiler checks the types of their options.

export function assertObject(name: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null) throw new RangeError(`${name} must be an object`);
}

export function assertIntegerOption(name: string, value: unknown, min: number, max: number): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw new RangeError(`${name} must be an integer from ${min} to ${max}`);
}

/**
 * Throws a RangeError that names the first unknown option and suggests a similar name. The error message contains no option values.
 *
 * @param parent name of the object that contains the options, such as `listen`; empty for top-level options
 */
export function assertKnownOptionNames(parent: string, options: object, names: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const fullName = (name: string) => (parent === '' ? name : `${parent}.${name}`);
  const similar = nearestWord(unknown, names);
  const hint =
    similar === null ? `the options are ${names.map(fullName).join(', ')}` : `did you mean ${fullName(similar)}?`;
  throw new RangeError(`unknown option ${fullName(escapeInvisibleCharacters(unknown))}; ${hint}`);
}
