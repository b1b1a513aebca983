import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import {
  type BatchAnswer,
  ConfirmationUpload,
  type RowOutcome,
} from '../../src/web/console/operator/confirmations/confirmation-upload.ts';
import { findFileFormat } from '../../src/web/console/operator/confirmations/file-rows.ts';
import { limits } from '../../src/web/console/operator/limits.ts';

const header = 'click_id,txid,status,amount,occurred_at';
const csv = (...rows: readonly string[]) => [header, ...rows, ''].join('\n');
const row = (txid: string, status = 'funded') => `c,${txid},${status},1,now`;

/** Server that answers each row with the outcome of `outcomes` for its `txid`, by default `accepted`. */
class FakeServer {
  readonly bodies: unknown[][] = [];
  readonly outcomes = new Map<string, RowOutcome>();
  /** Answers before the outcomes of the rows. */
  readonly problems: BatchAnswer[] = [];

  readonly send = async (body: string): Promise<BatchAnswer> => {
    assert.ok(Buffer.byteLength(body) <= bounds.confirmationBodyBytesMax);
    const rows = JSON.parse(body) as { txid?: string }[];
    this.bodies.push(rows);
    const problem = this.problems.shift();
    if (problem !== undefined) return problem;
    const accepted: RowOutcome = { outcome: 'accepted' };
    return { kind: 'outcomes', outcomes: rows.map(({ txid }) => this.outcomes.get(txid ?? '') ?? accepted) };
  };

  get txids(): unknown[][] {
    return this.bodies.map((rows) => rows.map((each) => (each as { txid: unknown }).txid));
  }
}

function createUpload(name: string, content: string | Uint8Array<ArrayBuffer>, server = new FakeServer()) {
  const waits: number[] = [];
  const format = findFileFormat(name);
  assert.ok(format !== null);
  const upload = new ConfirmationUpload({
    format,
    file: new Blob([content]),
    send: server.send,
    onProgress: () => {},
    wait: async (ms) => void waits.push(ms),
  });
  return { upload, server, waits };
}

async function uploadFile(name: string, content: string | Uint8Array<ArrayBuffer>, server = new FakeServer()) {
  const { upload, waits } = createUpload(name, content, server);
  await upload.run();
  return { ...upload.progress, server, waits };
}

test('the limits of the server are the same in the console', () => {
  const { rowsPerRequestMax, bodyBytesMax, rowCharactersMax } = limits;
  const { pendingRankingsMax, advanceDaysMax, accountCharactersMax } = limits;
  assert.deepEqual(
    { rowsPerRequestMax, bodyBytesMax, rowCharactersMax, pendingRankingsMax, advanceDaysMax, accountCharactersMax },
    {
      rowsPerRequestMax: bounds.confirmationRowsPerRequestMax,
      bodyBytesMax: bounds.confirmationBodyBytesMax,
      rowCharactersMax: bounds.confirmationFileRowCharactersMax,
      pendingRankingsMax: bounds.matchQueueRequestsMax,
      advanceDaysMax: bounds.testClockDaysPerRequestMax,
      accountCharactersMax: bounds.accountNameCharactersMax,
    },
  );
});

test('finds the format of a file by its name', () => {
  const formats = ['a.csv', 'A.CSV', 'a.jsonl', 'a.ndjson', 'a.json', 'a.xlsx', 'csv'].map(findFileFormat);
  assert.deepEqual(formats, ['csv', 'csv', 'ndjson', 'ndjson', 'json', null, null]);
});

describe('batches of a file', () => {
  test('contain at most 500 rows, first the payouts and then the reversals', async () => {
    const payouts = Array.from({ length: 501 }, (_, index) => row(`p${index}`));
    const { server, ...progress } = await uploadFile('a.csv', csv(row('r', 'reversed'), ...payouts));
    assert.deepEqual(
      server.bodies.map(({ length }) => length),
      [500, 1, 1],
    );
    assert.deepEqual(server.txids.at(-1), ['r']);
    const { phase, rows, accepted, share } = progress;
    assert.deepEqual({ phase, rows, accepted, share }, { phase: 'done', rows: 502, accepted: 502, share: 1 });
  });

  test('have at most 512 KiB', async () => {
    const long = `"${'é'.repeat(4_000)}"`;
    const content = `note,${header}\n${Array.from({ length: 200 }, (_, index) => `x,${long},t${index},funded,1,now\n`).join('')}`;
    const { server, accepted } = await uploadFile('a.csv', content);
    assert.ok(server.bodies.length > 1);
    assert.equal(accepted, 200);
  });

  test('contain JSON rows as they are in the file, so that the server sees repeated members and all digits', async () => {
    const rows = ['{"txid":"1","txid":"2"}', '{"txid":"3","amount":0.12345678901234567890}', '7'];
    for (const [name, content] of [
      ['a.ndjson', `${rows.join('\n\n')}\n`],
      ['a.json', `\n [ ${rows.join(' , ')}\n]\n`],
    ] as const) {
      const bodies: string[] = [];
      const server = new FakeServer();
      const upload = new ConfirmationUpload({
        format: findFileFormat(name)!,
        file: new Blob([content]),
        send: (body) => {
          bodies.push(body);
          return server.send(body);
        },
        onProgress: () => {},
        wait: async () => {},
      });
      await upload.run();
      assert.deepEqual(bodies, [`[${rows.join(',')}]`], name);
    }
  });

  test('a JSON file can be one object, an empty array, and can contain brackets and quotes in strings', async () => {
    assert.equal((await uploadFile('a.json', '{"txid":"]},{\\""}')).accepted, 1);
    const empty = await uploadFile('a.json', ' [ ] ');
    assert.deepEqual([empty.phase, empty.rows], ['done', 0]);
    const nested = await uploadFile('a.json', '[{"txid":"a","note":[1,{"b":"]"}]},{"txid":"\\\\"}]');
    assert.deepEqual(nested.server.txids, [['a', '\\']]);
  });
});

describe('outcomes', () => {
  test('count by reason, and rejected rows are in the order of the file', async () => {
    const server = new FakeServer();
    server.outcomes.set('a', { outcome: 'rejected', reason: 'click_unknown' });
    server.outcomes.set('b', { outcome: 'rejected', reason: 'conflict', payout: { state: 'funded', amount: 4 } });
    server.outcomes.set('c', { outcome: 'repeated', payout: { state: 'reversed', amount: 0 } });
    server.outcomes.set('d', { outcome: 'repeated', payout: { state: 'funded', amount: 1 } });
    const content = csv(row('b', 'reversed'), row('a'), 'too,few', row('c'), row('d'), row('=e'));
    const progress = await uploadFile('a.csv', content, server);
    const { rows, accepted, repeated, reversedPayouts, rejected } = progress;
    assert.deepEqual([rows, accepted, repeated, reversedPayouts, rejected], [6, 1, 2, 1, 3]);
    assert.deepEqual(Object.fromEntries(progress.rejectedByReason), {
      click_unknown: 1,
      cells_miscounted: 1,
      conflict: 1,
    });
    assert.deepEqual(
      progress.rejectedRows.map(({ place, reason }) => [place, reason]),
      [
        [2, 'conflict'],
        [3, 'click_unknown'],
        [4, 'cells_miscounted'],
      ],
    );
    const text = progress.rejectedRowsHeader + progress.rejectedRows.map(({ line }) => line).join('');
    assert.equal(
      text,
      `${header},rejection,payout_state,payout_amount\r\n` +
        'c,b,reversed,1,now,conflict,funded,4\r\nc,a,funded,1,now,click_unknown,,\r\n' +
        'too,few,,,,cells_miscounted,,\r\n',
    );
  });

  test('rejected JSON rows keep their members, or their text if the parsed row has lost the problem', async () => {
    const server = new FakeServer();
    server.outcomes.set('1', { outcome: 'rejected', reason: 'txid_invalid' });
    server.outcomes.set('3', { outcome: 'rejected', reason: 'txid_repeated' });
    const { rejectedRows } = await uploadFile('a.ndjson', '{"txid":"1","x":2}\n{"txid":"2","txid":"3"}\nnot\n', server);
    assert.deepEqual(
      rejectedRows.map(({ line }) => JSON.parse(line)),
      [
        { txid: '1', x: 2, rejection: 'txid_invalid' },
        { row: '{"txid":"2","txid":"3"}', rejection: 'txid_repeated' },
        { row: 'not', rejection: 'not_json' },
      ],
    );
  });
});

describe('problems', () => {
  const temporary: BatchAnswer = { kind: 'problem', problem: 'The server is busy.', isTemporary: true };

  test('a temporary problem and rows with an unknown outcome are sent again, with growing delays', async () => {
    const server = new FakeServer();
    server.problems.push(temporary, { kind: 'outcomes', outcomes: [{ outcome: 'accepted' }, { outcome: 'unknown' }] });
    const { accepted, waits } = await uploadFile('a.csv', csv(row('a'), row('b')), server);
    assert.deepEqual(server.txids, [['a', 'b'], ['a', 'b'], ['b']]);
    assert.deepEqual([accepted, waits], [2, [500, 1000]]);
  });

  test('after the last attempt, rows with an unknown outcome count as rejected', async () => {
    const server = new FakeServer();
    server.outcomes.set('a', { outcome: 'unknown' });
    const { rejectedByReason } = await uploadFile('a.csv', csv(row('a')), server);
    assert.deepEqual(
      [server.bodies.length, Object.fromEntries(rejectedByReason)],
      [limits.attemptsMax, { unknown: 1 }],
    );
  });

  for (const { what, problems } of [
    { what: 'five temporary problems', problems: Array.from({ length: limits.attemptsMax }, () => temporary) },
    { what: 'an expired login', problems: [{ ...temporary, problem: 'Log in again.', isTemporary: false }] },
  ]) {
    test(`${what} pause the upload, and resume sends the batch again`, async () => {
      const server = new FakeServer();
      server.problems.push(...problems);
      const { upload } = createUpload('a.csv', csv(row('a'), row('b')), server);
      const paused = Promise.withResolvers<void>();
      const run = upload.run();
      const poll = setInterval(() => upload.progress.phase === 'paused' && paused.resolve(), 1);
      await paused.promise;
      clearInterval(poll);
      assert.equal(upload.progress.problem, problems.at(-1)!.problem);
      upload.resume();
      await run;
      assert.deepEqual([upload.progress.phase, upload.progress.accepted], ['done', 2]);
      assert.equal(server.bodies.length, problems.length + 1);
    });
  }

  test('a stopped upload sends no further batch until it is resumed', async () => {
    const server = new FakeServer();
    const { upload } = createUpload(
      'a.csv',
      csv(...Array.from({ length: 501 }, (_, index) => row(`t${index}`))),
      server,
    );
    upload.stop();
    const run = upload.run();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([upload.progress.phase, server.bodies.length], ['stopped', 0]);
    upload.resume();
    await run;
    assert.deepEqual([upload.progress.phase, upload.progress.accepted], ['done', 501]);
  });
});

describe('files that cannot be read', () => {
  const tooLong = 'x'.repeat(bounds.confirmationFileRowCharactersMax + 1);
  for (const { name, content, problem } of [
    { name: 'a.csv', content: '', problem: 'The file is empty. Its first line must name the columns.' },
    {
      name: 'a.csv',
      content: 'click_id,txid\n',
      problem: 'Line 1: the first line must name the columns; missing: status, amount, occurred_at.',
    },
    {
      name: 'a.csv',
      content: header.replaceAll(',', ';'),
      problem: 'Line 1: the columns are separated by semicolons (;). Separate them by commas.',
    },
    {
      name: 'a.csv',
      content: `${header},Amount\n`,
      problem: /^Line 1: column 6 of the first line has a name that could/,
    },
    {
      name: 'a.csv',
      content: csv('a"b'),
      problem: 'Line 2: a quote is inside a cell that does not start with a quote.',
    },
    { name: 'a.csv', content: csv('"a"b'), problem: 'Line 2: text follows a closing quote.' },
    { name: 'a.csv', content: csv('"a'), problem: 'Line 3: a quote is never closed.' },
    { name: 'a.csv', content: csv('a\rb'), problem: 'Line 2: a carriage return without a line feed.' },
    { name: 'a.csv', content: csv(tooLong), problem: 'Line 2: a row has more than 8192 characters.' },
    { name: 'a.ndjson', content: `{}\n"${tooLong}"`, problem: 'Line 2: a row has more than 8192 characters.' },
    { name: 'a.json', content: '[{},', problem: 'The JSON array does not end.' },
    { name: 'a.json', content: '[{},]', problem: 'Row 2: not valid JSON.' },
    { name: 'a.json', content: '[{} {}]', problem: 'Row 1: not valid JSON.' },
    { name: 'a.json', content: '[]x', problem: 'Text follows the end of the JSON array.' },
    {
      name: 'a.csv',
      content: new Uint8Array([0xff, 0xfe]),
      problem: 'The file is not UTF-8 text.',
    },
  ]) {
    test(`fail with a sentence: ${problem}`, async () => {
      const progress = await uploadFile(name, content);
      assert.equal(progress.phase, 'failed');
      if (typeof problem === 'string') assert.equal(progress.problem, problem);
      else assert.match(progress.problem!, problem);
    });
  }
});

test('CSV rows equal those of the command line for any cells and line ends, in pieces of any size', async () => {
  const cells = ['a', 'b"c', 'd,e', 'f\r\ng', '', ' h '];
  const text = `\ufeffnote,${header}\r\n\n${cells.map((note) => `"${note.replaceAll('"', '""')}",c,${JSON.stringify(note.length)},funded,1,now\r\n`).join('')}`;
  const { server, rows } = await uploadFile('a.csv', text);
  assert.equal(rows, cells.length);
  assert.deepEqual(server.txids, [cells.map(({ length }) => String(length))]);
});
