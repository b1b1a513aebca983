import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { CatalogFile } from '../../src/catalogs/catalog-schema.ts';
import { compareCatalogs } from '../../src/catalogs/compare-catalogs.ts';

/** Creates a catalog with one lender whose offers have these members. */
function catalogWith(offers: readonly object[], more: object = {}): CatalogFile {
  return {
    format: 1,
    vertical: 'any',
    disclosure: 'd',
    lenders: [{ name: 'L', logo: 'l.svg', offers }],
    ...more,
  } as CatalogFile;
}

function compare(before: CatalogFile, after: CatalogFile) {
  const { rows, rowStarts, ...others } = compareCatalogs(before, after);
  const texts = [...rowStarts.subarray(1)].map((end, index) =>
    Buffer.from(rows).toString('utf8', rowStarts[index], end),
  );
  return { ...others, rows: texts.map((text) => JSON.parse(text) as Record<string, unknown>) };
}

test('equal catalogs have no differences, whatever the order of members, offers and lenders is', () => {
  const one = catalogWith([{ id: 'a', b: { x: 1, y: 2 } }, { id: 'c' }]);
  const other = catalogWith([{ id: 'c' }, { b: { y: 2, x: 1 }, id: 'a' }]);
  assert.deepEqual(compare(one, other), { counts: { added: 0, removed: 0, changed: 0 }, catalogMembers: [], rows: [] });
});

test('an offer that moves to another lender has the changed members of its lender', () => {
  const before = catalogWith([{ id: 'ä' }]);
  const after = { ...before, lenders: [{ ...before.lenders[0]!, name: 'M' }] };
  assert.deepEqual(compare(before, after).rows, [
    {
      ...{ svc_offer_id: 'ä', lender_name: 'M', change: 'changed' },
      members: [{ name: 'lender.name', before: 'L', after: 'M' }],
    },
  ]);
});

test('distinguishes null, a missing member, and names of the prototype', () => {
  const before = catalogWith([{ id: 'a', nothing: null, gone: 0 }], { max_age_days: null });
  const after = catalogWith([JSON.parse('{"id":"a","gone":null,"__proto__":1}')], { max_age_days: 3 });
  const { rows, catalogMembers } = compare(before, after);
  assert.deepEqual(catalogMembers, ['max_age_days']);
  assert.deepEqual(rows[0]!.members, [
    { name: '__proto__', after: 1 },
    { name: 'gone', before: 0, after: null },
    { name: 'nothing', before: null },
  ]);
});

test('leaves out long values, and all values of a very large result', () => {
  const long = 'x'.repeat(bounds.changedValueCharactersMax);
  const [{ members }] = compare(catalogWith([{ id: 'a', legal: 'short' }]), catalogWith([{ id: 'a', legal: long }]))
    .rows as [{ members: unknown }];
  assert.deepEqual(members, [{ name: 'legal', too_long: true }]);
  const value = 'x'.repeat(bounds.changedValueCharactersMax - 2);
  const offers = (text: string) =>
    Array.from({ length: 2_000 }, (_, index) => ({
      ...Object.fromEntries(Array.from({ length: 10 }, (_, member) => [`m${member}`, text])),
      id: String(index),
    }));
  const { rows, counts } = compare(catalogWith(offers('')), catalogWith(offers(value)));
  assert.equal(counts.changed, 2_000);
  assert.deepEqual(
    rows.at(-1)!.members,
    Array.from({ length: 10 }, (_, member) => ({ name: `m${member}`, too_long: true })),
  );
  assert.ok(JSON.stringify(rows).length < bounds.catalogComparisonBytesMax + 1024 * 1024);
});
