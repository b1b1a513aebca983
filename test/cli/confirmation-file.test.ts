import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CommandLineError } from '../../src/cli/command.ts';
import {
  type ConfirmationFormat,
  type ConfirmationRow,
  readConfirmationRows,
} from '../../src/cli/commands/confirmation-file.ts';
import type { RowRejection } from '../../src/confirmations/confirmation-table.ts';

async function readRows(format: ConfirmationFormat, ...chunks: readonly string[]) {
  const text = (async function* () {
    yield* chunks;
  })();
  const rows: ConfirmationRow[] = [];
  for await (const row of readConfirmationRows(format, text)) rows.push(row);
  return { rows, rejectedHeader: rows[0]?.rejectedRowsHeader ?? '' };
}

async function readItems(format: ConfirmationFormat, ...chunks: readonly string[]): Promise<unknown[]> {
  const { rows } = await readRows(format, ...chunks);
  return rows.map(({ parsed }) => (parsed.ok ? parsed.item : parsed.reason));
}

const header = 'click_id,txid,status,amount,occurred_at\n';

describe('CSV files of confirmations', () => {
  it('CSV files may contain the columns in any order, and may contain additional columns', async () => {
    const text = 'note,amount,status,txid,occurred_at,svc_offer_id,sub_id,click_id\nx,40.5,funded,t,now,o,s,\n';
    const item = { amount: 40.5, status: 'funded', txid: 't', occurred_at: 'now', svc_offer_id: 'o', sub_id: 's' };
    assert.deepEqual(await readItems('csv', text), [item]);
  });

  it('CSV files may contain LF or CRLF line ends, empty lines, and quoted commas, quotes and line breaks', async () => {
    const text = `${header.trimEnd()}\r\n\r\n\n"c,""d""","t\r\nu",funded,1,now`;
    assert.deepEqual(await readItems('csv', text), [
      { click_id: 'c,"d"', txid: 't\r\nu', status: 'funded', amount: 1, occurred_at: 'now' },
    ]);
  });

  it('converts plain decimal amounts to numbers, and leaves other amounts as text', async () => {
    const amounts = ['12.50', '007', '0.000001', '0.0000001', '1e3', '-1', '$5', ' 5', '0x10', '9999999999'];
    const text = header + amounts.map((amount) => `c,t,funded,${amount},now\n`).join('');
    assert.deepEqual(
      (await readItems('csv', text)).map((item) => (item as { amount: unknown }).amount),
      [12.5, 7, 0.000001, '0.0000001', '1e3', '-1', '$5', ' 5', '0x10', '9999999999'],
    );
  });

  it('escaped formulas in rejected CSV rows become the original cells when the rows are read again', async () => {
    const txids = ['=1+1', '+1', '-abc', '@a', '\t=1', '\r', ' =1', '＝1', "'-abc", "'a", "' a", 'a=1', '"=', ''];
    const item = (txid: string) => ({ click_id: 'c', ...(txid === '' ? {} : { txid }), status: 'funded', amount: 1 });
    const cells = txids.map((txid) => `"${txid.replaceAll('"', '""')}"`);
    let text = `click_id,txid,status,amount,occurred_at,=note\n${cells.map((txid) => `c,${txid},funded,1,,-note`).join('\n')}`;
    for (let round = 0; round < 3; round++) {
      const { rows, rejectedHeader } = await readRows('csv', text);
      assert.deepEqual(
        rows.map(({ parsed }) => parsed),
        txids.map((txid) => ({ ok: true, item: item(txid) })),
      );
      text = rejectedHeader + rows.map((row) => row.formatRejectedRow({ reason: '=reason' })).join('');
      assert.doesNotMatch(text, /(^|,)"?(\s*[=+\-@＝]|\t|\r(?!\n))/m);
    }
    const [headerLine, firstRow] = text.split('\r\n');
    assert.equal(headerLine, "click_id,txid,status,amount,occurred_at,' =note,rejection,payout_state,payout_amount");
    assert.equal(firstRow, "c,' =1+1,funded,1,,' -note,' =reason,,");
  });

  it('sends the reason of a reversal, and adds the reason for a rejection in a separate column', async () => {
    const text = 'click_id,txid,status,amount,occurred_at,reason\nc,t,reversed,1,now,bot\nc,t,reversed,1,now,\n';
    const { rows, rejectedHeader } = await readRows('csv', text);
    const item = { click_id: 'c', txid: 't', status: 'reversed', amount: 1, occurred_at: 'now' };
    assert.deepEqual(
      rows.map(({ parsed }) => parsed),
      [
        { ok: true, item: { ...item, reason: 'bot' } },
        { ok: true, item },
      ],
    );
    const rejected = rejectedHeader + rows[0]!.formatRejectedRow({ reason: 'exceeds_booked' });
    assert.equal(
      rejected,
      'click_id,txid,status,amount,occurred_at,reason,rejection,payout_state,payout_amount\r\nc,t,reversed,1,now,bot,exceeds_booked,,\r\n',
    );
    // The file of rejected rows can be read again.
    const again = await readRows('csv', rejected);
    assert.deepEqual(again.rows[0]!.parsed, { ok: true, item: { ...item, reason: 'bot' } });
    assert.equal(again.rejectedHeader + again.rows[0]!.formatRejectedRow({ reason: 'exceeds_booked' }), rejected);
  });

  it('adds the payout of a rejected row in separate columns, which replace those of an earlier run', async () => {
    const text = 'payout_amount,click_id,txid,status,amount,occurred_at,rejection\n7,c,t,reversed,9,now,old\n';
    const { rows, rejectedHeader } = await readRows('csv', text);
    const payout = { state: 'funded', amount: 8.000001 };
    const rejected = rejectedHeader + rows[0]!.formatRejectedRow({ reason: 'exceeds_funded', payout });
    assert.equal(
      rejected,
      'payout_amount,click_id,txid,status,amount,occurred_at,rejection,payout_state\r\n8.000001,c,t,reversed,9,now,exceeds_funded,funded\r\n',
    );
    const again = await readRows('csv', rejected);
    assert.equal(
      again.rejectedHeader + again.rows[0]!.formatRejectedRow({ reason: 'txid_unknown' }),
      'payout_amount,click_id,txid,status,amount,occurred_at,rejection,payout_state\r\n,c,t,reversed,9,now,txid_unknown,\r\n',
    );
  });

  it('sends the currency of each row, also if a cell is empty', async () => {
    const text = `${header.trimEnd()},currency\n${['USD', 'usd', '', ' '].map((currency) => `c,t,funded,1,now,${currency}\n`).join('')}`;
    const items = (await readItems('csv', text)) as { currency: unknown }[];
    assert.deepEqual(
      items.map(({ currency }) => currency),
      ['USD', 'usd', '', ' '],
    );
  });

  it('rejects CSV rows with more or fewer cells than the header', async () => {
    const { rows } = await readRows('csv', `${header}c,t\nc,t,funded,1,now,=cmd\n`);
    const rejected = { ok: false, reason: 'cells_miscounted' };
    assert.deepEqual(
      rows.map(({ parsed }) => parsed),
      [rejected, rejected],
    );
    assert.match(rows[1]!.formatRejectedRow({ reason: 'cells_miscounted' }), /,cells_miscounted,,,' =cmd\r\n$/);
  });

  for (const [what, text, message] of [
    ['an ambiguous column', `amount_cents,${header}`, /column 1 of the first line has a name that could change/],
    [
      'an ambiguous column of a currency',
      `${header.trimEnd()},Payout Currency\n`,
      /column 6 of the first line .*in USD/,
    ],
    ['another spelling of a column', `${header.trimEnd()},Amount\n`, /column 6 of the first line/],
    ['columns separated by semicolons', header.replaceAll(',', ';'), /line 1: the columns are separated by semicolons/],
    [
      'quoted columns separated by semicolons',
      '"click_id";"txid";"status";"amount"\r\n"c";"t";',
      /by semicolons \(;\)/,
    ],
    [
      'columns separated by tabs',
      `\ufeff${header.replaceAll(',', '\t')}a,b\n`,
      /the columns are separated by tabs; separate/,
    ],
    ['columns separated by bars', header.replaceAll(',', ' | '), /separated by vertical bars/],
    ['columns separated by semicolons, and commas', 'click_id;txid;status;amount,amount\n', /separated by semicolons/],
    ['a missing column and semicolons in a name', 'click_id,txid,status,amount,a;b\n', /missing: occurred_at/],
    ['an empty file', '', /names? the columns/],
    ['a missing column', 'click_id,txid,amount,occurred_at\n', /missing: status/],
    ['no columns that name a click', 'sub_id,txid,status,amount,occurred_at\n', /missing: svc_offer_id/],
    ['a column named twice', `txid,${header}`, /txid twice/],
    ['a quote inside a cell', `${header}a"b,1,2,3,4\n`, /line 2: a quote is inside/],
    ['text after a closing quote', `${header}"a"b,1,2,3,4\n`, /line 2: text follows/],
    ['an unclosed quote', `${header}a,1,2,3,"4`, /line 2: a quote is never closed/],
    ['a carriage return without a line feed', `${header}a,1\r,2,3,4\n`, /: a carriage return/],
    ['a carriage return at the end', `${header}a,1,2,3,4\r`, /line 2: a carriage return/],
    ['a row that is too long', `${header}${'x'.repeat(9_000)}`, /line 2: a row has more than 8192 characters/],
    ['a row without an end', `${header}"${'x\n'.repeat(50_000)}`, /: a row has more than 8192 characters/],
    ['a row of too many cells', `${header}${','.repeat(9_000)}\n`, /line 2: a row has more than 8192 characters/],
  ] as const) {
    it(`CSV files with ${what} cause an error`, async () => {
      await assert.rejects(readRows('csv', text), { name: 'CommandLineError', message });
    });
  }

  it('every error for an invalid CSV file is a CommandLineError and contains no text of the file', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom('secret', '"', ',', '\r', '\n') }), async (text) => {
        try {
          await readRows('csv', header, text);
        } catch (error) {
          assert.ok(error instanceof CommandLineError);
          assert.doesNotMatch(error.message, /secret/);
        }
      }),
    );
  });
});

describe('NDJSON files of confirmations', () => {
  it('reads one object per line of an NDJSON file and ignores unknown properties', async () => {
    const text = '{"txid":"t","amount":40.5,"note":"x"}\r\n\n  \n{"txid"\n[]\nnull\n{"__proto__":{"txid":"p"}}';
    assert.deepEqual(await readItems('ndjson', text), [
      { txid: 't', amount: 40.5 },
      'not_json',
      'not_an_object',
      'not_an_object',
      {},
    ]);
  });

  it('rejects an NDJSON line with an ambiguous property, and sends its currency', async () => {
    const lines = [
      '{"txid":"t","amount":1,"amount_cents":1}',
      '{"txid":"t","currency":null}',
      '{"payout_amount":1,"loan_amount":2}',
    ];
    const { rows } = await readRows('ndjson', lines.join('\n'));
    assert.deepEqual(
      rows.map(({ parsed }) => (parsed.ok ? parsed.item : parsed.reason)),
      ['member_ambiguous', { txid: 't', currency: null }, {}],
    );
    const rejected = JSON.parse(rows[0]!.formatRejectedRow({ reason: 'member_ambiguous' }));
    assert.deepEqual(rejected, { txid: 't', amount: 1, amount_cents: 1, rejection: 'member_ambiguous' });
  });

  it('rejects an NDJSON line with a duplicate property, and writes the line as text to the rejected rows', async () => {
    const line = '{"txid":"t","amount":1,"note":{"amount":3,"amount":4},"amount":2}';
    const { rows } = await readRows('ndjson', `${line}\n{"note":1,"note":2}`);
    const [duplicate, accepted] = rows;
    const reason = 'amount_repeated';
    assert.deepEqual(duplicate!.parsed, { ok: false, reason });
    assert.deepEqual(JSON.parse(duplicate!.formatRejectedRow({ reason })), { row: line, rejection: reason });
    assert.deepEqual(accepted!.parsed, { ok: true, item: {} });
  });

  it('rejects an NDJSON line whose amount has too many digits, and keeps the digits in the rejected rows', async () => {
    const line = '{"txid":"t","amount":84.99999999999999999}';
    const [row] = (await readRows('ndjson', line)).rows;
    assert.deepEqual(row!.parsed, { ok: false, reason: 'amount_invalid' });
    assert.equal(JSON.parse(row!.formatRejectedRow({ reason: 'amount_invalid' })).row, line);
  });

  it('sends the reason of a reversal in an NDJSON file, and adds the reason for a rejection as another property', async () => {
    const row = { txid: 't', status: 'reversed', reason: 'bot', note: 'x' };
    const { rows } = await readRows('ndjson', JSON.stringify(row));
    const { note: _, ...item } = row;
    assert.deepEqual(rows[0]!.parsed, { ok: true, item });
    assert.deepEqual(JSON.parse(rows[0]!.formatRejectedRow({ reason: 'click_unknown' })), {
      ...row,
      rejection: 'click_unknown',
    });
  });

  it('adds the payout of a rejected row of an NDJSON file as other properties, which replace those of an earlier run', async () => {
    const row = { txid: 't', status: 'reversed' };
    const { rows } = await readRows('ndjson', JSON.stringify({ ...row, rejection: 'old', payout_state: 'old' }));
    const format = (rejection: RowRejection) => JSON.parse(rows[0]!.formatRejectedRow(rejection));
    const payout = { state: 'reversed', amount: 0 };
    const added = { rejection: 'conflict', payout_state: 'reversed', payout_amount: 0 };
    assert.deepEqual(format({ reason: 'conflict', payout }), { ...row, ...added });
    assert.deepEqual(format({ reason: 'too_late' }), { ...row, rejection: 'too_late' });
  });

  it('an NDJSON file can be parsed in chunks of one character', async () => {
    assert.deepEqual(await readItems('ndjson', ...'{"txid":"one"}\n{"txid":"two"}'), [
      { txid: 'one' },
      { txid: 'two' },
    ]);
  });

  it('NDJSON files with a line above the maximum length cause an error', async () => {
    const tooLong = /^CommandLineError: line [12]: a row has more than 8192 characters$/;
    for (const text of ['x'.repeat(9_000), `{}\n${'x'.repeat(9_000)}\n`]) {
      await assert.rejects(readRows('ndjson', text), tooLong);
    }
  });
});
