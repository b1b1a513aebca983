import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { schemaFor } from '../../src/openapi/schema-parts.ts';

interface View {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly note?: string;
}

const name = Type.String();
const sizes = Type.Array(Type.Number());

test('schemaFor returns its schema, and does not compile with a schema that differs from the type', () => {
  const schema = Type.Object({ name, sizes, note: Type.Optional(name) });
  assert.equal(schemaFor<View>()(schema), schema);
  // @ts-expect-error an optional member is missing
  schemaFor<View>()(Type.Object({ name, sizes }));
  // @ts-expect-error an optional member is required
  schemaFor<View>()(Type.Object({ name, sizes, note: name }));
  // @ts-expect-error there is an additional member
  schemaFor<View>()(Type.Object({ name, sizes, note: Type.Optional(name), more: name }));
  // @ts-expect-error an item has another type
  schemaFor<View>()(Type.Object({ name, sizes: Type.Array(name), note: Type.Optional(name) }));
});
