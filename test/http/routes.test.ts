import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { errorTable } from '../../src/domain/errors.ts';
import { formatHeader, type HeaderText, splitHeaderLines } from '../../src/http/engines/response-head.ts';
import { errorReply } from '../../src/http/routes/replies.ts';
import { isJsonMediaType, parseWeightedList, prefersJson } from '../../src/http/routes/request-parsing.ts';

/** Returns the headers by name. */
function named(headers: HeaderText): Record<string, string> {
  const pairs = splitHeaderLines(headers);
  return Object.fromEntries(pairs.flatMap((name, at) => (at % 2 === 0 ? [[name, pairs[at + 1]!]] : [])));
}

test('an errorReply with details, Retry-After and extra headers does not affect later replies', () => {
  const fieldsInvalid = [{ field: 'state', code: 'enum', message: 'must be one of them', allowed: ['CA'] }] as const;
  const error = { code: 'INVALID_FIELD_VALUE', param: 'fields', fieldsInvalid, retryAfterSeconds: 1 } as const;
  const { headers, body } = errorReply(error, 'request-1', formatHeader('Allow', 'GET'));
  assert.deepEqual(JSON.parse(body.toString()), {
    error: 'INVALID_FIELD_VALUE',
    message: errorTable.INVALID_FIELD_VALUE.message,
    param: 'fields',
    fields_invalid: fieldsInvalid,
  });
  const { Allow: allow, 'Retry-After': retryAfter } = named(headers);
  assert.deepEqual([allow, retryAfter], ['GET', '1']);
  const later = named(errorReply({ code: 'INVALID_FIELD_VALUE' }, 'request-2').headers);
  assert.deepEqual(Object.keys(later), ['Content-Type', 'Cache-Control']);
});

test('JSON is preferred only if it has a greater weight than HTML in the Accept header', () => {
  const yes = ['APPLICATION/JSON', 'application/json;q=0.9, text/html;q=0.8', ' application/json ,*/*'];
  const html = ['text/html', 'text/html,application/json', 'application/json;q=0', 'application/json;q=high'];
  const no = ['', '*/*', 'application/*', ...html, 'a, b;q=, ;'];
  assert.deepEqual([...yes, ...no].filter(prefersJson), yes);
});

test('parseWeightedList returns the weight of each item, by default 1, and 0 for an invalid weight', () => {
  const listed = parseWeightedList('gzip, BR;q=0.5 , deflate ;q=0,zstd;level=3;q=0.125;x, bad;q=2');
  assert.deepEqual(Object.fromEntries(listed), { gzip: 1, br: 0.5, deflate: 0, zstd: 0.125, bad: 0 });
  for (const [parameters, weight] of [
    ['', 1],
    [';', 1],
    [';level=q', 1],
    [';quality=0', 1],
    [';q=1', 1],
    [';Q=1.', 1],
    ['; q=1.000', 1],
    [';q=0.', 0],
    [';q=0.001\t', 0.001],
    [';x;q=0.5;q=abc', 0.5],
    [';q=abc', 0],
    [';q=', 0],
    [';q', 0],
    [';q=1.001', 0],
    [';q=0.1234', 0],
    [';q=.5', 0],
    [';q=-1', 0],
    [';q=+1', 0],
    [';q=00', 0],
    [';q=1e0', 0],
    [';q = 1', 0],
    [';q="1"', 0],
    [';q=0.5 0', 0],
    [';q=abc;q=1', 0],
  ] as const) {
    assert.equal(parseWeightedList(`br${parameters}`).get('br'), weight, parameters);
  }
});

test('parseWeightedList ignores a header value above the maximum length', () => {
  const { headerListCharactersMax: longest } = bounds;
  const padded = (characters: number) => 'br'.padEnd(characters, ',');
  assert.equal(parseWeightedList(padded(longest)).get('br'), 1);
  assert.equal(parseWeightedList(padded(longest + 1)).size, 0);
});

test('parseWeightedList accepts any header value', () => {
  const text = fc.string({ unit: fc.constantFrom(...'aj/*;q=01.,tgbr '), maxLength: 60 });
  fc.assert(
    fc.property(text, (header) => {
      for (const weight of parseWeightedList(header).values()) assert.ok(weight >= 0 && weight <= 1);
    }),
  );
});

test('a JSON body must have the type application/json, with or without parameters', () => {
  const json = ['application/json', 'application/json; charset=utf-8', 'Application/JSON '];
  const others = ['', 'json', 'application/jsonx', 'application/json-patch+json', 'text/application/json'];
  assert.deepEqual([...json, ...others].filter(isJsonMediaType), json);
  assert.equal(isJsonMediaType('multipart/form-data; boundary=application/json'), false);
});
