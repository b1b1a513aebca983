import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { AnalyticsUnavailableError } from '../../src/analytics/analytics.ts';
import { ThreadAnalytics } from '../../src/analytics/thread-analytics.ts';
import { serviceActor } from '../../src/audit/audit-log.ts';
import { bounds } from '../../src/bounds.ts';
import type { PayoutStateReader } from '../../src/confirmations/payout-state.ts';
import { SerialQueue } from '../../src/domain/async.ts';
import { invalidRequest, type Outcome } from '../../src/domain/outcome.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { ClickIds } from '../../src/ids/click-tokens.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import {
  type ConfirmationsResponse,
  type ConfirmRevenueDeps,
  confirmRevenue,
} from '../../src/operations/confirm-revenue.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { secretSetOf } from '../support/identities.ts';
import { offerClickedRecord, offersViewedRecord, sessionCreatedRecord } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryAudit } from '../support/memory-audit.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTemporaryLedger, type TemporaryLedger } from '../support/temporary-logs.ts';
import { ledgerWith } from './bench.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Number of the vertical in which clicks confirm their own revenue. */
const confirmedVertical = 2;
/** Number of the vertical with flat payouts. */
const flatVertical = 3;

/** Runs `confirmRevenue` with a real ledger and aggregator. The catalog contains the lender of the offer `shown` only. */
class Bench {
  readonly clock = new ManualClock();
  readonly audit = new MemoryAudit();
  readonly subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());
  readonly clickIds = new ClickIds(secretSetOf('ours'), new RandomBytesPool());
  readonly ledger: TemporaryLedger;
  readonly history: PayoutStateReader;
  readonly createdMs = this.clock.wallMs();
  readonly clickedMs = this.createdMs + 2_000;
  readonly subId = this.subIds.createSubId(this.createdMs, 42, 1, 'live');
  readonly sub = Buffer.from(this.subIds.toBytes(this.subId));
  readonly ports: ConfirmRevenueDeps;

  constructor(ledger: TemporaryLedger, history: PayoutStateReader) {
    this.ledger = ledger;
    this.history = history;
    this.ports = {
      clock: this.clock,
      subIds: this.subIds,
      clickIds: this.clickIds,
      catalogs: { findLenderName: (_vertical, _mode, offerId) => (offerId === 'shown' ? 'Lender of today' : null) },
      clickDecider: {
        needsGrantForRestoredClick: () => false,
        waitForGrant: async () => {},
        computeRestoredClickRevenueMicros: (_sub, offerId, _clickedMs, _nowMs, micros) =>
          offerId === 'shown' ? micros : 0,
      },
      ledger: ledger.log,
      analytics: history,
      audit: this.audit.trail,
      queue: new SerialQueue(bounds.confirmationQueueBatchesMax),
      verticalsWithConfirmedClicks: new Set([confirmedVertical]),
      verticalsWithFlatPayouts: new Set([flatVertical]),
      isOwnRow: null,
      onClickReversed: () => {},
      onBatchDone: () => {},
    };
  }

  /** A session that was shown three offers, clicked the first, and is ten days old. */
  static async open(t: TestContext): Promise<Bench> {
    const ledger = await openTemporaryLedger(t);
    const storeFolder = temporaryFolder(t);
    const analytics = await ThreadAnalytics.start({
      files: { ...dataPaths(storeFolder), ledgerFolder: ledger.folder },
      log: ledger.log,
    });
    runAfterTest(t, () => analytics.close());
    ledger.log.setDurabilityListener((position) => analytics.onLedgerDurable(position));
    const bench = new Bench(ledger, analytics);
    await bench.append(
      sessionCreatedRecord(bench.sub),
      offersViewedRecord(bench.sub, ['clicked', 'shown', 'withdrawn']),
      offerClickedRecord(bench.sub, 'clicked'),
    );
    bench.clock.advance(10 * dayMs);
    return bench;
  }

  async append(...records: readonly LedgerRecord[]): Promise<void> {
    for (const record of records) await this.ledger.log.append(record)!.durable;
  }

  row(more: object = {}) {
    return {
      sub_id: this.subId,
      svc_offer_id: 'clicked',
      txid: 'tx-1',
      status: 'funded',
      amount: 40,
      occurred_at: new Date(this.createdMs + 5 * dayMs).toISOString(),
      ...more,
    };
  }

  clickId(offerId: string, clickedMs = this.clickedMs): string {
    return this.clickIds.issue({
      sub: this.sub,
      offerId,
      clickedMs,
      valueMicros: 2_000_000,
      payoutMicros: null,
      countable: true,
    });
  }

  async confirm(...rows: readonly unknown[]): Promise<ConfirmationsResponse> {
    const outcome = await confirmRevenue(this.ports, serviceActor, rows);
    assert.ok(outcome.ok, JSON.stringify(outcome));
    return outcome.value;
  }

  /** Returns the outcome of each row, or the reason if the row is rejected. */
  async outcomes(...rows: readonly unknown[]): Promise<string[]> {
    return (await this.confirm(...rows)).results.map(({ outcome, reason }) => reason ?? outcome);
  }

  /** Returns the confirmations and reversals in the ledger, without wall time and session. */
  async booked(): Promise<unknown[][]> {
    const records = await this.ledger.records();
    return records.filter(([kind]) => kind === 4 || kind === 5).map(([kind, , , ...rest]) => [kind, ...rest]);
  }
}

/** Returns the problem that the log shows for a refused batch. */
function findProblemText(outcome: Outcome<unknown>): string {
  assert.ok(!outcome.ok && outcome.error.code === 'SERVICE_UNAVAILABLE' && outcome.error.retryAfterSeconds === 1);
  return outcome.error.problem?.text ?? '';
}

describe('confirmRevenue', () => {
  it('records accepted rows with the lender of the click, and counts all rows by outcome', async (t) => {
    const bench = await Bench.open(t);
    const occurredMs = bench.createdMs + 5 * dayMs;
    const view = await bench.confirm(
      bench.row(),
      'nonsense',
      bench.row(),
      bench.row({ status: 'reversed', amount: 15.5 }),
    );
    // Every row shows the payout after all rows.
    const payout = { state: 'partly_reversed', amount: 24.5 };
    assert.deepEqual(view, {
      accepted: 2,
      repeated: 1,
      rejected: 1,
      unknown: 0,
      results: [
        { index: 0, outcome: 'accepted', payout },
        { index: 1, outcome: 'rejected', reason: 'not_an_object' },
        { index: 2, outcome: 'repeated', payout },
        { index: 3, outcome: 'accepted', payout },
      ],
    });
    assert.deepEqual(await bench.booked(), [
      [4, 'clicked', 'Lender of clicked', 'tx-1', 40_000_000, occurredMs, null, null],
      [5, 'clicked', 'Lender of clicked', 'tx-1', 15_500_000, occurredMs],
    ]);
  });

  it('reports a repeated row as repeated or as a conflict, and records the first row only', async (t) => {
    const bench = await Bench.open(t);
    const single = await confirmRevenue(bench.ports, serviceActor, bench.row());
    assert.ok(single.ok && single.value.accepted === 1);
    const rows = [bench.row(), bench.row({ status: 'reversed' })];
    const byClickId = bench.row({ sub_id: undefined, svc_offer_id: undefined, click_id: bench.clickId('clicked') });
    assert.deepEqual(await bench.outcomes(byClickId, ...rows), ['repeated', 'repeated', 'accepted']);
    bench.clock.advance(200 * dayMs);
    assert.deepEqual(await bench.outcomes(bench.row({ amount: 41 }), ...rows), ['conflict', 'repeated', 'repeated']);
    assert.equal((await bench.booked()).length, 2);
  });

  it('records a payout once if concurrent batches contain the same row', async (t) => {
    const bench = await Bench.open(t);
    const views = await Promise.all(Array.from({ length: 10 }, () => bench.confirm(bench.row())));
    assert.deepEqual(views.map(({ accepted }) => accepted).sort(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert.equal((await bench.booked()).length, 1);
  });

  it('records no rows of a batch that is cancelled before processing starts', async (t) => {
    const bench = await Bench.open(t);
    const signal = { ended: false };
    const first = confirmRevenue(bench.ports, serviceActor, bench.row(), undefined, signal);
    const second = confirmRevenue(bench.ports, serviceActor, bench.row({ txid: 'tx-2' }), undefined, signal);
    await new Promise(setImmediate);
    signal.ended = true;
    assert.ok((await first).ok);
    assert.equal((await second).ok, false);
    assert.deepEqual(
      (await bench.booked()).map(([, , , txid]) => txid),
      ['tx-1'],
    );
  });

  it('validates each row after applying the earlier rows of the batch, payouts before reversals', async (t) => {
    const bench = await Bench.open(t);
    const reversed = (more: object) => bench.row({ status: 'reversed', ...more });
    const outcomes = await bench.outcomes(
      reversed({ amount: 60_000 }),
      'nonsense',
      reversed({ amount: 59_999 }),
      bench.row({ amount: 60_000 }),
      bench.row({ txid: 'tx-2', amount: 60_000 }),
      reversed({ txid: 'tx-2' }),
      reversed({ txid: 'tx-3', amount: 30_000.01 }),
      reversed({ amount: 60_000 }),
      bench.row({ txid: 'tx-3', amount: 30_000 }),
      bench.row({ amount: 60_000 }),
    );
    assert.deepEqual(outcomes, [
      'accepted',
      'not_an_object',
      'conflict',
      'accepted',
      // A payout counts towards the limit of its session before the reversals of the batch.
      'session_limit',
      'txid_unknown',
      'exceeds_funded',
      'repeated',
      'accepted',
      'repeated',
    ]);
    assert.deepEqual(await bench.outcomes(bench.row({ txid: 'tx-2', amount: 60_000 })), ['accepted']);
    assert.deepEqual(
      (await bench.booked()).map(([kind, , , txid]) => `${kind} ${txid}`),
      ['4 tx-1', '4 tx-3', '5 tx-1', '4 tx-2'],
    );
  });

  it('every permutation of a payout and its reversals has the same outcomes and the same payout', async (t) => {
    const bench = await Bench.open(t);
    const kinds = ['funded', 'reversed', 'conflict', 'exceeds'] as const;
    type Kind = (typeof kinds)[number];
    const permutations = (items: readonly Kind[]): Kind[][] =>
      items.length === 0
        ? [[]]
        : items.flatMap((item) => permutations(items.filter((each) => each !== item)).map((rest) => [item, ...rest]));
    for (const [n, order] of permutations(kinds).entries()) {
      const txid = `tx-${n}`;
      const rows: Readonly<Record<Kind, object>> = {
        funded: bench.row({ txid }),
        reversed: bench.row({ txid, status: 'reversed', amount: 30 }),
        conflict: bench.row({ txid, amount: 41 }),
        exceeds: bench.row({ txid: `${txid}-other`, status: 'reversed', amount: 50 }),
      };
      const other = bench.row({ txid: `${txid}-other` });
      const { results } = await bench.confirm(...order.map((kind) => rows[kind]), other);
      const found = Object.fromEntries(order.map((kind, index) => [kind, results[index]]));
      // Of two payouts with the same txid, the first one in the batch counts.
      const isFirst = order.indexOf('funded') < order.indexOf('conflict');
      const payout = { state: 'partly_reversed', amount: isFirst ? 10 : 11 };
      const outcomes = (isCounted: boolean) =>
        isCounted ? { outcome: 'accepted', payout } : { outcome: 'rejected', reason: 'conflict', payout };
      const at = (kind: Kind) => ({ index: order.indexOf(kind) });
      assert.deepEqual(found, {
        funded: { ...at('funded'), ...outcomes(isFirst) },
        conflict: { ...at('conflict'), ...outcomes(!isFirst) },
        reversed: { ...at('reversed'), outcome: 'accepted', payout },
        exceeds: {
          ...at('exceeds'),
          outcome: 'rejected',
          reason: 'exceeds_funded',
          payout: { state: 'funded', amount: 40 },
        },
      });
    }
  });

  it('shows the payout of each row, so that a repeated payout that was reversed is visible', async (t) => {
    const bench = await Bench.open(t);
    const payouts = async (...rows: readonly object[]) =>
      (await bench.confirm(...rows)).results.map(({ outcome, reason, payout }) => [
        reason ?? outcome,
        payout?.state,
        payout?.amount,
      ]);
    const reversed = (more: object = {}) => bench.row({ status: 'reversed', ...more });
    assert.deepEqual(await payouts(bench.row()), [['accepted', 'funded', 40]]);
    assert.deepEqual(await payouts(reversed({ amount: 39.999999 })), [['accepted', 'partly_reversed', 0.000001]]);
    // A payout is reversed once. Funding it again, or reversing the rest, changes nothing.
    assert.deepEqual(await payouts(bench.row(), reversed({ amount: 0.000001 }), reversed({ amount: 41 })), [
      ['repeated', 'partly_reversed', 0.000001],
      ['conflict', 'partly_reversed', 0.000001],
      ['conflict', 'partly_reversed', 0.000001],
    ]);
    assert.deepEqual(
      await payouts(bench.row({ txid: 'tx-2' }), reversed({ txid: 'tx-2' }), bench.row({ txid: 'tx-2' })),
      [
        ['accepted', 'reversed', 0],
        ['accepted', 'reversed', 0],
        ['repeated', 'reversed', 0],
      ],
    );
    assert.deepEqual(
      await payouts(bench.row({ txid: 'tx-2', amount: 1 }), reversed({ txid: 'tx-3' }), bench.row({ amount: 0 })),
      [
        ['conflict', 'reversed', 0],
        ['txid_unknown', undefined, undefined],
        ['amount_invalid', undefined, undefined],
      ],
    );
  });

  it('confirms an unrecorded click by its click_id, and takes the lender of the offer from the catalog', async (t) => {
    const bench = await Bench.open(t);
    const lost = { sub_id: undefined, svc_offer_id: undefined, click_id: bench.clickId('shown') };
    const outcomes = await bench.outcomes(
      bench.row({ svc_offer_id: 'shown' }),
      bench.row(lost),
      bench.row({ svc_offer_id: 'shown', txid: 'tx-2' }),
    );
    assert.deepEqual(outcomes, ['click_unknown', 'accepted', 'accepted']);
    const [state] = await bench.history.findPayoutStates([{ sub: bench.sub, offerId: 'shown', txid: 'tx-1' }]);
    const { clickedMs, lenderName, sessionRevenueMicros } = state!;
    assert.deepEqual([clickedMs, lenderName, sessionRevenueMicros], [bench.clickedMs, 'Lender of today', 80_000_000]);
    assert.deepEqual((await bench.booked())[0]?.slice(1, 3), ['shown', 'Lender of today']);
  });

  it('restores a click with only the revenue that fits into the budget of its offer', async (t) => {
    const bench = await Bench.open(t);
    let asked: readonly unknown[] = [];
    bench.ports.clickDecider.computeRestoredClickRevenueMicros = (_sub, ...limited) => {
      asked = limited;
      return 0;
    };
    const lost = { sub_id: undefined, svc_offer_id: undefined, click_id: bench.clickId('shown') };
    assert.deepEqual(await bench.outcomes(bench.row(lost), bench.row({ txid: 'tx-2' })), ['accepted', 'accepted']);
    assert.deepEqual(asked, ['shown', bench.clickedMs, bench.clock.wallMs(), 2_000_000]);
    assert.deepEqual((await bench.booked())[0]?.slice(-2), [bench.clickedMs, 0]);
  });

  it('reverses the revenue of a click that confirmed its own revenue, at most once and at most the booked amount', async (t) => {
    const bench = await Bench.open(t);
    const sub_id = bench.subIds.createSubId(bench.createdMs, 42, confirmedVertical, 'live');
    const sub = Buffer.from(bench.subIds.toBytes(sub_id));
    const click = { valueMicros: 2_500_000, decision: [true, null, true] } as const;
    await bench.append(
      sessionCreatedRecord(sub),
      offersViewedRecord(sub, ['clicked', 'shown', 'withdrawn']),
      offerClickedRecord(sub, 'clicked', click),
      offerClickedRecord(sub, 'shown', { ...click, decision: [false, 2, true] }),
    );
    const reversal = (more: object) => bench.row({ sub_id, status: 'reversed', reason: 'bot', ...more });
    const lost = bench.clickIds.issue({
      sub,
      offerId: 'withdrawn',
      clickedMs: bench.clickedMs,
      valueMicros: 2_500_000,
      payoutMicros: null,
      countable: true,
    });
    const first = [
      reversal({ amount: 1 }),
      reversal({ amount: 1 }),
      reversal({ amount: 1, reason: 'other' }),
      reversal({ amount: 1.500001, txid: 'tx-2' }),
      reversal({ amount: 1.5, txid: 'tx-2', reason: 'out_of_area' }),
      reversal({ amount: 0.000001, txid: 'tx-3' }),
    ];
    assert.deepEqual(await bench.outcomes(...first), [
      'accepted',
      'repeated',
      'conflict',
      'exceeds_booked',
      'accepted',
      'exceeds_booked',
    ]);
    // A later request that repeats the rows finds the accepted rows in the ledger.
    assert.deepEqual(await bench.outcomes(...first.slice(0, 1), ...first.slice(4)), [
      'repeated',
      'repeated',
      'exceeds_booked',
    ]);
    // Instead of a payout, the answer shows what is left of the revenue of the click.
    const repeated = (await bench.confirm(first[0], first[5])).results.map(({ payout }) => payout);
    assert.deepEqual(repeated, [{ state: 'reversed', amount: 0 }, undefined]);
    const { sub_id: _, svc_offer_id: __, ...withoutClick } = reversal({ txid: 'tx-4' }) as Record<string, unknown>;
    const others = [
      bench.row({ sub_id }),
      reversal({ reason: undefined }),
      reversal({ svc_offer_id: 'shown' }),
      reversal({ svc_offer_id: 'withdrawn' }),
      { ...withoutClick, click_id: lost },
    ];
    assert.deepEqual(await bench.outcomes(...others), [
      'funded_not_accepted',
      'reason_invalid',
      'click_not_booked',
      'click_unknown',
      'click_unknown',
    ]);
    const occurredMs = bench.createdMs + 5 * dayMs;
    assert.deepEqual(await bench.booked(), [
      [5, 'clicked', 'Lender of clicked', 'tx-1', 1_000_000, occurredMs, 0],
      [5, 'clicked', 'Lender of clicked', 'tx-2', 1_500_000, occurredMs, 3],
    ]);
  });

  it('accepts one funded row for each click of a vertical with flat payouts, of the payout of the offer', async (t) => {
    const bench = await Bench.open(t);
    const { clickedMs } = bench;
    const sub_id = bench.subIds.createSubId(bench.createdMs, 42, flatVertical, 'live');
    const sub = Buffer.from(bench.subIds.toBytes(sub_id));
    const clickId = (offerId: string, payoutMicros: number | null) =>
      bench.clickIds.issue({ sub, offerId, clickedMs, valueMicros: 2_000_000, payoutMicros, countable: true });
    const restoring = (offerId: string, payoutMicros: number | null, more: object) => {
      const {
        svc_offer_id: _,
        sub_id: __,
        ...row
      } = bench.row({ amount: 85, click_id: clickId(offerId, payoutMicros), ...more });
      return row;
    };
    await bench.append(
      sessionCreatedRecord(sub),
      offersViewedRecord(sub, ['new', 'old', 'shown', 'shown-before']),
      offerClickedRecord(sub, 'new', { payoutMicros: 85_000_000 }),
      offerClickedRecord(sub, 'old'),
    );
    bench.ports.catalogs.findLenderName = () => 'Lender of today';
    const row = (more: object) => bench.row({ sub_id, svc_offer_id: 'new', amount: 85, ...more });
    const reversed = { status: 'reversed' };
    const batches: readonly (readonly (readonly [expected: string, row: object])[])[] = [
      [
        ['amount_not_flat', row({ amount: 5_000 })],
        ['amount_not_flat', row({ amount: 85.000001 })],
        ['accepted', row({})],
        ['repeated', row({})],
        ['conflict', row({ amount: 84 })],
        ['already_funded', row({ txid: 'tx-2' })],
        ['already_funded', row({ txid: 'tx-2', amount: 5_000 })],
        // A click of an earlier release has no payout: any amount counts, once.
        ['accepted', row({ svc_offer_id: 'old', amount: 5_000 })],
        ['already_funded', row({ svc_offer_id: 'old', txid: 'tx-2', amount: 5_000 })],
        // A click that a confirmation restores has the payout of its click_id.
        ['amount_not_flat', restoring('shown', 85_000_000, { amount: 40 })],
        ['accepted', restoring('shown', 85_000_000, {})],
        ['already_funded', restoring('shown', 85_000_000, { txid: 'tx-2' })],
        ['accepted', restoring('shown-before', null, { amount: 40 })],
      ],
      // A later batch finds the accepted rows in the ledger. A reversal does not make room for another payout.
      [
        ['repeated', row({})],
        ['already_funded', row({ txid: 'tx-2' })],
        ['already_funded', row({ svc_offer_id: 'old', txid: 'tx-2' })],
        ['already_funded', row({ svc_offer_id: 'shown', txid: 'tx-2' })],
        ['already_funded', restoring('shown-before', null, { txid: 'tx-2', amount: 40 })],
        ['exceeds_funded', row({ ...reversed, amount: 85.000001 })],
        ['accepted', row({ ...reversed, amount: 30 })],
        ['conflict', row({ ...reversed, amount: 55 })],
        ['already_funded', row({ txid: 'tx-2' })],
      ],
      [
        ['repeated', row({ ...reversed, amount: 30 })],
        ['repeated', row({})],
        ['already_funded', row({ txid: 'tx-2' })],
      ],
    ];
    for (const batch of batches) {
      assert.deepEqual(
        await bench.outcomes(...batch.map(([, each]) => each)),
        batch.map(([expected]) => expected),
      );
    }
    assert.deepEqual(
      (await bench.booked()).map(([kind, offer, , txid, micros, , , , payoutMicros]) => [
        kind,
        offer,
        txid,
        micros,
        payoutMicros,
      ]),
      [
        [4, 'new', 'tx-1', 85_000_000, null],
        [4, 'old', 'tx-1', 5_000_000_000, null],
        [4, 'shown', 'tx-1', 85_000_000, 85_000_000],
        [4, 'shown-before', 'tx-1', 40_000_000, null],
        [5, 'new', 'tx-1', 30_000_000, undefined],
      ],
    );
    // The aggregator counted exactly the accepted rows.
    const [state] = await bench.history.findPayoutStates([{ sub, offerId: 'new', txid: 'tx-1' }]);
    assert.equal(state!.sessionRevenueMicros, (85 + 5_000 + 85 + 40 - 30) * 1_000_000);
  });

  it('rejects confirmations for late clicks, sandbox sessions, offers that were not shown, and unknown lenders or sessions', async (t) => {
    const bench = await Bench.open(t);
    const lost = (click_id: string) => bench.row({ sub_id: undefined, svc_offer_id: undefined, click_id });
    const outcomes = await bench.outcomes(
      lost(bench.clickId('never-shown')),
      lost(bench.clickId('shown', bench.createdMs + dayMs + 1)),
      lost(bench.clickId('withdrawn')),
      bench.row({ sub_id: bench.subIds.createSubId(bench.createdMs, 42, 1, 'live') }),
      bench.row({ sub_id: bench.subIds.createSubId(bench.createdMs, 42, 1, 'test') }),
    );
    assert.deepEqual(outcomes, ['click_unknown', 'click_late', 'lender_unknown', 'click_unknown', 'sandbox']);
    assert.deepEqual(await bench.booked(), []);
  });

  it('rejects a batch above the maximum number of rows, and a missing body', async (t) => {
    const bench = await Bench.open(t);
    const full = Array.from({ length: bounds.confirmationRowsPerRequestMax }, () => 0);
    assert.equal((await bench.confirm(...full)).rejected, full.length);
    for (const body of [[...full, 0], undefined]) {
      const outcome = await confirmRevenue(bench.ports, serviceActor, body);
      assert.deepEqual(outcome, invalidRequest('body', 'must be one confirmation or an array of at most 500'));
    }
  });

  it('a confirmation whose record is not yet written has the outcome "unknown", and a retry adds no second record', async (t) => {
    const bench = await Bench.open(t);
    bench.ledger.breakFiles();
    const rows = [bench.row(), bench.row(), 'nonsense'];
    assert.deepEqual(await bench.outcomes(...rows), ['unknown', 'unknown', 'not_an_object']);
    const refused = await confirmRevenue(bench.ports, serviceActor, rows);
    assert.match(findProblemText(refused), /ledger cannot be written/);
    bench.ledger.repairFiles();
    while (!bench.ledger.log.healthy) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(await bench.outcomes(...rows), ['repeated', 'repeated', 'not_an_object']);
    assert.equal((await bench.booked()).length, 1);
  });

  it('stops processing a batch at the first row that the ledger rejects', async (t) => {
    const bench = await Bench.open(t);
    let appends = 0;
    const ledger = ledgerWith(bench.ledger, () => {
      appends++;
      return null;
    });
    const outcome = await confirmRevenue({ ...bench.ports, ledger }, serviceActor, [
      bench.row(),
      bench.row({ status: 'reversed' }),
    ]);
    assert.ok(outcome.ok);
    assert.deepEqual([outcome.value.unknown, appends], [2, 1]);
  });

  it('returns status 503 if the payout history is unavailable or the queue of batches is full', async (t) => {
    const bench = await Bench.open(t);
    const history = { findPayoutStates: () => Promise.reject(new AnalyticsUnavailableError('gone')) };
    const gone = await confirmRevenue({ ...bench.ports, analytics: history }, serviceActor, [bench.row()]);
    assert.match(findProblemText(gone), /see the log lines of the aggregator/);
    const many = Array.from({ length: bounds.confirmationQueueBatchesMax + 2 }, () =>
      confirmRevenue(bench.ports, serviceActor, [bench.row()]),
    );
    const [last, refused] = (await Promise.all(many)).slice(-2);
    assert.ok(last!.ok);
    assert.match(findProblemText(refused!), /too many uploads of confirmations at once/);
  });
});
