import { bounds } from '../bounds.ts';
import { assertIntegerOption, assertKnownOptionNames, assertObject } from '../domain/assert-options.ts';
import type { FieldRoles, PocketField, Vertical } from '../domain/vertical.ts';
import { sortOrderNames } from '../domain/vertical.ts';
import type { VerticalRegistry } from './vertical-registry.ts';

/** Largest encoded value. Sessions store encoded values as signed 32-bit integers; negative numbers stand for absent values. */
const encodedMax = 2 ** 31 - 1;

type FieldKind = PocketField['kind'];

/** Smallest and largest encoded value of a field, by kind. */
const encodedValueRanges: {
  readonly [Kind in FieldKind]: (field: Extract<PocketField, { kind: Kind }>) => readonly [number, number];
} = {
  integer: ({ min, max }) => [min, max],
  choice: ({ values }) => [0, values.length - 1],
  integer_choice: ({ values }) => [Math.min(...values), Math.max(...values)],
  boolean: () => [0, 1],
  birthdate: () => [0, 9999_12_31],
  digits: ({ length }) => [0, 10 ** length - 1],
};

export function getEncodedValueRange(field: PocketField): readonly [least: number, largest: number] {
  return encodedValueRanges[field.kind](field as never);
}

/** For each role in `FieldRoles`, the required kind of its field. */
const roleKinds: Readonly<Record<keyof FieldRoles, FieldKind>> = {
  state: 'choice',
  amount: 'integer',
  creditBand: 'choice',
  annualIncome: 'integer',
  term: 'integer_choice',
  monthlyDebt: 'integer',
  birthdate: 'birthdate',
  coBorrower: 'boolean',
};

const verticalMembers = Object.keys({
  number: true,
  segment: true,
  keyPrefix: true,
  revenueModel: true,
  status: true,
  clicksConfirmRevenue: true,
  flatPayout: true,
  product: true,
  fields: true,
  required: true,
  conditional: true,
  roles: true,
  creditScores: true,
  sortOrders: true,
  neverMatched: true,
} satisfies Readonly<Record<keyof Vertical, true>>);

const fieldKinds = Object.keys(encodedValueRanges);

/** Throws a RangeError that describes the first error in a vertical. Also checks types, because the caller may be plain JavaScript. */
export function assertValidVertical(vertical: Vertical, registry: VerticalRegistry): void {
  assertObject('a vertical', vertical);
  const { verticalSegmentCharactersMax, apiKeyPrefixCharactersMax } = bounds;
  if (!matchesText(vertical.segment, /^[a-z0-9][a-z0-9-]*$/, verticalSegmentCharactersMax)) {
    throw new RangeError(
      `the segment of a vertical must have 1 to ${verticalSegmentCharactersMax} lower-case letters, digits and -`,
    );
  }
  const context = `vertical ${vertical.segment}`;
  const fail = (problem: string): never => {
    throw new RangeError(`${context}: ${problem}`);
  };
  assertKnownOptionNames('vertical', vertical, verticalMembers);
  assertIntegerOption(`${context}: number`, vertical.number, 1, bounds.verticalNumberMax);
  if (!matchesText(vertical.keyPrefix, /^[A-Za-z0-9_-]+$/, apiKeyPrefixCharactersMax)) {
    fail(`keyPrefix must be 1 to ${apiKeyPrefixCharactersMax} letters, digits, _ and -`);
  }
  if (!['cost_per_lead', 'cost_per_click'].includes(vertical.revenueModel)) {
    fail('revenueModel must be cost_per_lead or cost_per_click');
  }
  if (!['stable', 'beta'].includes(vertical.status)) fail('status must be stable or beta');
  const { productNames } = registry;
  if (vertical.product !== undefined && !productNames.includes(vertical.product)) {
    fail(`product must be one of ${productNames.join(', ')}`);
  }
  for (const rule of ['clicksConfirmRevenue', 'flatPayout'] as const) {
    if (vertical[rule] !== undefined && typeof vertical[rule] !== 'boolean') fail(`${rule} must be true or false`);
  }
  if (vertical.clicksConfirmRevenue === true && vertical.flatPayout === true) {
    fail('flatPayout must be false if clicksConfirmRevenue is true');
  }
  const { sortOrders } = vertical;
  if (
    sortOrders !== undefined &&
    !(hasUniqueValues(sortOrders) && sortOrders.every((order) => sortOrderNames.includes(order)))
  ) {
    fail(`sortOrders must contain each of its values once: ${sortOrderNames.join(', ')}`);
  }
  for (const list of ['fields', 'required', 'conditional'] as const) {
    if (!Array.isArray(vertical[list])) fail(`${list} must be a list`);
  }

  const fields = new Map<string, PocketField>();
  for (const [index, field] of vertical.fields.entries()) {
    assertObject(`${context}: fields[${index}]`, field);
    if (typeof field.name !== 'string' || field.name === '') fail(`fields[${index}].name must be a text`);
    if (fields.has(field.name)) fail(`two fields have the name ${field.name}`);
    if (!fieldKinds.includes(field.kind)) fail(`the kind of ${field.name} must be one of ${fieldKinds.join(', ')}`);
    if ('values' in field && !hasUniqueValues(field.values))
      fail(`${field.name} must have at least one value, and no value twice`);
    if (field.kind === 'integer' && field.min > field.max)
      fail(`${field.name} must have a min that is at most its max`);
    const range = getEncodedValueRange(field);
    if (!range.every((value) => Number.isInteger(value) && value >= 0 && value <= encodedMax)) {
      fail(`values of ${field.name} must be encoded as whole numbers from 0 to ${encodedMax}`);
    }
    fields.set(field.name, field);
  }

  const fieldNamed = (list: string, name: string): PocketField =>
    fields.get(name) ?? fail(`${list} must contain only names of fields of the vertical`);
  for (const name of vertical.required) fieldNamed('required', name);
  for (const name of vertical.neverMatched ?? []) fieldNamed('neverMatched', name);
  for (const { field, when } of vertical.conditional) {
    fieldNamed('conditional', field);
    const conditionField = fieldNamed('conditional', when?.field);
    if (conditionField.kind !== 'choice' || !conditionField.values.includes(when.is)) {
      fail(`a condition on ${conditionField.name} must be one of the values of a choice`);
    }
  }
  assertObject(`${context}: roles`, vertical.roles);
  assertKnownOptionNames('vertical.roles', vertical.roles, Object.keys(roleKinds));
  const { requiredRoles } = registry.getProduct(vertical);
  for (const role of Object.keys(roleKinds) as (keyof FieldRoles)[]) {
    const kind = roleKinds[role];
    const name = vertical.roles[role];
    if (name === undefined && role !== 'state' && !requiredRoles.includes(role)) continue;
    if (fields.get(name ?? '')?.kind !== kind) fail(`roles.${role} must name a field of the kind ${kind}`);
  }
  const bands = fields.get(vertical.roles.creditBand ?? '');
  const { creditScores } = vertical;
  if (creditScores !== undefined && bands?.kind === 'choice' && creditScores.length !== bands.values.length) {
    fail(`creditScores must have one range for each value of ${bands.name}`);
  }
}

function matchesText(value: unknown, pattern: RegExp, charactersMax: number): boolean {
  return typeof value === 'string' && value.length <= charactersMax && pattern.test(value);
}

function hasUniqueValues(values: readonly unknown[]): boolean {
  return Array.isArray(values) && values.length > 0 && new Set(values).size === values.length;
}
