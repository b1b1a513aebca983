import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertCatalogSources } from '../../src/catalogs/assert-catalog-sources.ts';
import type { CatalogSource } from '../../src/catalogs/parse-catalog.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const of = (vertical: Vertical): CatalogSource[] => [
  { vertical, mode: 'live', text: '{}' },
  { vertical, mode: 'test', file: 'offers.json' },
];
const both = of(personalLoans);
const [live, sandbox] = both as [CatalogSource, CatalogSource];
const boats: Vertical = { ...personalLoans, number: 99, segment: 'boat-loans', keyPrefix: 'svc_bt_' };

test('accepts live and test catalog sources whose verticals are equal copies instead of the same object', () => {
  assertCatalogSources(
    allFixtures.flatMap(({ catalogs }) => catalogs),
    builtInVerticals,
  );
  assertCatalogSources(
    [...of(personalLoans), { ...live, vertical: boats }, { ...sandbox, vertical: { ...boats } }],
    builtInVerticals,
  );
});

const wrong: readonly (readonly [told: RegExp, sources: unknown])[] = [
  [/^catalogs must name at least one catalog$/, []],
  [/^catalogs must name at least one catalog$/, 'offers.json'],
  [/^catalogs\[1\] must be an object$/, [live, null]],
  [/^a vertical must be an object$/, [{ mode: 'live', text: '{}' }]],
  [/^catalogs\[0\].mode must be live or test$/, [{ ...live, mode: 'prod' }, sandbox]],
  [/^catalogs\[0\] must have either text or file$/, [{ vertical: personalLoans, mode: 'live' }, sandbox]],
  [/^catalogs\[0\] must have either text or file$/, [{ ...live, file: 'offers.json' }, sandbox]],
  [/^catalogs must contain a test catalog for the vertical personal-loans$/, [live]],
  [/^catalogs must contain a live catalog for the vertical boat-loans$/, [...both, { ...sandbox, vertical: boats }]],
  [/^catalogs must not contain two live catalogs for the vertical personal-loans$/, [live, live, sandbox]],
  [
    /^the verticals personal-loans and boat-loans must have different values/,
    [...both, ...of({ ...boats, number: 1 })],
  ],
  [
    /^the verticals personal-loans and boat-loans must have different values/,
    [...both, ...of({ ...boats, keyPrefix: 'svc_pl_' })],
  ],
  [
    /^the verticals personal-loans and personal-loans must have different values/,
    [live, of({ ...personalLoans, number: 2 })[1]],
  ],
];

for (const [at, [told, sources]] of wrong.entries()) {
  test(`rejects invalid catalog sources (case ${at + 1}): ${told.source}`, () => {
    assert.throws(() => assertCatalogSources(sources as never, builtInVerticals), {
      name: 'RangeError',
      message: told,
    });
  });
}
