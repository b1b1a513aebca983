import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RowsQuery } from '../../src/analytics/analytics.ts';
import { dayOf } from '../../src/domain/calendar.ts';
import { decodeSubId } from '../../src/ids/sub-id.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { plain } from '../event-log/log-fixture.ts';
import { AnalyticsModel } from '../support/analytics-model.ts';
import { arbitraryRecord, arbitraryToday, everyQuery } from '../support/arbitrary-ledger.ts';
import { LedgerAndFigures } from './ledger-and-figures.ts';

/** What has been appended, in order, and what was given up when that far was folded: the figures follow from it. */
interface Model {
  records: LedgerRecord[];
  readonly seals: { readonly position: number; readonly retainedFromDay: number }[];
}

/** The figures when so many records are folded. Those of sealed days are what they were when they were sealed. */
function figuresOf({ records, seals }: Model, folded: number): AnalyticsModel {
  const figures = new AnalyticsModel();
  const last = seals.at(-1) ?? { position: 0, retainedFromDay: 0 };
  let next = 0;
  for (const [index, record] of records.slice(0, Math.max(folded, last.position)).entries()) {
    while (seals[next] !== undefined && seals[next]!.position <= index) figures.seal(seals[next++]!.retainedFromDay);
    if (index < folded || dayOf(decodeSubId(record[2]).createdMs) < last.retainedFromDay)
      figures.record(record, index + 1);
  }
  figures.seal(last.retainedFromDay);
  return figures;
}

interface Command extends fc.AsyncCommand<Model, LedgerAndFigures> {}

function command(name: string, run: Command['run']): Command {
  return { check: () => true, run, toString: () => name };
}

function assertFigures(real: LedgerAndFigures, model: Model): void {
  const { records } = model;
  const figures = figuresOf(model, real.folded);
  const asOfMs = records[real.folded - 1]?.[1] ?? null;
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
  if (real.dropped === 0) assert.equal(real.execute('getTotals', undefined).records, real.folded);
}

const append = fc
  .record({
    records: fc.array(arbitraryRecord, { minLength: 1, maxLength: 8 }),
    waited: fc.boolean(),
    settled: fc.boolean(),
  })
  .map(({ records, waited, settled }) =>
    command(`${waited ? 'append' : 'note'} ${records.length}${settled ? '' : ' and go on'}`, async (model, real) => {
      for (const record of records) if (real.append(record, waited)) model.records.push(record);
      if (settled) await real.settle();
    }),
  );

const fail = fc
  .record({ step: fc.constantFrom('write', 'datasync', 'syncFolder', 'rename'), times: fc.integer({ min: 1, max: 3 }) })
  .map(({ step, times }) => command(`fail ${step} ${times} times`, async (_, real) => real.files.fail(step, times)));

const foldSome = fc
  .nat({ max: 12 })
  .map((count) =>
    command(`fold ${count}`, async (_, real) => real.fold(Math.min(real.folded + count, real.acknowledged))),
  );

const foldInterrupted = fc.nat({ max: 700 }).map((bytes) =>
  command(`die in a batch, ${bytes} bytes into a segment`, async (_, real) => {
    real.foldInterrupted(real.acknowledged, bytes);
  }),
);

const ask = fc.constant(
  command('ask', async (model, real) => {
    real.fold(real.acknowledged);
    assert.equal(real.folded, real.acknowledged);
    assertFigures(real, model);
  }),
);

const seal = fc
  .record({ age: fc.constantFrom(0, 1, 46, 46, 47), drops: fc.boolean(), prunes: fc.nat({ max: 2 }) })
  .map(({ age, drops, prunes }) =>
    command(`seal what is older than ${age} days${drops ? '' : ' and keep the ledger'}`, async ({ seals }, real) => {
      real.fold(real.acknowledged);
      const outcome = await real.seal({ today: arbitraryToday, retentionDays: age, wallMs: 0 }, drops);
      assert.ok(outcome.archived);
      const { retainedFromDay } = outcome;
      if (retainedFromDay > (seals.at(-1)?.retainedFromDay ?? 0))
        seals.push({ position: real.folded, retainedFromDay });
      for (let i = 0; i < prunes; i++) real.prune();
    }),
  );

const loseStore = fc.constant(
  command('lose the store', async (model, real) => {
    const { folded } = real;
    real.loseStore();
    real.fold(folded);
    assertFigures(real, model);
  }),
);

const keepStore = fc.constant(command('keep the store', async (_, real) => real.keepStore()));

const crash = fc
  .record({
    power: fc.boolean(),
    storeToo: fc.boolean(),
    choices: fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat()), { minLength: 1, maxLength: 8 }),
  })
  .map(({ power, storeToo, choices }) =>
    command(`crash ${JSON.stringify({ power, storeToo, choices })}`, async (model, real) => {
      let asked = 0;
      const fate = ({ length }: { length: number }): [number, number] => {
        const [kind, at] = choices[asked++ % choices.length]!;
        return kind === 0 ? [0, 0] : kind === 1 ? [0, length] : [0, at % (length + 1)];
      };
      const safe = power ? real.powerSafe : real.acknowledged;
      const { first, records } = await real.crash(power ? fate : null, storeToo);
      const last = first - 1 + records.length;
      assert.deepEqual(plain(records), plain(model.records.slice(first - 1, last)));
      assert.ok(last >= safe);
      model.records = model.records.slice(0, last);
      // Before anything more is folded they are right as far as they go.
      assertFigures(real, model);
    }),
  );

const common = [append, append, append, foldSome, foldInterrupted, ask, keepStore, crash];

// Without syncs a failed write and a power cut together may leave a log with a hole, which is refused, as it must be.
for (const [durability, commands, numRuns] of [
  ['fsync', [...common, fail], 40],
  ['fsync', [...common, fail, seal, seal, loseStore], 40],
  ['write', common, 20],
] as const) {
  const sealing = commands.includes(seal) ? ' and days that are sealed' : '';
  test(`figures are those of the records in the ledger, whatever dies when, with durability ${durability}${sealing}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands([...commands], { maxCommands: 30, size: 'max' }), async (steps) => {
        const real = await LedgerAndFigures.open(durability);
        try {
          const model: Model = { records: [], seals: [] };
          await fc.asyncModelRun(() => ({ model, real }), steps);
          await real.catchUp();
          assert.equal(real.acknowledged, model.records.length);
          real.fold(real.acknowledged);
          assertFigures(real, model);
          // Figures are ahead of a ledger only if the ledger lost what it had called durable, and behind what is left of it
          // only if the store had.
          if (durability === 'fsync' && real.dropped === 0) assert.equal(real.rebuilds, 0);
        } finally {
          await real.close();
        }
      }),
      { numRuns },
    );
  });
}
