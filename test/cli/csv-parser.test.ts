import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CsvError, CsvParser, type CsvRecord, formatCsvLine } from '../../src/cli/actions/csv-parser.ts';

function parse(...pieces: readonly string[]): CsvRecord[] {
  const parser = new CsvParser(1_000);
  return [...pieces.flatMap((piece) => [...parser.parseChunk(piece)]), ...parser.finish()];
}

const cellsOf = (...pieces: readonly string[]) => parse(...pieces).map(({ cells }) => cells);

describe('CSV', () => {
  it('has records on lines that end with LF or CRLF, the last one with nothing if it likes', () => {
    assert.deepEqual(cellsOf('a,b\r\nc,d\ne,f'), [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ]);
    assert.deepEqual(cellsOf('a,b\r\n'), [['a', 'b']]);
  });

  it('keeps empty cells, and passes over empty lines', () => {
    assert.deepEqual(cellsOf(',\n\r\n\na,,"",\n'), [
      ['', ''],
      ['a', '', '', ''],
    ]);
  });

  it('takes commas, quotes and line breaks within quotes as they are', () => {
    assert.deepEqual(cellsOf('"a,b","say ""yes""","two\r\nlines"\n'), [['a,b', 'say "yes"', 'two\r\nlines']]);
    assert.deepEqual(cellsOf('""""\n'), [['"']]);
  });

  it('tells the line on which each record begins', () => {
    assert.deepEqual(
      parse('a\n\n"b\nb"\nc\n').map(({ line }) => line),
      [1, 3, 5],
    );
  });

  for (const [what, text, line] of [
    ['a quote inside a plain cell', 'a\nb"c"\n', 2],
    ['text behind a closing quote', 'a\n"b"c\n', 2],
    ['a quote that is never closed', 'a\n"b\nc\n', 2],
    ['a carriage return alone', 'a\rb\n', 1],
    ['a carriage return at the end', 'a\n"b"\r', 2],
    ['two carriage returns', 'a\r\r\n', 1],
    ['a record beyond the bound', `a\n${'x'.repeat(1_001)}\n`, 2],
    ['a quoted record beyond the bound', `a\n"${'x\n'.repeat(501)}"\n`, 2],
    ['a record of commas beyond the bound', ','.repeat(1_001), 1],
  ] as const) {
    it(`is not guessed at after ${what}`, () => {
      assert.throws(
        () => parse(text),
        (fault: unknown) => fault instanceof CsvError && fault.message.startsWith(`line ${line}: `),
      );
    });
  }

  it('comes back as it was written, however it falls into pieces', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', 'é', ' '), maxLength: 6 });
    const record = fc.array(cell, { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(record), fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (records, sizes) => {
        let rest = records.map(formatCsvLine).join('');
        const pieces: string[] = [];
        for (let turn = 0; rest !== ''; turn++) {
          const size = sizes[turn % sizes.length]!;
          pieces.push(rest.slice(0, size));
          rest = rest.slice(size);
        }
        assert.deepEqual(cellsOf(...pieces), records);
      }),
    );
  });

  it('is read or refused, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n') }), (text) => {
        try {
          parse(text);
        } catch (fault) {
          assert.ok(fault instanceof CsvError);
        }
      }),
    );
  });
});
