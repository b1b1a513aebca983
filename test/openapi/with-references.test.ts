import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { extractComponents } from '../../src/openapi/openapi-document.ts';

test('extracts a titled schema once, however often the schema is used', () => {
  const item = Type.Object({ n: Type.Integer() }, { title: 'Item' });
  const list = Type.Object({ items: Type.Array(item), first: Type.Optional(item) }, { title: 'List' });
  assert.deepEqual(extractComponents({ '/lists': list, '/items': item }), {
    described: { '/lists': { $ref: '#/components/schemas/List' }, '/items': { $ref: '#/components/schemas/Item' } },
    schemas: {
      List: {
        title: 'List',
        type: 'object',
        required: ['items'],
        properties: {
          items: { type: 'array', items: { $ref: '#/components/schemas/Item' } },
          first: { $ref: '#/components/schemas/Item' },
        },
      },
      Item: { title: 'Item', type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    },
  });
});

test('rejects two different schemas with the same title', () => {
  const one = Type.Object({ n: Type.Integer() }, { title: 'Item' });
  const other = Type.Object({ n: Type.String() }, { title: 'Item' });
  assert.throws(() => extractComponents({ one, other }), /two schemas have the title Item/);
});

test('does not extract a schema from an example', () => {
  const examples = { one: { value: { title: 'A title' } } };
  assert.deepEqual(extractComponents({ examples }).described, { examples });
});
