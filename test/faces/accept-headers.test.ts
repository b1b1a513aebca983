import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { acceptsEncoding } from '../../src/faces/accepts-encoding.ts';
import { prefersJson } from '../../src/faces/prefers-json.ts';

test('JSON is preferred by whoever weighs it above HTML', () => {
  const yes = [
    'application/json',
    'APPLICATION/JSON',
    'application/json;q=0.9, text/html;q=0.8',
    ' application/json ,*/*',
  ];
  const no = [
    '',
    '*/*',
    'application/*',
    'text/html',
    'text/html,application/json',
    'application/json;q=0',
    'a, b;q=, ;',
  ];
  assert.deepEqual(
    yes.filter((accept) => !prefersJson(accept)),
    [],
  );
  assert.deepEqual(no.filter(prefersJson), []);
});

test('an encoding is accepted by whoever lists it, with a weight above zero', () => {
  const yes = ['br', 'gzip, br', 'BR;q=0.1', ' br ; q=1 '];
  const no = ['', 'gzip', 'br;q=0', 'br;q=0.000', 'brotli', '*'];
  assert.deepEqual(
    yes.filter((accepted) => !acceptsEncoding(accepted, 'br')),
    [],
  );
  assert.deepEqual(
    no.filter((accepted) => acceptsEncoding(accepted, 'br')),
    [],
  );
});

test('no header stops either', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'aj/*;q=01.,tgbr '), maxLength: 60 }), (text) => {
      assert.equal(typeof prefersJson(text), 'boolean');
      assert.equal(typeof acceptsEncoding(text, 'br'), 'boolean');
    }),
  );
});
