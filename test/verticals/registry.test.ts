import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownVerticals } from '../../src/verticals/registry.ts';

test('every vertical has a unique number, path segment and key prefix', () => {
  for (const member of ['number', 'segment', 'keyPrefix'] as const) {
    assert.equal(new Set(knownVerticals.map((vertical) => vertical[member])).size, knownVerticals.length, member);
  }
});

test('the registry contains the five verticals of the contract', () => {
  const shown = knownVerticals.map(({ segment, keyPrefix, status }) => `${segment} ${keyPrefix} ${status}`);
  assert.deepEqual(shown, [
    'personal-loans svc_pl_ stable',
    'credit-cards svc_cc_ beta',
    'mortgage svc_mo_ beta',
    'banking svc_bk_ beta',
    'find-advisor svc_fa_ planned',
  ]);
});
