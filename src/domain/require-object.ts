/** For what a program hands us, which no compiler may have seen: throws a RangeError that names what is no object. */
export function assertObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) throw new RangeError(`${name} must be an object`);
}
