import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BenchPart } from '../../bench/bench-part.ts';
import { usage } from '../../bench/options.ts';
import { benchParts, partNames, selectParts } from '../../bench/parts.ts';

function part(name: string, group?: string): BenchPart {
  return { name, description: `about ${name}`, measure: async () => ({}), ...(group === undefined ? {} : { group }) };
}

const parts = [part('session', 'routes'), part('click', 'routes'), part('micro')];
const named = (only: readonly string[]) => selectParts(parts, only).map(({ name }) => name);

test('runs every part in the order of the list if no name is given', () => {
  assert.deepEqual(named([]), ['session', 'click', 'micro']);
  assert.deepEqual(named(['micro', 'session']), ['session', 'micro']);
});

test('runs all parts of a group', () => {
  assert.deepEqual(named(['routes']), ['session', 'click']);
  assert.deepEqual(partNames(parts), ['routes', 'session', 'click', 'micro']);
});

test('all parts and groups have different names', () => {
  const groups = new Set(benchParts.flatMap(({ group }) => group ?? []));
  const all = [...groups, ...benchParts.map(({ name }) => name)];
  assert.equal(new Set(all).size, all.length);
});

test('lists every part in the help text', () => {
  for (const { name, description } of benchParts)
    assert.ok(usage(benchParts).includes(`${name} `) && usage(benchParts).includes(description));
});
