import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ConfirmationRow, createConfirmationParser } from '../../src/cli/actions/confirmation-file.ts';
import { CommandLineError } from '../../src/cli/command-line-error.ts';

function rowsOf(name: string, ...pieces: readonly string[]): ConfirmationRow[] {
  const format = createConfirmationParser(name);
  assert.ok(format !== null);
  return [...pieces.flatMap((piece) => [...format.parseChunk(piece)]), ...format.finish()];
}

function sentOf(name: string, text: string): unknown[] {
  return rowsOf(name, text).map(({ parsed }) => (parsed.ok ? parsed.item : parsed.reason));
}

const head = 'click_id,txid,status,amount,occurred_at\n';

describe('a file of confirmations', () => {
  it('is known by the ending of its name', () => {
    for (const name of ['a.csv', 'A.CSV', 'a.ndjson', 'a.jsonl', 'a.rejected.csv'])
      assert.ok(createConfirmationParser(name) !== null);
    for (const name of ['a', 'a.json', 'a.csv.gz', 'csv', 'a.txt']) assert.equal(createConfirmationParser(name), null);
  });

  it('in CSV has its columns in any order and among others, and empty cells for members it lacks', () => {
    const text = 'note,amount,status,txid,occurred_at,svc_offer_id,sub_id,click_id\nx,40.5,funded,t,now,o,s,\n';
    const item = { amount: 40.5, status: 'funded', txid: 't', occurred_at: 'now', svc_offer_id: 'o', sub_id: 's' };
    assert.deepEqual(sentOf('a.csv', text), [item]);
  });

  it('in CSV has plain decimals for amounts, and leaves anything else to be rejected', () => {
    const amounts = ['12.50', '007', '0.000001', '0.0000001', '1e3', '-1', '$5', ' 5', '0x10', '9999999999'];
    const text = head + amounts.map((amount) => `c,t,funded,${amount},now\n`).join('');
    assert.deepEqual(
      sentOf('a.csv', text).map((item) => (item as { amount: unknown }).amount),
      [12.5, 7, 0.000001, '0.0000001', '1e3', '-1', '$5', ' 5', '0x10', '9999999999'],
    );
  });

  it('in CSV keeps to the columns of its first line', () => {
    assert.deepEqual(sentOf('a.csv', `${head}c,t\nc,t,funded,1,now,more\n`), ['cells_miscounted', 'cells_miscounted']);
  });

  it('in CSV has formulas of rejected rows made harmless, and the same cells when it is sent again', () => {
    const txids = ['=1+1', '+1', '-abc', '@a', '\t=1', '\r', ' =1', '＝1', "'-abc", "'a", "' a", 'a=1', '"=', ''];
    const item = (txid: string) => ({ click_id: 'c', ...(txid === '' ? {} : { txid }), status: 'funded', amount: 1 });
    const cells = txids.map((txid) => `"${txid.replaceAll('"', '""')}"`);
    let text = `click_id,txid,status,amount,occurred_at,=note\n${cells.map((txid) => `c,${txid},funded,1,,-note`).join('\n')}`;
    for (let round = 0; round < 3; round++) {
      const format = createConfirmationParser('a.csv')!;
      const rows = [...format.parseChunk(text), ...format.finish()];
      assert.deepEqual(
        rows.map(({ parsed }) => parsed),
        txids.map((txid) => ({ ok: true, item: item(txid) })),
      );
      text = format.rejectedHeader + rows.map((row) => row.formatRejected('=reason')).join('');
      assert.doesNotMatch(text, /(^|,)"?\s*[=+\-@\t\r＝]/m);
    }
    const [head, first] = text.split('\r\n');
    assert.equal(head, "click_id,txid,status,amount,occurred_at,' =note,reason");
    assert.equal(first, "c,' =1+1,funded,1,,' -note,' =reason");
  });

  it('in CSV has formulas made harmless in the cells of no column, too', () => {
    const [row] = rowsOf('a.csv', `${head}c,t,funded,1,now,=cmd\n`);
    assert.match(row!.formatRejected('cells_miscounted'), /,cells_miscounted,' =cmd\r\n$/);
  });

  for (const [what, text, telling] of [
    ['is empty', '', /names? the columns/],
    ['lacks a column', 'click_id,txid,amount,occurred_at\n', /missing: status/],
    ['names no click', 'sub_id,txid,status,amount,occurred_at\n', /missing: svc_offer_id/],
    ['names a column twice', `txid,${head}`, /txid twice/],
    ['has a stray quote', `${head}a"b,1,2,3,4\n`, /line 2: a quote/],
    ['has a row without an end', `${head}${'x'.repeat(9_000)}`, /line 2: a row has more than 8192 characters/],
  ] as const) {
    it(`in CSV is refused when it ${what}`, () => {
      assert.throws(
        () => rowsOf('a.csv', text),
        (fault: unknown) => fault instanceof CommandLineError && telling.test(fault.message),
      );
    });
  }

  it('in NDJSON has an object a line, of which only the members of a row are sent', () => {
    const text = '{"txid":"t","amount":40.5,"note":"x"}\r\n\n  \n{"txid"\n[]\nnull\n{"__proto__":{"txid":"p"}}';
    assert.deepEqual(sentOf('a.ndjson', text), [
      { txid: 't', amount: 40.5 },
      'not_json',
      'not_an_object',
      'not_an_object',
      {},
    ]);
  });

  it('in NDJSON is rejected with a member given twice, and comes back with both', () => {
    const line = '{"txid":"t","amount":1,"note":{"amount":3,"amount":4},"amount":2}';
    const [row, ...others] = rowsOf('a.ndjson', `${line}\n{"note":1,"note":2}`);
    assert.deepEqual(row!.parsed, { ok: false, reason: 'amount_repeated' });
    assert.deepEqual(JSON.parse(row!.formatRejected('amount_repeated')), { row: line, reason: 'amount_repeated' });
    assert.deepEqual(
      others.map(({ parsed }) => parsed),
      [{ ok: true, item: {} }],
    );
  });

  it('in NDJSON may fall into pieces anywhere', () => {
    const text = '{"txid":"one"}\n{"txid":"two"}';
    const pieces = rowsOf('a.ndjson', ...text);
    assert.deepEqual(
      pieces.map(({ parsed }) => parsed),
      [
        { ok: true, item: { txid: 'one' } },
        { ok: true, item: { txid: 'two' } },
      ],
    );
  });

  it('in NDJSON is refused when a row has no end', () => {
    for (const text of ['x'.repeat(9_000), `{}\n${'x'.repeat(9_000)}\n`]) {
      assert.throws(
        () => rowsOf('a.ndjson', text),
        /^CommandLineError: line [12]: a row has more than 8192 characters$/,
      );
    }
  });
});
