import type { TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';

/** No plan is possible, because a file is invalid or the server is too small. The error message is one line. */
export class CapacityError extends Error {
  override readonly name = 'CapacityError';
}

/** Parses JSON that may start with a byte order mark. Throws `CapacityError` with a message that does not quote the file. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new CapacityError('is not JSON');
  }
}

/** Returns the first validation error of a value, such as `limits.sessions_per_day must be integer`. */
export function firstSchemaError(validator: Validator<Record<never, never>, TSchema>, value: unknown): string {
  const error = validator.Errors(value)[0];
  if (error === undefined) throw new Error('the value is valid');
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  return `${path === '' ? 'the file' : path} ${error.message}`;
}
