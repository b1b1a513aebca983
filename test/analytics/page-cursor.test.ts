import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { CohortFilter } from '../../src/analytics/analytics.ts';
import { ClickIds } from '../../src/ids/click-id.ts';
import { PageCursors, type PagePosition } from '../../src/ids/page-cursor.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { ringOf } from '../support/secrets.ts';

const ours = new PageCursors(ringOf('ours'));
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const granularity = fc.constantFrom('daily' as const, 'row' as const);
const place: fc.Arbitrary<PagePosition> = fc.record(
  {
    fromDay: fc.integer({ min: -800_000, max: 3_000_000 }),
    toDay: fc.integer({ min: -800_000, max: 3_000_000 }),
    after: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  },
  { noNullPrototype: true },
);
const sub = fc.uint8Array({ minLength: 32, maxLength: 32 });
const filter = fc.record<CohortFilter>({
  account: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  vertical: fc.integer({ min: 0, max: 127 }),
  mode: fc.constantFrom('live' as const, 'test' as const),
  referrerTag: fc.option(fc.stringMatching(/^[a-z0-9_-]{3,64}$/)),
  subs: fc.option(fc.array(sub, { maxLength: 5 })),
});
const query = fc.record({ granularity, filter });

const some: PagePosition = { fromDay: 20_000, toDay: 20_030, after: 123_456 };
const plain: CohortFilter = { account: 1, vertical: 1, mode: 'live', referrerTag: 'tag-one', subs: null };

function setOf({ filter: { subs, ...rest }, granularity }: { filter: CohortFilter; granularity: string }): string {
  const ids = subs?.map((bytes) => Buffer.from(bytes).toString('hex')).sort();
  return JSON.stringify([granularity, rest.account, rest.vertical, rest.mode, rest.referrerTag, ids ?? null]);
}

describe('PageCursors', () => {
  it('verifies an issued cursor for the same query', () => {
    fc.assert(
      fc.property(query, place, ({ granularity, filter }, each) => {
        const cursor = ours.issue(granularity, filter, each);
        assert.match(cursor, /^[A-Za-z0-9_-]{40}$/);
        assert.deepEqual(ours.verify(granularity, filter, cursor), each);
      }),
    );
  });

  it('signs position and query with its own derived key', () => {
    const bytes = Buffer.from(ours.issue('row', plain, some), 'base64url');
    const query = Buffer.from([0, 0, 0, 1, 2, 1, 7, ...Buffer.from('tag-one')]);
    const key = ringOf('ours').deriveKey(1, 'cursor')!;
    const mac = createHmac('sha256', key).update(bytes.subarray(0, 15)).update(query).digest();
    assert.deepEqual(bytes.subarray(15), mac.subarray(0, 15));
  });

  it('rejects a cursor of another query', () => {
    fc.assert(
      fc.property(query, query, place, (one, other, each) => {
        fc.pre(setOf(one) !== setOf(other));
        const cursor = ours.issue(one.granularity, one.filter, each);
        assert.equal(ours.verify(other.granularity, other.filter, cursor), null);
      }),
    );
  });

  it('rejects a cursor if one member of the query differs', () => {
    const subs = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const filters: CohortFilter[] = [
      plain,
      { ...plain, account: 2 },
      { ...plain, vertical: 2 },
      { ...plain, mode: 'test' },
      { ...plain, referrerTag: 'tag-two' },
      { ...plain, referrerTag: 'tag-onee' },
      { ...plain, referrerTag: null },
      { ...plain, subs: [] },
      { ...plain, subs },
      { ...plain, subs: subs.slice(1) },
      { ...plain, referrerTag: null, subs },
    ];
    for (const issuedFor of filters) {
      const cursor = ours.issue('row', issuedFor, some);
      for (const other of filters) assert.equal(ours.verify('row', other, cursor) !== null, other === issuedFor);
      assert.equal(ours.verify('daily', issuedFor, cursor), null);
    }
  });

  it('ignores the order of sub_ids', () => {
    fc.assert(
      fc.property(fc.array(sub, { minLength: 1, maxLength: 6 }), fc.infiniteStream(fc.nat()), (subs, ranks) => {
        const ranked = subs.map((bytes) => ({ bytes, rank: ranks.next().value as number }));
        const shuffled = ranked.sort((a, b) => a.rank - b.rank).map(({ bytes }) => bytes);
        const cursor = ours.issue('row', { ...plain, subs }, some);
        assert.deepEqual(ours.verify('row', { ...plain, subs: shuffled }, cursor), some);
      }),
    );
  });

  it('does not reorder the array of the caller', () => {
    const subs = [new Uint8Array(32).fill(2), new Uint8Array(32).fill(1)];
    ours.issue('row', { ...plain, subs }, some);
    assert.deepEqual(
      subs.map(([first]) => first),
      [2, 1],
    );
  });

  it('rejects every changed character', () => {
    const cursor = ours.issue('row', plain, some);
    for (let at = 0; at < cursor.length; at++) {
      for (const character of `${base64url}+/=. %`) {
        if (character === cursor[at]) continue;
        assert.equal(ours.verify('row', plain, cursor.slice(0, at) + character + cursor.slice(at + 1)), null);
      }
    }
  });

  it('accepts only one spelling', () => {
    fc.assert(
      fc.property(place, (each) => {
        const cursor = ours.issue('row', plain, each);
        for (const character of base64url) {
          const variant = cursor.slice(0, -1) + character;
          assert.equal(ours.verify('row', plain, variant) !== null, variant === cursor);
        }
        for (const variant of [`${cursor}=`, `${cursor}\n`, ` ${cursor}`, `${cursor}A`, cursor.slice(1)]) {
          assert.equal(ours.verify('row', plain, variant), null);
        }
        const padded = Buffer.from(cursor, 'base64url').toString('base64');
        if (padded !== cursor) assert.equal(ours.verify('row', plain, padded), null);
      }),
    );
  });

  it('rejects a truncated cursor', () => {
    const cursor = ours.issue('daily', plain, some);
    for (let length = 0; length < cursor.length; length++) {
      assert.equal(ours.verify('daily', plain, cursor.slice(0, length)), null);
    }
  });

  it('accepts cursors of listed secrets only', () => {
    const before = new PageCursors(ringOf('first'));
    const rotated = new PageCursors(ringOf('first', 'second'));
    assert.deepEqual(rotated.verify('row', plain, before.issue('row', plain, some)), some);
    assert.equal(before.verify('row', plain, rotated.issue('row', plain, some)), null);
    assert.equal(ours.verify('row', plain, before.issue('row', plain, some)), null);
  });

  it('rejects any other text, including other tokens with the same secret', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.base64String({ maxLength: 80 }),
          fc.uint8Array({ minLength: 30, maxLength: 30 }).map((bytes) => {
            bytes[0] = 1;
            return Buffer.from(bytes).toString('base64url');
          }),
        ),
        (text) => assert.equal(ours.verify('row', plain, text), null),
      ),
    );
    const clickId = new ClickIds(ringOf('ours'), new RandomPool()).issue({
      sub: new Uint8Array(32),
      offerId: 'a',
      clickedMs: 1,
      valueMicros: 1,
      countable: true,
    });
    assert.equal(ours.verify('row', plain, clickId), null);
  });
});
