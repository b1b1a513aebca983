import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '@msgpack/msgpack';
import { findTraces } from './traces.ts';

const values = new Map<string, string | number>([
  ['name', 'jane-zq7'],
  ['income', 7_318_529],
]);

const texts: Readonly<Record<string, (text: string) => string | Buffer>> = {
  plain: (text) => text,
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'UTF-16': (text) => Buffer.from(text, 'utf16le'),
  'base64 at an even place': (text) => Buffer.from(`{"a":${text}}`).toString('base64'),
  'base64 at one further': (text) => Buffer.from(`{"ab":${text}}`).toString('base64'),
  'base64url at two further': (text) => Buffer.from(`{"abc":${text}}`).toString('base64url'),
  msgpack: (text) => Buffer.from(encode([1, text])),
};

for (const [name, written] of Object.entries(texts)) {
  test(`a text leaves a trace: ${name}`, () => {
    assert.deepEqual(findTraces(values, Buffer.from(written('jane-zq7') as string)), ['name']);
    assert.deepEqual(findTraces(values, Buffer.from(written('john-zq7') as string)), []);
  });
}

test('a number leaves a trace: digits, msgpack integers and doubles, typed arrays', () => {
  for (const written of [
    Buffer.from('{"income":7318529}'),
    Buffer.from(encode([7_318_529])),
    Buffer.from(encode([7_318_529], { forceIntegerToFloat: true })),
    Buffer.from(new Int32Array([1, 7_318_529]).buffer),
    Buffer.from(new Float64Array([7_318_529]).buffer),
  ]) {
    assert.deepEqual(findTraces(values, written), ['income']);
  }
});

test('digits leave a trace where they stand alone, not within a longer number', () => {
  const zip = new Map([['zip', '90317']]);
  for (const written of [
    '90317',
    '{"zip":"90317"}',
    '/90317?',
    'a.90317',
    '90317.00',
    '1790317000 90317',
    '22393033313722',
  ]) {
    assert.deepEqual(findTraces(zip, Buffer.from(written)), ['zip'], written);
  }
  for (const written of ['1790317000123', '90317000', '17390317', '0.90317', '2.0390317']) {
    assert.deepEqual(findTraces(zip, Buffer.from(written)), [], written);
  }
});
