import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ReferrerTagSet } from '../../src/sessions/referrer-tags.ts';

it('a ReferrerTagSet contains exactly the added tags', () => {
  const tags = new ReferrerTagSet();
  const tagOf = (serial: number) => `${serial.toString(36)}${'-_z'.repeat(21)}`.slice(0, 3 + (serial % 62));
  const added = new Set<string>();
  for (let serial = 46_656; serial < 60_000; serial++) {
    const tag = tagOf(serial);
    assert.equal(tags.has(tag), added.has(tag), tag);
    tags.add(tag);
    added.add(tag);
    assert.equal(tags.size, added.size);
  }
  assert.ok(added.size > 10_000);
  for (const tag of added) {
    assert.ok(tags.has(tag), tag);
    assert.ok(!tags.has(`${tag}x`.slice(-64)) || added.has(`${tag}x`.slice(-64)));
  }
});
