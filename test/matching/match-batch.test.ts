import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import {
  decodeMatchBatch,
  decodeMatchResults,
  encodeMatchBatch,
  encodeMatchResults,
  type MatchRequestTuple,
  type WorkerMatchResult,
} from '../../src/matching/match-batch.ts';
import { packed } from './loan-fixtures.ts';

const request = fc
  .tuple(fc.string(), fc.nat(), fc.array(fc.integer({ min: -1, max: 99_999_999 }), { maxLength: bounds.fieldsMax }))
  .map(([version, today, borrower]): MatchRequestTuple => [version, today, ...borrower]);

const ranking = fc.nat(bounds.catalogOffersMax).map((total): WorkerMatchResult => {
  const places = (total * 7) % (bounds.offersRankedMax + 1);
  const numbers = Array.from({ length: places * 4 }, (_, at) => (total * 31 + at) % 20_000);
  return { total, availableOnly: total % 2 === 0, orders: Uint16Array.from(numbers) };
});
const failure = fc.string().map((text): WorkerMatchResult => ({ failure: text }));

const unavailableSet = fc.array(fc.integer(), { minLength: 1, maxLength: 625 }).map((words) => Int32Array.from(words));

/** Requests with the same unavailable offers share one set, like requests that arrive at the same time. */
const batch = fc
  .tuple(
    fc.array(request, { maxLength: bounds.matchBatchRequestsMax }),
    fc.array(fc.option(unavailableSet), { maxLength: 4 }),
  )
  .map(([requests, sets]) => ({
    requests,
    unavailable: sets.length === 0 ? [] : requests.map((_, at) => sets[at % sets.length]!),
  }));

test('decodes an encoded batch', () => {
  fc.assert(
    fc.property(batch, (sent) => {
      assert.deepEqual(decodeMatchBatch(encodeMatchBatch(sent)), sent);
    }),
  );
});

test('encodes a set of unavailable offers only once per batch, even if several requests use the set', () => {
  const requests = Array.from(
    { length: bounds.matchBatchRequestsMax },
    (): MatchRequestTuple => ['version', 20_260_520, 1, 2],
  );
  const closed = new Int32Array(625).fill(-1);
  const open = encodeMatchBatch({ requests, unavailable: [] }).length;
  const shut = encodeMatchBatch({ requests, unavailable: requests.map(() => closed) }).length;
  assert.ok(shut - open < 2 * closed.byteLength);
  assert.equal(open, encode([requests, [], []]).length);
});

test('decodeMatchResults returns the rankings and failures that were passed to encodeMatchResults', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(ranking, failure), { maxLength: bounds.matchBatchRequestsMax }), (answers) => {
      const arrived = answers.map((answer) => ('failure' in answer ? answer : packed(answer)));
      assert.deepEqual(decodeMatchResults(encodeMatchResults(answers)), arrived);
    }),
  );
});

test('encoding a message does not overwrite an earlier message', () => {
  const batch = { requests: [['one', 1, 2, 3] as MatchRequestTuple], unavailable: [] };
  const first = encodeMatchBatch(batch);
  encodeMatchBatch({ requests: [['two', 4, 5, 6]], unavailable: [] });
  assert.deepEqual(decodeMatchBatch(first), batch);
});

test('truncates a long error message in a match result', () => {
  const [answer] = decodeMatchResults(encodeMatchResults([{ failure: '\u{1F4A5}'.repeat(100_000) }])) as {
    failure: string;
  }[];
  assert.ok(answer!.failure.length <= 500 && answer!.failure.startsWith('\u{1F4A5}'));
});

for (const [what, bytes] of [
  ['an array longer than any batch', encode(Array.from({ length: 1_000 }, () => 0))],
  ['an array that claims four billion elements', Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff)],
  ['a map', encode({ a: 1 })],
  ['half a message', encodeMatchBatch({ requests: [['version', 1, 2, 3]], unavailable: [] }).subarray(0, 5)],
] as const) {
  test(`decoding rejects ${what}`, () => {
    assert.throws(() => decodeMatchBatch(bytes));
    assert.throws(() => decodeMatchResults(bytes));
  });
}
