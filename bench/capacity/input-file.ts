import type { TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';
import { OperatorError } from '../../src/domain/operator-error.ts';
import { readRegularFile } from '../../src/files/regular-file.ts';

/** Error with a one-line message: an input file is invalid, or one server is too small for the planned load. */
export class CapacityPlanError extends OperatorError {
  override readonly name = 'CapacityPlanError';
}

/**
 * Reads a JSON file, which may start with a byte order mark, and parses its value. Throws a `CapacityPlanError` that starts with the name of
 * the file if the file cannot be read, or if `parse` throws a `CapacityPlanError`. Error messages do not quote the file.
 */
export function readInputFile<Value>(file: string, bytesMax: number, parse: (value: unknown) => Value): Value {
  const read = readRegularFile(file, bytesMax);
  if (!read.ok) throw new CapacityPlanError(`${file} ${read.problem}`);
  let value: unknown;
  try {
    value = JSON.parse(read.bytes.toString().replace(/^\uFEFF/, ''));
  } catch {
    throw new CapacityPlanError(`${file} is not JSON`);
  }
  try {
    return parse(value);
  } catch (error) {
    if (!(error instanceof CapacityPlanError)) throw error;
    throw new CapacityPlanError(`${file} ${error.message}`, { cause: error });
  }
}

/** Returns the first validation error of a value, such as `limits.sessions_per_day must be integer`. */
export function firstSchemaError(validator: Validator<Record<never, never>, TSchema>, value: unknown): string {
  const error = validator.Errors(value)[0];
  if (error === undefined) throw new Error('schema validation reported no error');
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  return `${path === '' ? 'the file' : path} ${error.message}`;
}
