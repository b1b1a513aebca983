import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RowsQuery } from '../../src/analytics/analytics.ts';
import { dayOf } from '../../src/domain/calendar.ts';
import { decodeSubId } from '../../src/ids/sub-id.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { plain } from '../event-log/log-fixture.ts';
import { AnalyticsModel } from './analytics-model.ts';
import { arbitraryRecords, arbitraryToday, everyQuery } from './arbitrary-ledger.ts';
import { SimulatedFollower } from './simulated-follower.ts';

/** The appended records, and the retained day after each retention, by projected position. */
interface Model {
  records: LedgerRecord[];
  readonly retentions: { readonly position: number; readonly retainedFromDay: number }[];
}

/** Expected figures at a projected position. Figures of archived days do not change after the retention. */
function expectedFigures({ records, retentions }: Model, projectedPosition: number): AnalyticsModel {
  const figures = new AnalyticsModel();
  const last = retentions.at(-1) ?? { position: 0, retainedFromDay: 0 };
  let next = 0;
  for (const [index, record] of records.slice(0, Math.max(projectedPosition, last.position)).entries()) {
    while (retentions[next] !== undefined && retentions[next]!.position <= index)
      figures.retainFrom(retentions[next++]!.retainedFromDay);
    if (index < projectedPosition || dayOf(decodeSubId(record[2]).createdMs) < last.retainedFromDay)
      figures.record(record, index + 1);
  }
  figures.retainFrom(last.retainedFromDay);
  return figures;
}

interface Command extends fc.AsyncCommand<Model, SimulatedFollower> {}

function command(name: string, run: Command['run']): Command {
  return { check: () => true, run, toString: () => name };
}

function assertFigures(real: SimulatedFollower, model: Model): void {
  const { records } = model;
  const figures = expectedFigures(model, real.projectedPosition);
  const asOfMs = records[real.projectedPosition - 1]?.[1] ?? null;
  for (const query of everyQuery(records)) {
    assert.deepEqual(real.execute('getSummary', query), { ...figures.summary(query), asOfMs });
    assert.deepEqual(real.execute('listDays', query), figures.daily(query));
    for (const limit of [1, 4, 100]) {
      for (let afterPosition: number | null = 0; afterPosition !== null; ) {
        const pageQuery: RowsQuery = { ...query, afterPosition, limit };
        const page = real.execute('listRows', pageQuery);
        assert.deepEqual(page, figures.rows(pageQuery));
        assert(page.nextAfterPosition === null || page.nextAfterPosition > afterPosition);
        afterPosition = page.nextAfterPosition;
      }
    }
  }
  if (real.deletedSegments === 0) assert.equal(real.execute('getTotals', undefined).records, real.projectedPosition);
}

const append = fc
  .record({
    records: arbitraryRecords,
    isAwaited: fc.boolean(),
    isSettled: fc.boolean(),
  })
  .map(({ records, isAwaited, isSettled }) =>
    command(
      `append ${records.length}, ${isAwaited ? 'awaited' : 'not awaited'}, ${isSettled ? 'settled' : 'pending'}`,
      async (model, real) => {
        for (const record of records) if (real.append(record, isAwaited)) model.records.push(record);
        if (isSettled) await real.settle();
      },
    ),
  );

const fail = fc
  .record({ step: fc.constantFrom('write', 'datasync', 'syncFolder', 'rename'), times: fc.integer({ min: 1, max: 3 }) })
  .map(({ step, times }) => command(`fail ${step} ${times} times`, async (_, real) => real.files.fail(step, times)));

const applySome = fc
  .nat({ max: 12 })
  .map((count) =>
    command(`apply ${count}`, async (_, real) =>
      real.applyBatch(Math.min(real.projectedPosition + count, real.acknowledgedPosition)),
    ),
  );

const failBatch = fc.nat({ max: 700 }).map((bytes) =>
  command(`fail in a batch after ${bytes} bytes of a segment`, async (_, real) => {
    real.applyBatchWithFailure(real.acknowledgedPosition, bytes);
  }),
);

const check = fc.constant(
  command('check', async (model, real) => {
    real.applyBatch(real.acknowledgedPosition);
    assert.equal(real.projectedPosition, real.acknowledgedPosition);
    assertFigures(real, model);
  }),
);

const applyRetention = fc
  .record({ age: fc.constantFrom(0, 1, 46, 46, 47), deletesSegments: fc.boolean(), prunes: fc.nat({ max: 2 }) })
  .map(({ age, deletesSegments, prunes }) =>
    command(
      `retain ${age} days${deletesSegments ? '' : ' without deleting segments'}`,
      async ({ retentions }, real) => {
        real.applyBatch(real.acknowledgedPosition);
        const outcome = await real.applyRetention(
          { today: arbitraryToday, retentionDays: age, wallMs: 0 },
          deletesSegments,
        );
        assert.ok(outcome.archived);
        const { retainedFromDay } = outcome;
        if (retainedFromDay > (retentions.at(-1)?.retainedFromDay ?? 0))
          retentions.push({ position: real.projectedPosition, retainedFromDay });
        for (let i = 0; i < prunes; i++) real.pruneRows();
      },
    ),
  );

const deleteStore = fc.constant(
  command('delete the store', async (model, real) => {
    const { projectedPosition } = real;
    real.deleteStore();
    real.applyBatch(projectedPosition);
    assertFigures(real, model);
  }),
);

const saveStore = fc.constant(command('save the store', async (_, real) => real.saveStore()));

const crash = fc
  .record({
    power: fc.boolean(),
    restoresStore: fc.boolean(),
    choices: fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat()), { minLength: 1, maxLength: 8 }),
  })
  .map(({ power, restoresStore, choices }) =>
    command(`crash ${JSON.stringify({ power, restoresStore, choices })}`, async (model, real) => {
      let choiceIndex = 0;
      const fate = ({ length }: { length: number }): [number, number] => {
        const [kind, value] = choices[choiceIndex++ % choices.length]!;
        return kind === 0 ? [0, 0] : kind === 1 ? [0, length] : [0, value % (length + 1)];
      };
      const safePosition = power ? real.powerSafePosition : real.acknowledgedPosition;
      const { first, records } = await real.crash(power ? fate : null, restoresStore);
      const last = first - 1 + records.length;
      assert.deepEqual(plain(records), plain(model.records.slice(first - 1, last)));
      assert.ok(last >= safePosition);
      model.records = model.records.slice(0, last);
      // The figures must be correct before more records are projected.
      assertFigures(real, model);
    }),
  );

const common = [append, append, append, applySome, failBatch, check, saveStore, crash];

// Failed writes are tested with fsync only: without it, a failed write and a power cut may leave a gap, which the log rejects.
for (const [durability, commands, numRuns] of [
  ['fsync', [...common, fail], 40],
  ['fsync', [...common, fail, applyRetention, applyRetention, deleteStore], 40],
  ['write', common, 20],
] as const) {
  const suffix = commands.includes(applyRetention) ? ' and retention' : '';
  test(`figures match the ledger after crashes, with durability ${durability}${suffix}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands([...commands], { maxCommands: 30, size: 'max' }), async (steps) => {
        const real = await SimulatedFollower.open(durability);
        try {
          const model: Model = { records: [], retentions: [] };
          await fc.asyncModelRun(() => ({ model, real }), steps);
          await real.catchUp();
          assert.equal(real.acknowledgedPosition, model.records.length);
          real.applyBatch(real.acknowledgedPosition);
          assertFigures(real, model);
          // A rebuild is needed only if the ledger lost durable records.
          if (durability === 'fsync' && real.deletedSegments === 0) assert.equal(real.rebuilds, 0);
        } finally {
          await real.close();
        }
      }),
      { numRuns },
    );
  });
}
