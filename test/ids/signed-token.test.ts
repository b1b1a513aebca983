import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { type ClickIdPayload, ClickIds, ClickTokenCipher } from '../../src/ids/click-tokens.ts';
import {
  NameCursors,
  type OfferPagePosition,
  PageCursors,
  type PagePosition,
  UnitCursors,
  type UnitsPosition,
} from '../../src/ids/cursors.ts';
import { TokenSigner } from '../../src/ids/signed-token.ts';
import { decodeSubId, SubIds } from '../../src/ids/sub-id.ts';
import { WidgetTokens } from '../../src/ids/widget-token.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import type { SecretSet } from '../../src/secrets/secret-set.ts';
import { secretSetOf } from '../support/identities.ts';

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const timeMs = 1_779_278_400_000;
const sub = Buffer.alloc(32, 7);
/** Session ids that each differ from `sub` in one byte. */
const otherSubs = Array.from({ length: 32 }, (_, at) => Buffer.alloc(32, 7).fill(8, at, at + 1));
const otherSub = otherSubs[31]!;
const click: ClickIdPayload = {
  sub: Uint8Array.from(sub),
  offerId: 'lender-offer',
  clickedMs: timeMs,
  valueMicros: 5_000_000,
  payoutMicros: null,
  countable: true,
};
const flatClick: ClickIdPayload = { ...click, payoutMicros: 85_000_000 };
const clickToken = { catalogVersion: '0123456789ab', creditBand: 4 };
const unitsPosition: UnitsPosition = { asOf: 20_000, after: Uint8Array.from(Buffer.alloc(16, 9)) };
const query = { account: 42, vertical: 1, mode: 'live', referrerTag: 'tag-one', subs: null } as const;
const listQuery = { ...query, mode: 'test', referrerTag: null, subs: [Buffer.alloc(32, 9), sub] } as const;
const tagTenant = { account: 42, vertical: 1, mode: 'live' } as const;
const offerPosition: OfferPagePosition = { fromDay: 20_000, toDay: 20_030, afterOfferId: 'offer-1' };
const position: PagePosition = { fromDay: 20_000, toDay: 20_030, after: 123_456 };

/** One kind of token, with the payload and the context (session or query) of this suite. */
interface TokenKind {
  readonly name: string;
  readonly create: (
    secrets: SecretSet,
    random: RandomBytesPool,
  ) => {
    readonly issue: () => string;
    /** Returns the payload, or null. */
    readonly verify: (text: string) => unknown;
    readonly verifyInOtherContexts?: readonly ((text: string) => unknown)[];
  };
  readonly payload: unknown;
  /** Token that an earlier version issued with the secret of `ours` and the bytes of `FixedRandom`. */
  readonly recorded: string;
}

const kinds: readonly TokenKind[] = [
  {
    name: 'sub_id',
    create: (secrets, random) => {
      const subIds = new SubIds(secrets, random);
      return {
        issue: () => subIds.createSubId(timeMs, 42, 1, 'test'),
        verify: (text) => {
          const bytes = subIds.verify(text);
          return bytes && decodeSubId(bytes);
        },
      };
    },
    payload: { createdMs: timeMs, account: 42, vertical: 1, mode: 'test' },
    recorded: 'sub_019e4541ca0000000000002a0301a0a1a2a3a4a5a6a7a8a9711ae1fb88ac78cb',
  },
  {
    name: 'widget token',
    create: (secrets) => {
      const tokens = new WidgetTokens(secrets);
      return {
        issue: () => tokens.issueWidgetToken(sub, timeMs),
        verify: (text) => tokens.verify(sub, text),
        verifyInOtherContexts: otherSubs.map((other) => (text) => tokens.verify(other, text)),
      };
    },
    payload: timeMs,
    recorded: 'AQGeRUHKADwWW8eEDujP7WB5STAI',
  },
  {
    name: 'page cursor of rows',
    create: (secrets) => {
      const cursors = new PageCursors(secrets);
      return {
        issue: () => cursors.createCursor('row', query, position),
        verify: (text) => cursors.verify('row', query, text),
        verifyInOtherContexts: [
          (text) => cursors.verify('daily', query, text),
          (text) => cursors.verify('newest-row', query, text),
          ...[
            { ...query, account: 43 },
            { ...query, vertical: 2 },
            { ...query, mode: 'test' as const },
            { ...query, referrerTag: 'tag-two' },
            { ...query, referrerTag: 'tag-onee' },
            { ...query, referrerTag: null },
            { ...query, subs: [] },
            { ...query, subs: [sub] },
          ].map((other) => (text: string) => cursors.verify('row', other, text)),
        ],
      };
    },
    payload: position,
    recorded: 'AQAATiAAAE4-AAAAAeJAwF-jsR5L2ZaQWHzkEAh5',
  },
  {
    name: 'page cursor of offers',
    create: (secrets) => {
      const cursors = new PageCursors(secrets);
      return {
        issue: () => cursors.createOfferCursor(query, offerPosition),
        verify: (text) => cursors.verifyOfferCursor(query, text),
        verifyInOtherContexts: [
          (text) => cursors.verify('daily', query, text),
          (text) => cursors.verify('row', query, text),
          (text) => cursors.verifyOfferCursor({ ...query, referrerTag: 'tag-two' }, text),
        ],
      };
    },
    payload: offerPosition,
    recorded: 'AQAATiAAAE4-b2ZmZXItMfblQq1Y5OgBS8rMeREYPg',
  },
  {
    name: 'page cursor of listed sessions',
    create: (secrets) => {
      const cursors = new PageCursors(secrets);
      return {
        issue: () => cursors.createCursor('daily', listQuery, position),
        verify: (text) => cursors.verify('daily', { ...listQuery, subs: listQuery.subs.toReversed() }, text),
        verifyInOtherContexts: [[sub], [], [otherSub, sub], null].map(
          (subs) => (text: string) => cursors.verify('daily', { ...listQuery, subs }, text),
        ),
      };
    },
    payload: position,
    recorded: 'AQAATiAAAE4-AAAAAeJAZprckSW5-tQaUzjiePyM',
  },
  {
    name: 'tag cursor',
    create: (secrets) => {
      const cursors = new NameCursors(secrets, 'tag-cursor');
      return {
        issue: () => cursors.createCursor(tagTenant, 'tag-one'),
        verify: (text) => cursors.verify(tagTenant, text),
        verifyInOtherContexts: [
          ...[
            { ...tagTenant, account: 43 },
            { ...tagTenant, vertical: 2 },
            { ...tagTenant, mode: 'test' as const },
          ].map((other) => (text: string) => cursors.verify(other, text)),
          (text) => new NameCursors(secrets, 'experiment-cursor').verify(tagTenant, text),
        ],
      };
    },
    payload: 'tag-one',
    recorded: 'AXRhZy1vbmUYPtCDRWWGVdx-fCQcPNI',
  },
  {
    name: 'cursor of units',
    create: (secrets, random) => {
      const cursors = new UnitCursors(secrets, random);
      return {
        issue: () => cursors.createCursor(tagTenant, 'hero-test', unitsPosition),
        verify: (text) => cursors.verify(tagTenant, 'hero-test', text),
        verifyInOtherContexts: [
          ...[
            { ...tagTenant, account: 43 },
            { ...tagTenant, vertical: 2 },
            { ...tagTenant, mode: 'test' as const },
          ].map((other) => (text: string) => cursors.verify(other, 'hero-test', text)),
          (text) => cursors.verify(tagTenant, 'hero-tes', text),
        ],
      };
    },
    payload: unitsPosition,
    recorded: 'AaChoqOkpaanqKmqq_9ehqbQ1E01M9rMRUDjPiRupjjxPM7pMFjdm3mTWJXRelb-9w',
  },
  {
    name: 'click_id',
    create: (secrets, random) => {
      const clickIds = new ClickIds(secrets, random);
      return { issue: () => clickIds.issue(click), verify: (text) => clickIds.verify(text) };
    },
    payload: click,
    recorded:
      'AAGgoaKjpKWmp6ipqqsjNS1G5k3AZ12sP4WZK3mj4ArcrCWsThkXYND2duWG97m6gcO31OoWfvr0jnrwkuXcWpqJ-UJus4BGZw1a2ckmm9-NLdEqeHs',
  },
  {
    name: 'click_id with a flat payout',
    create: (secrets, random) => {
      const clickIds = new ClickIds(secrets, random);
      return { issue: () => clickIds.issue(flatClick), verify: (text) => clickIds.verify(text) };
    },
    payload: flatClick,
    recorded:
      'AAGgoaKjpKWmp6ipqqshNS1G5k3AZ12sP4WZK3mj4ArcrCWsThkXYND2duWG97m6gcO31OoWfvr0jhaQ7H75RNKI-0F57NbtAu-J078ep7PwK-RDFLDvvWc5TA',
  },
  {
    name: 'click_id of the signed layout',
    create: (secrets, random) => {
      const clickIds = new ClickIds(secrets, random);
      return { issue: () => issueSignedClickId(secrets), verify: (text) => clickIds.verify(text) };
    },
    payload: { ...click, valueMicros: 5 },
    recorded: 'AQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHAZ5FQcoAAAAAAAAFbGVuZGVyLW9mZmVy2FOoH8vPqu9nXQ',
  },
  {
    name: 'click token',
    create: (secrets, random) => {
      const cipher = new ClickTokenCipher(secrets, random);
      return {
        issue: () => cipher.encrypt(sub, clickToken),
        verify: (text) => cipher.decrypt(sub, text),
        verifyInOtherContexts: otherSubs.map((other) => (text) => cipher.decrypt(other, text)),
      };
    },
    payload: clickToken,
    recorded: 'AaChoqOkpaanqKmqq6C5uPbKkrYmoyydwkq3OHo-y-ru0t5dUUIqd3Fn',
  },
];

/** Issues a click_id in the layout of earlier versions, which was signed but not encrypted. */
function issueSignedClickId(secrets: SecretSet): string {
  const signer = new TokenSigner(secrets, {
    purpose: 'click-id',
    secretNumberOffset: 0,
    macBytes: 10,
    messageBytesMax: 128,
  });
  const token = Buffer.alloc(67);
  token[0] = signer.newestSecretNumber;
  token.set(click.sub, 1);
  token.writeUIntBE(click.clickedMs, 33, 6);
  token.writeUIntBE(5, 39, 6);
  token.write(click.offerId, 45);
  signer.sign(token, 57);
  return token.toString('base64url');
}

/** Random source that returns the same bytes for every token. */
class FixedRandom extends RandomBytesPool {
  override writeRandomBytes(target: Buffer, offset: number, length: number): void {
    for (let i = 0; i < length; i++) target[offset + i] = 0xa0 + i;
  }
}

const random = new RandomBytesPool();

for (const kind of kinds) {
  const ours = kind.create(secretSetOf('ours'), random);
  const token = ours.issue();

  describe(`a ${kind.name}`, () => {
    it('verify returns the payload of an issued token', () => {
      assert.deepEqual(ours.verify(token), kind.payload);
    });

    it('issues and accepts tokens with the same bytes as in earlier releases', () => {
      assert.equal(kind.create(secretSetOf('ours'), new FixedRandom()).issue(), kind.recorded);
      assert.deepEqual(ours.verify(kind.recorded), kind.payload);
    });

    it('a token with any single changed character is rejected', () => {
      for (let i = 0; i < token.length; i++) {
        for (const character of `${base64url}+/=. %\0\n\u0130`) {
          if (character === token[i]) continue;
          assert.equal(ours.verify(token.slice(0, i) + character + token.slice(i + 1)), null, `${character} at ${i}`);
        }
      }
    });

    it('a token with missing or additional characters is rejected', () => {
      for (let length = 0; length < token.length; length++) {
        assert.equal(ours.verify(token.slice(0, length)), null);
        assert.equal(ours.verify(token.slice(token.length - length)), null);
      }
      for (const more of ['0', 'A', '=', '==', ' ', '\n', '\0', '!', '00', 'AAAA']) {
        assert.equal(ours.verify(token + more), null);
        assert.equal(ours.verify(more + token), null);
      }
    });

    it('a token in upper case, or encoded as base64 instead of base64url, is rejected', () => {
      const padded = Buffer.from(token, 'base64url').toString('base64');
      for (const text of [token.toUpperCase(), padded, `sub_${token.slice(4).toUpperCase()}`]) {
        if (text !== token) assert.equal(ours.verify(text), null);
      }
    });

    it('rejects a token whose secret has a known number but a different value', () => {
      assert.equal(ours.verify(kind.create(secretSetOf('theirs'), random).issue()), null);
    });

    it('a token is accepted as long as the service has the secret with which the token was issued', () => {
      const before = kind.create(secretSetOf('first'), random);
      const rotated = kind.create(secretSetOf('first', 'second'), random);
      assert.deepEqual(rotated.verify(before.issue()), kind.payload);
      assert.deepEqual(rotated.verify(rotated.issue()), kind.payload);
      assert.equal(before.verify(rotated.issue()), null);
    });

    it('a token of another session or query is rejected', () => {
      for (const verify of ours.verifyInOtherContexts ?? []) assert.equal(verify(token), null);
    });

    it('a token is rejected by the verifier of another kind of token', () => {
      for (const other of kinds) {
        const haveSameClass = kind.name.startsWith('click_id') && other.name.startsWith('click_id');
        if (other === kind || haveSameClass) continue;
        assert.equal(other.create(secretSetOf('ours'), random).verify(token), null, other.name);
      }
    });

    it('random text is rejected as a token', () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.base64String({ maxLength: 400 }),
        fc.uint8Array({ minLength: 21, maxLength: 100 }).map((bytes) => {
          bytes[0] = 1;
          return Buffer.from(bytes).toString('base64url');
        }),
        fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => `sub_${Buffer.from(bytes).toString('hex')}`),
      );
      fc.assert(fc.property(text, (each) => assert.equal(ours.verify(each), null)));
    });
  });
}

const anySub = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('PageCursors', () => {
  const cursors = new PageCursors(secretSetOf('ours'));
  const day = fc.integer({ min: -800_000, max: 3_000_000 });
  const anyPosition = fc.record(
    { fromDay: day, toDay: day, after: fc.integer({ min: 0, max: 2 ** 48 - 1 }) },
    { noNullPrototype: true },
  );
  it('verifying a page cursor returns the position for which the cursor was issued', () => {
    fc.assert(
      fc.property(anyPosition, (each) => {
        const cursor = cursors.createCursor('daily', query, each);
        assert.match(cursor, /^[\w-]{40}$/);
        assert.deepEqual(cursors.verify('daily', query, cursor), each);
      }),
    );
  });

  it('issuing a page cursor does not change the order of the sub_ids of the query', () => {
    const subs = [new Uint8Array(32).fill(2), new Uint8Array(32).fill(1)];
    cursors.createCursor('row', { ...query, subs }, position);
    assert.deepEqual([subs[0]![0], subs[1]![0]], [2, 1]);
  });
});

describe('ClickIds', () => {
  const clickIds = new ClickIds(secretSetOf('ours'), random);
  const anyClick = fc.record<ClickIdPayload>({
    sub: anySub,
    offerId: fc.stringMatching(/^[a-z0-9_-]{1,64}$/),
    clickedMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    valueMicros: fc.integer({ min: 0, max: bounds.clickValueMicrosMax }),
    payoutMicros: fc.option(fc.integer({ min: 0, max: bounds.clickValueMicrosMax })),
    countable: fc.boolean(),
  });

  it('verify returns the issued click; only the length of the offer id and a payout affect the length of a click_id', () => {
    fc.assert(
      fc.property(anyClick, (each) => {
        const clickId = clickIds.issue(each);
        assert.match(clickId, /^[\w-]+$/);
        assert.deepEqual({ ...clickIds.verify(clickId) }, { ...each });
        const payoutMicros = each.payoutMicros === null ? null : 0;
        const sameLength = clickIds.issue({ ...click, payoutMicros, offerId: 'x'.repeat(each.offerId.length) });
        assert.equal(clickId.length, sameLength.length);
      }),
    );
    // The lengths that docs/contract.md#click-ids promises.
    const offerId = 'x'.repeat(bounds.offerIdCharactersMax);
    assert.deepEqual(
      [click, flatClick].map((each) => clickIds.issue({ ...each, offerId }).length),
      [184, 191],
    );
  });

  it('the result of verify does not change when verify is called again', () => {
    const first = clickIds.verify(clickIds.issue(click));
    clickIds.verify(clickIds.issue({ ...click, sub: otherSub, offerId: 'another' }));
    assert.deepEqual(first, click);
  });

  it('a click_id reveals no part of the click, and is different each time it is issued', () => {
    const distinct = { ...click, sub: Buffer.from('0123456789abcdef'.repeat(4), 'hex'), valueMicros: 0x12_3456_789a };
    const ids = Array.from({ length: 200 }, () => Buffer.from(clickIds.issue(distinct), 'base64url'));
    const time = Buffer.alloc(6);
    time.writeUIntBE(distinct.clickedMs, 0, 6);
    for (const id of ids) {
      assert.deepEqual(id.subarray(0, 2), ids[0]!.subarray(0, 2));
      for (const part of [distinct.sub, Buffer.from(distinct.offerId), Buffer.from('123456789a', 'hex'), time]) {
        for (let i = 0; i + 4 <= part.length; i++) assert(!id.includes(part.subarray(i, i + 4)));
      }
    }
    // After the layout and the secret number, no byte is constant.
    for (let i = 2; i < ids[0]!.length; i++) assert(new Set(ids.map((id) => id[i])).size > 50);
  });

  it('rejects an encrypted click_id without its first byte 0, and a signed click_id with an added first byte 0', () => {
    const encrypted = Buffer.from(clickIds.issue(click), 'base64url').subarray(1);
    const signed = Buffer.from(issueSignedClickId(secretSetOf('ours')), 'base64url');
    for (const changed of [encrypted, Buffer.concat([Buffer.alloc(1), signed])])
      assert.equal(clickIds.verify(changed.toString('base64url')), null);
  });
});

describe('ClickTokenCipher', () => {
  const cipher = new ClickTokenCipher(secretSetOf('ours'), random);

  it('a token does not contain its payload in plain text, and differs each time the payload is encrypted', () => {
    const anyPayload = fc.record({ creditBand: fc.nat(255), catalogVersion: fc.stringMatching(/^[0-9a-f]{4,31}$/) });
    fc.assert(
      fc.property(anyPayload, anySub, (payload, session) => {
        const [one, other] = [cipher.encrypt(session, payload), cipher.encrypt(session, payload)];
        assert.match(one, /^[\w-]+$/);
        assert.notEqual(one, other);
        for (const token of [one, other]) {
          assert.deepEqual({ ...cipher.decrypt(session, token) }, { ...payload });
          assert(!Buffer.from(token, 'base64url').includes(payload.catalogVersion));
        }
      }),
    );
  });

  it('encrypting a catalog version above the maximum length throws', () => {
    assert.throws(() => cipher.encrypt(sub, { ...clickToken, catalogVersion: 'f'.repeat(32) }), RangeError);
  });
});
