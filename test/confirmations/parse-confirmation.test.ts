import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Confirmation } from '../../src/confirmations/confirmation.ts';
import { confirmationFieldNames } from '../../src/confirmations/confirmation-fields.ts';
import { findRowTextProblems, parseConfirmation } from '../../src/confirmations/parse-confirmation.ts';
import { ClickIds } from '../../src/ids/click-tokens.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { secretSetOf } from '../support/identities.ts';

const clickedMs = Date.UTC(2026, 4, 20, 12);
const subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());
const random = new RandomBytesPool();
const clickIds = new ClickIds(secretSetOf('ours'), random);
/** Number of the only vertical in which clicks confirm their own revenue. */
const confirmedVertical = 2;
/** Number of the only vertical with flat payouts. */
const flatVertical = 3;
const ids = {
  subIds,
  clickIds,
  verticalsWithConfirmedClicks: new Set([confirmedVertical]),
  verticalsWithFlatPayouts: new Set([flatVertical]),
};
const subId = subIds.createSubId(clickedMs - 60_000, 42, 1, 'live');
const sub = Uint8Array.from(subIds.toBytes(subId));
const otherSubId = subIds.createSubId(clickedMs - 60_000, 42, 1, 'live');
const click = { sub, offerId: 'an-offer', clickedMs, valueMicros: 2_000_000, payoutMicros: null, countable: true };
const clickId = clickIds.issue(click);
const foreignClickId = new ClickIds(secretSetOf('theirs'), random).issue(click);

const byClick = {
  click_id: clickId,
  txid: 'tx-1',
  status: 'funded',
  amount: 40.5,
  occurred_at: '2026-06-09T10:00:00Z',
};
const { click_id: _, ...rest } = byClick;
const byPair = { ...rest, sub_id: subId, svc_offer_id: 'an-offer' };

describe('parseConfirmation', () => {
  it('returns the time and the revenue of the click that a click_id identifies', () => {
    assert.deepEqual(parseConfirmation(ids, byClick), {
      status: 'funded',
      txid: 'tx-1',
      amountMicros: 40_500_000,
      occurredMs: Date.UTC(2026, 5, 9, 10),
      sub,
      offerId: 'an-offer',
      click: { clickedMs, valueMicros: 2_000_000, payoutMicros: null },
      reason: null,
      isPayoutFlat: false,
    });
  });

  it('returns the flat payout that a click_id contains, in a vertical with flat payouts', () => {
    const sub_id = subIds.createSubId(clickedMs - 60_000, 42, flatVertical, 'live');
    const flatClick = { ...click, sub: subIds.toBytes(sub_id) };
    for (const payoutMicros of [85_000_000, 0, null]) {
      const parsed = parseConfirmation(ids, { ...byClick, click_id: clickIds.issue({ ...flatClick, payoutMicros }) });
      const { isPayoutFlat, click: details } = parsed as Confirmation;
      assert.deepEqual([isPayoutFlat, details?.payoutMicros], [true, payoutMicros]);
    }
    assert.equal((parseConfirmation(ids, { ...byPair, sub_id }) as Confirmation).isPayoutFlat, true);
  });

  it('ignores the reason in a vertical in which lenders confirm the revenue of clicks', () => {
    for (const reason of ['bot', 'nonsense', 5]) {
      for (const status of ['funded', 'reversed']) {
        assert.equal((parseConfirmation(ids, { ...byClick, status, reason }) as Confirmation).reason, null);
      }
    }
  });

  it('in a vertical in which clicks confirm their own revenue, accepts only reversals with a valid reason', () => {
    const sub_id = subIds.createSubId(clickedMs - 60_000, 42, confirmedVertical, 'live');
    const click_id = clickIds.issue({ ...click, sub: subIds.toBytes(sub_id) });
    for (const named of [{ click_id }, { sub_id, svc_offer_id: 'an-offer' }]) {
      const row = { ...rest, ...named };
      assert.equal(parseConfirmation(ids, row), 'funded_not_accepted');
      for (const reason of ['bot', 'duplicate', 'too_fast', 'out_of_area', 'other']) {
        const { status, reason: parsed } = parseConfirmation(ids, {
          ...row,
          status: 'reversed',
          reason,
        }) as Confirmation;
        assert.deepEqual([status, parsed], ['reversed', reason]);
      }
      for (const reason of [undefined, null, '', 'Bot', 'bot ', 'toString', 0, ['bot'], {}]) {
        assert.equal(parseConfirmation(ids, { ...row, status: 'reversed', reason }), 'reason_invalid');
      }
    }
  });

  it('accepts a click_id together with session and offer if they refer to the same click', () => {
    const both = { ...byPair, ...byClick };
    assert.equal((parseConfirmation(ids, both) as Confirmation).click?.clickedMs, clickedMs);
    assert.equal(parseConfirmation(ids, { ...both, sub_id: otherSubId }), 'click_mismatch');
    assert.equal(parseConfirmation(ids, { ...both, svc_offer_id: 'another' }), 'click_mismatch');
    assert.equal(parseConfirmation(ids, { ...byClick, sub_id: otherSubId }), 'click_mismatch');
  });

  it('rejects the click_id of a click that does not count, such as a click of a bot', () => {
    const click_id = clickIds.issue({ ...click, countable: false });
    assert.equal(parseConfirmation(ids, { ...byClick, click_id }), 'click_not_counted');
    assert.equal(parseConfirmation(ids, { ...byPair, click_id }), 'click_not_counted');
    assert.equal(parseConfirmation(ids, { ...byPair, click_id, sub_id: otherSubId }), 'click_mismatch');
  });

  it('accepts a sub_id and an offer id instead of a click_id', () => {
    const { sub: parsedSub, offerId, click } = parseConfirmation(ids, byPair) as Confirmation;
    parseConfirmation(ids, { ...byPair, sub_id: otherSubId });
    assert.deepEqual([parsedSub, offerId, click], [sub, 'an-offer', null]);
    assert.equal(parsedSub.buffer.byteLength, 32);
  });

  it('converts every amount with up to six decimals exactly to micro-dollars', () => {
    const amountMicros = fc.oneof(
      fc.constantFrom(1, 100_000, 1_005_000, 4_350_000, 100_000_000_000, 99_999_999_999),
      fc.integer({ min: 1, max: 100_000_000_000 }),
    );
    fc.assert(
      fc.property(amountMicros, (micros) => {
        const text = `${Math.floor(micros / 1_000_000)}.${String(micros % 1_000_000).padStart(6, '0')}`;
        const parsed = parseConfirmation(ids, { ...byClick, amount: Number(text) }) as Confirmation;
        assert.equal(parsed.amountMicros, micros);
      }),
    );
  });

  const invalid: readonly (readonly [reason: string, members: object])[] = [
    ...[
      'usd',
      'Usd',
      'USD ',
      ' USD',
      'US$',
      '$',
      '',
      'EUR',
      'USDC',
      'US Dollar',
      '840',
      null,
      840,
      0,
      true,
      ['USD'],
      {},
    ].map((currency) => ['currency_invalid', { currency }] as const),
    ...[
      '$40',
      '40 USD',
      '1,000.00',
      '1.000,50',
      '40,5',
      '1 000',
      "1'000",
      '-40',
      '+40',
      '(40)',
      '4e1',
      '0x28',
      '',
      ' 40',
    ].map((amount) => ['amount_invalid', { amount }] as const),
    ...[true, [40], { value: 40 }, undefined].map((amount) => ['amount_invalid', { amount }] as const),
    ...[0, -0, -1, 1e-7, 0.0000015, 100_000.000001, 1e21, Number.NaN, Number.POSITIVE_INFINITY, '40.5', null].map(
      (amount) => ['amount_invalid', { amount }] as const,
    ),
    ...['pending', 'FUNDED', '', null, 5].map((status) => ['status_invalid', { status }] as const),
    ...['', ' ', 'a b', 'a\n', 'ä', 'x'.repeat(129), null, 7, ['tx']].map(
      (txid) => ['txid_invalid', { txid }] as const,
    ),
    ...['2026-06-09', '2026-06-09T10:00:00', '2026-02-30T10:00:00Z', '1969-12-31T23:59:59Z', '', 'now', 0, null].map(
      (occurred_at) => ['occurred_at_invalid', { occurred_at }] as const,
    ),
    ...['', `${clickId.slice(0, -1)}!`, clickId.slice(0, 30), foreignClickId, 'A'.repeat(100_000), 5, {}].map(
      (click_id) => ['click_id_invalid', { click_id }] as const,
    ),
    ['click_missing', { click_id: null }],
    ['click_missing', { click_id: undefined, sub_id: subId }],
    ['click_missing', { click_id: undefined, svc_offer_id: 'an-offer' }],
    ['sub_id_invalid', { ...byPair, click_id: null, sub_id: subId.toUpperCase() }],
    ['sub_id_invalid', { ...byPair, click_id: null, sub_id: 5 }],
    ...['', 'An Offer', 'x'.repeat(65), 5].map(
      (svc_offer_id) => ['svc_offer_id_invalid', { ...byPair, click_id: null, svc_offer_id }] as const,
    ),
  ];
  it('returns the reason why a row with an invalid property is rejected', () => {
    for (const [reason, members] of invalid) {
      const text = JSON.stringify(members).slice(0, 80);
      assert.equal(parseConfirmation(ids, { ...byClick, ...members }), reason, text);
    }
  });

  it('accepts the currency USD, and rejects every other currency', () => {
    for (const currency of ['USD', undefined]) {
      assert.equal((parseConfirmation(ids, { ...byClick, currency }) as Confirmation).amountMicros, 40_500_000);
    }
  });

  it('rejects unknown members that could contradict the row or change the meaning of its amount, and ignores others', () => {
    const ambiguous = [
      ...['amount_cents', 'amountCents', 'AMOUNT_EUR', 'amount_usd', 'amount_minor', 'amount-in-cents', 'amount '],
      ...['Amount', 'AMOUNT', 'aMount', 'amount\u200b', 'Currency', 'currency_code', 'currencyCode', 'payout_currency'],
      ...[
        'payoutCurrency',
        'unit',
        'Units',
        'minor_unit',
        'minorUnits',
        'cents',
        'Status',
        'TXID',
        'tx_id',
        'Click-ID',
      ],
      ...['subId', 'svcOfferId', 'OccurredAt', 'occurred at', 'Reason'],
    ];
    for (const name of ambiguous) {
      for (const value of [1, null, 'USD']) {
        assert.equal(parseConfirmation(ids, { ...byClick, [name]: value }), 'member_ambiguous', name);
      }
    }
    const ignored = [
      'note',
      'loan_amount',
      'loanAmount',
      'total_amount',
      'concurrency',
      'business_unit',
      'percents',
      'id',
    ];
    for (const name of [...ignored, 'rejection', 'payout_state', 'payout_amount', '', '_', '__proto__', 'toString']) {
      assert.equal(typeof parseConfirmation(ids, { ...byClick, [name]: 1 }), 'object', name);
    }
  });

  it('rejects values that are not objects, and does not throw for any value', () => {
    for (const row of [null, undefined, 5, 'text', [byClick], true]) {
      assert.equal(parseConfirmation(ids, row), 'not_an_object');
    }
    fc.assert(fc.property(fc.anything(), (row) => void parseConfirmation(ids, row)));
  });
});

describe('findRowTextProblems', () => {
  for (const [text, expected] of [
    ['{"amount":1,"amount":2}', [[0, 'amount_repeated']]],
    ['{"amount":1,"txid":"a","txid":"b","amount":2}', [[0, 'txid_repeated']]],
    ['{"am\\u006funt":1,"amount":2}', [[0, 'amount_repeated']]],
    [' \n[ {"txid":"a"} , {"txid":"a" ,\t"txid" :"a"}]', [[1, 'txid_repeated']]],
    ['[[{"amount":1,"amount":1}],{"x":{"amount":1,"amount":1},"amount":1},{"x":[{"amount":1}],"amount":1}]', []],
    ['[1,"amount","amount",[],{},{"status":"}","status":"]"}]', [[5, 'status_repeated']]],
    ['{"x":1,"x":2,"__proto__":1,"__proto__":2,"toString":1,"toString":2}', []],
    ['{"currency":"USD","currency":"EUR"}', [[0, 'currency_repeated']]],
    ['{"txid":"amount","amount":"txid"}', []],
    ['"amount"', []],
    ['[]', []],
    // Amounts that JSON.parse rounds to an allowed amount
    ['{"amount":84.99999999999999999}', [[0, 'amount_invalid']]],
    ['[{"amount" : 1},{"amount" :\n 1.00000000000000001 }]', [[1, 'amount_invalid']]],
    ['{"amount":100000.00000000000001}', [[0, 'amount_invalid']]],
    ['{"amount":0.30000000000000000001,"amount":1}', [[0, 'amount_repeated']]],
    ['{"amount":8499999999999999999e-17}', [[0, 'amount_invalid']]],
    // Amounts with at most 15 digits, not counting zeros at both ends
    ['{"amount":85.00000000000000000000}', []],
    ['{"amount":100000.000000}', []],
    ['{"amount":123456789.012345}', []],
    ['{"amount":0.000001}', []],
    ['{"amount":4e1}', []],
    ['{"x":84.99999999999999999,"y":{"amount":84.99999999999999999}}', []],
  ] as const) {
    it(`in ${text.trim()}, finds ${expected.length === 0 ? 'no problem' : String(expected[0])}`, () => {
      assert.deepEqual([...findRowTextProblems(text)], expected);
    });
  }

  it('finds every row that contains a repeated property at any nesting depth', () => {
    const json = fc.json({ maxDepth: 3 });
    const member = fc
      .tuple(fc.constantFrom(...confirmationFieldNames, 'other'), json)
      .map(([name, value]) => [name, name === 'amount' ? '40.5' : value] as const);
    const row = fc.oneof(fc.json(), fc.array(member, { maxLength: 6 }));
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), (rows) => {
        const texts = rows.map((each) =>
          typeof each === 'string' ? each : `{${each.map(([name, value]) => `"${name}":${value}`).join(',')}}`,
        );
        const expected = rows.flatMap((each, index) => {
          const names = typeof each === 'string' ? [] : each.map(([name]) => name).filter((name) => name !== 'other');
          const duplicate = names.find((name, position) => names.indexOf(name) < position);
          return duplicate === undefined ? [] : [[index, `${duplicate}_repeated`]];
        });
        assert.deepEqual([...findRowTextProblems(`[${texts.join(' ,\n')}]`)], expected);
      }),
    );
  });

  it('accepts the maximum nesting depth of a request body', () => {
    const text = '['.repeat(250_000) + ']'.repeat(250_000);
    assert.equal(findRowTextProblems(text).size, 0);
  });
});
