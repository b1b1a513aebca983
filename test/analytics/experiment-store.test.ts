import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeSubId } from '../../src/ids/sub-id.ts';
import { isExperimentRecord, type LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { arbitraryHistory, arbitraryPicks, merge } from './arbitrary-experiments.ts';
import { archiveDays } from './archive-days.ts';
import { normalize } from './comparable-figures.ts';
import { ExperimentModel } from './experiment-model.ts';
import { ProjectedStore } from './projected-store.ts';
import { today } from './sample-query.ts';

const apply = {
  weight: 3,
  arbitrary: fc.record({
    kind: fc.constant('apply' as const),
    count: fc.constantFrom(1, 2, 5, 10, 20, 40),
    newSegment: fc.boolean(),
  }),
};
const action = fc.oneof(
  apply,
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('fill' as const), sessionsMax: fc.integer({ min: 2, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('check' as const) }) },
);
const rebuild = fc.record({
  kind: fc.constant('rebuild' as const),
  /** Whether the ledger segments that the archive replaces are deleted. */
  deletesSegments: fc.boolean(),
  /** Number of records of a batch. */
  count: fc.integer({ min: 1, max: 40 }),
});
const retention = fc.record({
  kind: fc.constant('retain' as const),
  days: fc.constantFrom(0, 0, 0, 1, 2, 46),
  /** If all earlier sessions are counted before. Otherwise, no day is archived. */
  fills: fc.constantFrom(true, true, false),
  prunes: fc.nat({ max: 2 }),
});
type Action = typeof action | typeof rebuild | typeof retention extends fc.Arbitrary<infer Value> ? Value : never;

/** Applies a history to a store, and compares the figures of the experiments with those of the model. */
class HistoryRun {
  readonly #records: readonly LedgerRecord[];
  readonly #projected = new ProjectedStore();
  readonly #model = new ExperimentModel();
  /** First positions of the ledger segments. */
  readonly #segments: number[] = [];
  #position = 0;
  #ledgerStart = 1;

  constructor(records: readonly LedgerRecord[]) {
    this.#records = records;
  }

  run(actions: readonly Action[]): void {
    try {
      for (const each of actions) this.#run(each);
      this.#apply(this.#records.length, true);
      this.#fillAll();
      this.#assertFigures(true);
      this.#projected.reopen();
      this.#assertFigures(true);
    } finally {
      this.#projected.close();
    }
  }

  #run(each: Action): void {
    if (each.kind === 'apply') this.#apply(each.count, each.newSegment);
    else if (each.kind === 'fill') this.#fill(each.sessionsMax);
    else if (each.kind === 'reopen') this.#projected.reopen();
    else if (each.kind === 'check') this.#assertFigures(false);
    else if (each.kind === 'retain') this.#retain(each);
    else this.#rebuild(each.deletesSegments, each.count);
  }

  #apply(count: number, newSegment: boolean): void {
    const records = this.#records.slice(this.#position, this.#position + count);
    if (records.length === 0) return;
    if (newSegment || this.#segments.length === 0) this.#segments.push(this.#position + 1);
    for (const record of records) this.#model.record(record);
    this.#projected.applyIn(this.#segments.at(-1)!, ...records);
    this.#position += records.length;
  }

  #fill(sessionsMax: number): void {
    const { fill } = this.#projected.store;
    if (fill.isRunning) fill.countSlice(sessionsMax);
  }

  #fillAll(): void {
    while (this.#projected.store.fill.isRunning) this.#fill(2);
  }

  #retain({ days, fills, prunes }: Extract<Action, { readonly kind: 'retain' }>): void {
    const { store } = this.#projected;
    if (fills) this.#fillAll();
    const request = { today, retentionDays: days, wallMs: 0, visitorsMax: 1, recordsMax: 3 };
    const result = archiveDays(store, request);
    assert(result.archived);
    this.#model.retainFrom(result.retainedFromDay);
    this.#ledgerStart = Math.max(result.ledgerStartPosition, 1);
    for (let index = 0; index < prunes && store.retention.hasRowsToPrune; index++) store.retention.pruneRows();
  }

  /** Deletes the store, and applies the ledger to a new store. */
  #rebuild(deletesSegments: boolean, count: number): void {
    const start = deletesSegments ? this.#ledgerStart : 1;
    const end = this.#position;
    this.#projected.rebuild(start - 1);
    for (let next = start; next <= end; ) {
      const segment = this.#segments.findLast((first) => first <= next)!;
      const segmentEnd = this.#segments.find((first) => first > next) ?? end + 1;
      const batchEnd = Math.min(next + count, segmentEnd, end + 1);
      this.#projected.applyIn(segment, ...this.#records.slice(next - 1, batchEnd - 1));
      next = batchEnd;
    }
  }

  /** Compares all figures of all experiments on the days on which they can change. */
  #assertFigures(isFilled: boolean): void {
    for (const experiment of this.#model.experiments) {
      const { name, tenant, definition } = experiment;
      const { account, vertical, mode } = tenant;
      const { revenueDays, graceDays } = definition;
      const days = new Set(this.#model.analytics.sessions.map(({ day }) => day));
      const matureDays = [...days].map((day) => day + revenueDays + graceDays + 1);
      for (const asOf of [...days, ...matureDays, ...matureDays.map((day) => day - 1), today + 1_000]) {
        const query = { account, vertical, mode, name, asOf };
        const { figures } = this.#projected.store.readExperimentFigures(query)!;
        if (isFilled || figures.fillProgress === null)
          assert.deepEqual(normalize(figures), normalize(this.#model.figures(experiment, asOf)), `${name}, ${asOf}`);
        else assert.ok(figures.fillProgress >= 0 && figures.fillProgress <= 1);
      }
    }
  }
}

for (const [title, actions, numRuns] of [
  ['in batches of any size, after reopening, and during fills', action, 40],
  ['after a rebuild', fc.oneof(action, action, action, rebuild), 20],
  [
    'after retention and rebuilds',
    fc.oneof(apply, { weight: 2, arbitrary: retention }, rebuild, { weight: 1, arbitrary: action }),
    50,
  ],
] as const) {
  test(`the figures of experiments match the ledger ${title}`, () => {
    fc.assert(
      fc.property(
        arbitraryHistory,
        fc.array(actions as fc.Arbitrary<Action>, { minLength: 5, maxLength: 25, size: 'max' }),
        (records, steps) => new HistoryRun(records).run(steps),
      ),
      { numRuns },
    );
  });
}

/** Returns the days of the experiments in a store that count sessions in any order, and all figures of their tags. */
function figuresAfter(records: readonly LedgerRecord[]) {
  const projected = new ProjectedStore();
  try {
    projected.apply(...records);
    while (projected.store.fill.isRunning) projected.store.fill.countSlice();
    return records.filter(isExperimentRecord).map(([, , sub, name]) => {
      const { account, vertical, mode } = decodeSubId(sub);
      return normalize(
        projected.store.readExperimentFigures({ account, vertical, mode, name, asOf: today + 1_000 })!.figures,
      );
    });
  } finally {
    projected.close();
  }
}

test('the figures of sessions do not depend on the order of sessions', () => {
  fc.assert(
    fc.property(arbitraryHistory, arbitraryPicks, (records, picks) => {
      const definitions = records.filter((record) => record[0] === 7 && record[5].includes('"unit":"session"'));
      const sessions = records.filter((record) => !isExperimentRecord(record));
      const sequences = Map.groupBy(sessions, ([, , sub]) => Buffer.from(sub).toString('hex'));
      const reordered = merge([...sequences.values()], picks);
      assert.deepEqual(figuresAfter([...definitions, ...reordered]), figuresAfter([...definitions, ...sessions]));
    }),
    { numRuns: 25 },
  );
});
