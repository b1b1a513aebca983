import type { TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';

/** Why there is no plan: what is wrong with a file, or what cannot be had from this box. One line to be shown. */
export class CapacityError extends Error {
  override readonly name = 'CapacityError';
}

/** A JSON text without its byte order mark. Throws `CapacityError`, which repeats nothing of the text. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new CapacityError('is not JSON');
  }
}

/** The first thing wrong with a value, e.g. `limits.sessions_per_day must be integer`. */
export function firstSchemaError(shape: Validator<Record<never, never>, TSchema>, value: unknown): string {
  const fault = shape.Errors(value)[0];
  if (fault === undefined) throw new Error('nothing is wrong with this value');
  const place = fault.instancePath.slice(1).replaceAll('/', '.');
  return `${place === '' ? 'the whole of it' : place} ${fault.message}`;
}
