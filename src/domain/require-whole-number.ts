/** Throws a RangeError that says what `name` may hold, unless the value is a whole number from `min` to `max`. */
export function assertInteger(name: string, value: unknown, min: number, max: number): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw new RangeError(`${name} must be a whole number from ${min} to ${max}`);
}
