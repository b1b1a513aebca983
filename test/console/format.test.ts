import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderCsv } from '../../src/web/console/common/csv.ts';
import * as format from '../../src/web/console/common/format.ts';
import { formatRoute, parseRoute } from '../../src/web/console/common/route.ts';

test('formats figures with their units, and missing figures as a dash', () => {
  const cases: readonly (readonly [string, string])[] = [
    [format.formatCount(5812), '5,812'],
    [format.formatCount(0), '0'],
    [format.formatCount(null), format.noValue],
    [format.formatUsd(1204.5), '1,204.50 USD'],
    [format.formatUsd(-0.001), '0.00 USD'],
    [format.formatUsd(Number.NaN), format.noValue],
    [format.formatUsdPerUnit(-0.0312), '−0.0312 USD'],
    [format.formatShare(0.1234), '12.3 %'],
    [format.formatRelative(0.27), '+27.0 %'],
    [format.formatRelative(-0.09), '−9.0 %'],
    [format.formatRelative(0), '0.0 %'],
    [format.formatRatio(1.08312), '1.083'],
    [format.formatRange(-0.01, 0.0423, format.formatUsdPerUnit), '−0.0100 to 0.0423 USD'],
    [format.formatRange(null, 1, format.formatShare), format.noValue],
  ];
  for (const [actual, expected] of cases) assert.equal(actual, expected.replace(/ (?=%|USD)/, format.unitSpace));
});

test('keeps the numbers of a sentence together with their units, and days with their months', () => {
  const sentence =
    'B earns 4.5 % to 55 % more, and 0.0312 USD more per session, on 3 March 2027 (UTC). In 3 days, 5 % USD A.';
  assert.equal(
    format.keepUnitsTogether(sentence).replaceAll(format.unitSpace, '_'),
    'B earns 4.5_% to 55_% more, and 0.0312_USD more per session, on 3_March 2027 (UTC). In 3 days, 5_% USD A.',
  );
});

test('formats days and times in UTC', () => {
  const spaced = (text: string) => text.replaceAll('_', format.unitSpace);
  assert.equal(format.formatDay('2027-02-01'), spaced('1_Feb_2027'));
  assert.equal(format.formatUtcDay('2027-02-01'), spaced('1_Feb_2027_UTC'));
  assert.equal(format.formatUtcDay(null), format.noValue);
  assert.equal(format.formatUtcTime('2027-12-31T23:05:59.123Z'), spaced('31_Dec_2027, 23:05_UTC'));
  assert.equal(format.formatTime('2027-12-31T23:05:59.123Z'), spaced('31_Dec_2027, 23:05'));
  assert.equal(format.formatUtcTime('soon'), format.noValue);
  assert.equal(format.addDays('2028-02-28', 2), '2028-03-01');
  assert.equal(format.toIsoDay(Date.UTC(2027, 0, 1, 23, 59)), '2027-01-01');
});

test('quotes CSV cells, and protects spreadsheets from formulas', () => {
  const csv = renderCsv(
    ['tag', 'value'],
    [
      ['=1+1', -0.5],
      ['a "b", c', null],
      ['@x', 0.1 + 0.2],
    ],
  );
  assert.equal(csv, 'tag,value\r\n\'=1+1,-0.5\r\n"a ""b"", c",\r\n\'@x,0.30000000000000004\r\n');
  for (const [text, cell] of [
    ['\uFF1D1+1', "'\uFF1D1+1"],
    ['a\t=1+1', "a\t'=1+1"],
    ['a\r\n+1\n=1', `"a\r\n'+1\n'=1"`],
    ['\t@x', "'\t'@x"],
    ['a=1-1\tb', 'a=1-1\tb'],
  ] as const) {
    assert.equal(renderCsv(['one'], [[text]]), `one\r\n${cell}\r\n`);
  }
});

test('parses the fragment that it formats, and keeps malformed encoding as text', () => {
  const query = { group_by: 'a&b=c?', cursor: '' };
  const fragment = formatRoute(['experiments', 'a/b #1'], query);
  assert.deepEqual(parseRoute(fragment), { segments: ['experiments', 'a/b #1'], query: { group_by: 'a&b=c?' } });
  assert.deepEqual(parseRoute(''), { segments: [], query: {} });
  assert.deepEqual(parseRoute('#/%ff?x'), { segments: ['%ff'], query: { x: '' } });
});
