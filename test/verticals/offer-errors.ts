import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { parseCatalog } from '../../src/catalogs/parse-catalog.ts';
import { parseIsoDate } from '../../src/domain/calendar.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

type Changes = Readonly<Record<string, unknown>>;

/**
 * Creates functions that validate catalogs of a vertical on 2026-08-01.
 *
 * @param catalogOf returns a catalog file with one offer of a sample, the sample offer with changed members
 */
export function createOfferValidation(vertical: Vertical, catalogOf: (changes: Changes) => unknown) {
  const parse = (catalog: unknown) =>
    parseCatalog(JSON.stringify(catalog), builtInVerticals.withProduct(vertical), parseIsoDate('2026-08-01')!);
  const errorsOf = (catalog: unknown) => {
    const parsed = parse(catalog);
    return parsed.ok ? [] : parsed.errors;
  };
  const errorsWith = (changes: Changes) => errorsOf(catalogOf(changes));
  const warningsWith = (changes: Changes) => {
    const parsed = parse(catalogOf(changes));
    assert.ok(parsed.ok);
    return parsed.warnings;
  };
  const titleOf = (changes: Changes) => inspect(changes, { breakLength: Number.POSITIVE_INFINITY, depth: 6 });

  return {
    errorsOf,
    errorsWith,
    warningsWith,

    /** Defines tests that an offer with changes has exactly one error: its path in the offer, and its text. */
    testErrors(rows: readonly (readonly [changes: Changes, error: string])[]): void {
      for (const [changes, error] of rows) {
        test(`rejects ${titleOf(changes)}: ${error}`, () => {
          assert.deepEqual(errorsWith(changes), [`lenders[0].offers[0].${error}`]);
        });
      }
    },

    /** Defines tests that an offer with changes has exactly one error, of the schema. An empty path is the path of the offer. */
    testSchemaErrors(rows: readonly (readonly [changes: Changes, path: string])[]): void {
      for (const [changes, path] of rows) {
        test(`rejects ${titleOf(changes)}`, () => {
          const errors = errorsWith(changes);
          assert.equal(errors.length, 1, errors.join('\n'));
          assert.ok(errors[0]!.startsWith(`lenders[0].offers[0]${path && '.'}${path}: `), errors[0]);
        });
      }
    },
  };
}
