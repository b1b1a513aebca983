import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type AppendedRecord, LogUnavailableError } from '../../src/event-log/event-log.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { LedgerRecord, WidgetEventsReportedRecord } from '../../src/ledger/ledger-record.ts';
import { recordWidgetEvents } from '../../src/operations/record-widget-events.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { widgetLoadId } from '../support/api-caller.ts';
import { secretSetOf } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { openSessionStore } from './bench.ts';

/** A log whose failures a test controls. */
class FailingLog implements Pick<Ledger, 'append' | 'durablePosition'> {
  readonly records: WidgetEventsReportedRecord[] = [];
  isFull = false;
  error: LogUnavailableError | null = null;
  /** Records become durable after this promise resolves. */
  disk: Promise<void> = Promise.resolve();
  durablePosition = 0;

  append(record: LedgerRecord): AppendedRecord | null {
    if (this.isFull) return null;
    const position = this.records.push(record as WidgetEventsReportedRecord);
    return { position, durable: this.error === null ? this.#store(position) : Promise.reject(this.error) };
  }

  async #store(position: number): Promise<void> {
    await this.disk;
    this.durablePosition = Math.max(this.durablePosition, position);
  }
}

function setUp(t: TestContext) {
  const clock = new ManualClock();
  const ledger = new FailingLog();
  const subIds = new SubIds(secretSetOf('reports'), new RandomBytesPool());
  const subId = subIds.createSubId(clock.wallMs(), 1, 1, 'live');
  const sessions = openSessionStore(t, clock);
  sessions.add(subId);
  const session = sessions.get(subId)!;
  const counted: string[] = [];
  const ports = {
    clock,
    subIds,
    ledger: ledger as unknown as Ledger,
    onWidgetEvents: (types: readonly string[]) => counted.push(...types),
  };
  const report = (...ids: string[]) =>
    recordWidgetEvents(ports, session, subId, {
      load: widgetLoadId(9),
      events: ids.map((id) => ({ event_id: id, type: 'offer_impression', svc_offer_id: `offer-${id}` })),
    });
  return { ledger, report, counted };
}

describe('recordWidgetEvents', () => {
  it('writes all new widget events of a request to one record', async (t) => {
    const { ledger, report, counted } = setUp(t);
    assert.ok((await report('a', 'b')).ok);
    assert.ok((await report('b', 'c')).ok);
    const [first, second] = ledger.records;
    assert.deepEqual(
      [first![5], first![6]],
      [
        [2, 2],
        ['offer-a', 'offer-b'],
      ],
    );
    assert.deepEqual([second![5], second![6]], [[2], ['offer-c']]);
    assert.equal(first![3].length, 8);
    assert.deepEqual([first![4].length, second![4].length], [16, 8]);
    assert.deepEqual(counted, ['offer_impression', 'offer_impression', 'offer_impression']);
  });

  it('accepts a retry of widget events that the ledger rejected', async (t) => {
    const { ledger, report, counted } = setUp(t);
    ledger.isFull = true;
    const refused = await report('a');
    assert.ok(!refused.ok && refused.error.code === 'SERVICE_UNAVAILABLE');
    assert.ok(refused.error.retryAfterSeconds! >= 1);
    ledger.isFull = false;
    assert.ok((await report('a')).ok);
    assert.equal(ledger.records.length, 1);
    assert.equal(counted.length, 1);
  });

  it('a widget event that is repeated after a ledger timeout is recorded once', async (t) => {
    const { ledger, report, counted } = setUp(t);
    ledger.error = new LogUnavailableError('slow', new Promise(() => {}));
    assert.ok(!(await report('a')).ok);
    assert.ok(!(await report('a')).ok);
    ledger.error = null;
    ledger.durablePosition = 1;
    assert.ok((await report('a')).ok);
    assert.equal(ledger.records.length, 1);
    assert.equal(counted.length, 1);
  });

  it('responds to a repeated request only after the record of the first request is durable', async (t) => {
    const { ledger, report } = setUp(t);
    const disk = Promise.withResolvers<void>();
    ledger.disk = disk.promise;
    const answered: string[] = [];
    const first = report('a', 'b').then(() => answered.push('first'));
    const repeat = report('b').then(() => answered.push('repeat'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(answered, []);
    disk.resolve();
    await Promise.all([first, repeat]);
    assert.deepEqual(answered.sort(), ['first', 'repeat']);
    assert.equal(ledger.records.length, 1);
  });

  it('a repeated request fails if the first request could not be recorded', async (t) => {
    const { ledger, report } = setUp(t);
    const disk = Promise.withResolvers<void>();
    ledger.disk = disk.promise;
    const both = [report('a'), report('a')];
    disk.reject(new LogUnavailableError('slow', new Promise(() => {})));
    for (const outcome of await Promise.all(both)) {
      assert.ok(!outcome.ok && outcome.error.code === 'SERVICE_UNAVAILABLE' && outcome.error.outcomeUnknown);
    }
  });
});
