import type { PocketField, Vertical } from './vertical.ts';

/** Sessions keep every value as one number of 32 bits, less than 0 where there is none. */
const encodedMax = 2 ** 31 - 1;

/** Throws a RangeError that names the first field of a vertical with values that no session could keep. */
export function assertEncodable({ segment, fields }: Vertical): void {
  for (const field of fields) {
    const [least, largest] = encodedRange(field);
    if (Number.isInteger(least) && Number.isInteger(largest) && least >= 0 && largest <= encodedMax) continue;
    throw new RangeError(
      `vertical ${segment}: values of ${field.name} must be kept as whole numbers from 0 to ${encodedMax}`,
    );
  }
}

/** The least and the largest number that a value of the field is kept as. */
export function encodedRange(field: PocketField): readonly [least: number, largest: number] {
  switch (field.kind) {
    case 'integer':
      return [field.min, field.max];
    case 'choice':
      return [0, field.values.length - 1];
    case 'integer_choice':
      return [Math.min(...field.values), Math.max(...field.values)];
    case 'boolean':
      return [0, 1];
    case 'birthdate':
      return [0, 9999_12_31];
    case 'digits':
      return [0, 10 ** field.length - 1];
  }
}
