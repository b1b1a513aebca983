import type { FieldCases } from './vertical-fixture.ts';

/** Cases for an integer between two bounds, without type coercion (docs/contract.md#field-values). */
export function integerCases(name: string, min: number, max: number): FieldCases {
  return {
    name,
    valid: [min, max, min + 1],
    invalid: [
      [min - 1, 'range'],
      [max + 1, 'range'],
      [-1e15, 'range'],
      [1e300, 'range'],
      [min + 0.5, 'type'],
      [String(min), 'type'],
      ['', 'type'],
      [true, 'type'],
      [[min], 'type'],
      [{}, 'type'],
    ],
    hints: { range: { min, max } },
  };
}

export function choiceCases(name: string, values: readonly string[]): FieldCases {
  const first = values[0] as string;
  const otherCase = first === first.toUpperCase() ? first.toLowerCase() : first.toUpperCase();
  const refused: FieldCases['invalid'] = [
    [`${first} `, 'enum'],
    [otherCase, 'enum'],
    ['', 'enum'],
    ['__proto__', 'enum'],
    [0, 'type'],
    [false, 'type'],
    [[first], 'type'],
    [{}, 'type'],
  ];
  return {
    name,
    valid: values,
    // Excludes upper-case variants that equal a valid value, such as a band written in digits.
    invalid: refused.filter(([value]) => !values.includes(value as string)),
    hints: { enum: { allowed: values } },
  };
}

export function integerChoiceCases(name: string, values: readonly number[]): FieldCases {
  const first = values[0] as number;
  return {
    name,
    valid: values,
    invalid: [
      [first + 1, 'enum'],
      [0, 'enum'],
      [-first, 'enum'],
      [first + 0.5, 'type'],
      [String(first), 'type'],
      [true, 'type'],
      [[first], 'type'],
    ],
    hints: { enum: { allowed: values } },
  };
}

export function flagCases(name: string): FieldCases {
  return {
    name,
    valid: [true, false],
    invalid: [
      ['true', 'type'],
      [1, 'type'],
      [0, 'type'],
      ['', 'type'],
      [[], 'type'],
    ],
    hints: {},
  };
}
