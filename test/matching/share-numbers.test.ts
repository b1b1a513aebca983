import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareTypedArrays } from '../../src/catalogs/compile-catalog.ts';
import { compileLoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { generateCatalog } from '../support/random-catalog.ts';

test('shared tables are the same tables, and another thread would see the same memory', () => {
  const tables = compileLoanTables(generateCatalog(1, 50), personalLoans);
  const shared = shareTypedArrays(tables);
  assert.deepEqual(shared, tables);
  const sent = structuredClone(shared);
  shared.aprMin[0] = 1_234;
  assert.equal(sent.aprMin[0], 1_234);
  const [filter] = shared.choiceFilters;
  filter!.allowed.get(0)![0] = 77;
  assert.equal(sent.choiceFilters[0]!.allowed.get(0)![0], 77);
});

test('what would not arrive as it is, is refused', () => {
  class Index {}
  assert.throws(() => shareTypedArrays({ index: new Index() }), /Index cannot go to another thread/);
});
