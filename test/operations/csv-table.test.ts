import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import Type from 'typebox';
import { nullableSchema } from '../../src/domain/nullable-schema.ts';
import { listCsvColumns, renderCsv } from '../../src/operations/csv-table.ts';

/** Reads CSV with the reader of Python, which rejects text that is not valid CSV. */
function readCsv(csv: string): string[][] {
  const script =
    'import csv, io, json, sys; text = sys.stdin.buffer.read().decode(); ' +
    'print(json.dumps(list(csv.reader(io.StringIO(text, newline=""), strict=True))))';
  return JSON.parse(execFileSync('python3', ['-c', script], { input: csv, encoding: 'utf8' }));
}

/** Returns the cell that a reader of the CSV finds for a value. */
function expectedCell(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'string') return /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

test('a CSV reader finds every value again, and no text that a spreadsheet would run', () => {
  const text = fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n,;"\'|a1 .😀é＝'), maxLength: 12 });
  const value = fc.oneof(
    text,
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.array(text),
  );
  const rows = fc.array(
    fc.record({ one: value, nested: fc.record({ two: value }, { requiredKeys: [] }), three: value }),
  );
  fc.assert(
    fc.property(rows, (records) => {
      const found = readCsv(renderCsv({ columns: ['one', 'nested.two', 'three'], rows: records }));
      const expected = records.map(({ one, nested: { two = null }, three }) => [one, two, three].map(expectedCell));
      assert.deepEqual(found, [['one', 'nested.two', 'three'], ...expected]);
    }),
    { numRuns: 40 },
  );
});

test('text cells that begin like a formula get an apostrophe, and negative numbers do not', () => {
  const rows = [
    { a: '=1+1', b: -1.5 },
    { a: '-1', b: 1e-7 },
    { a: '\t=1', b: 0 },
    { a: '@SUM("x")', b: null },
  ];
  const lines = ['a,b', "'=1+1,-1.5", "'-1,1e-7", "'\t=1,0", `"'@SUM(""x"")",`, ''];
  assert.equal(renderCsv({ columns: ['a', 'b'], rows }), lines.join('\r\n'));
});

test('properties of nested objects are columns, and lists and dictionaries are one column each', () => {
  const interval = Type.Object({ low: Type.Number(), high: Type.Number() });
  const schema = Type.Object({
    name: Type.String(),
    ci95: nullableSchema(interval),
    list: Type.Array(interval),
    any: Type.Unsafe({ type: 'object', additionalProperties: true }),
    optional: Type.Optional(Type.Object({ counts: interval })),
  });
  const columns = ['name', 'ci95.low', 'ci95.high', 'list', 'any', 'optional.counts.low', 'optional.counts.high'];
  assert.deepEqual(listCsvColumns(schema), columns);
  const row = { name: 'x', ci95: null, list: [], any: {}, optional: { counts: { low: 0, high: 1 } } };
  assert.deepEqual(readCsv(renderCsv({ columns, rows: [row] })), [columns, ['x', '', '', '[]', '{}', '0', '1']]);
});
