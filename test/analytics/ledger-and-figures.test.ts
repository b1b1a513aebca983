import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LedgerRecord } from '../../src/events/ledger-record.ts';
import { plain } from '../events/log-fixture.ts';
import { AnalyticsModel } from '../support/analytics-model.ts';
import { arbitraryRecord, everyQuery } from '../support/arbitrary-ledger.ts';
import { LedgerAndFigures } from './ledger-and-figures.ts';

/** What has been appended, in order; the figures follow from it. */
interface Model {
  records: LedgerRecord[];
}

interface Command extends fc.AsyncCommand<Model, LedgerAndFigures> {}

function command(name: string, run: Command['run']): Command {
  return { check: () => true, run, toString: () => name };
}

function assertFigures(real: LedgerAndFigures, { records }: Model): void {
  const model = new AnalyticsModel();
  for (const record of records.slice(0, real.folded)) model.record(record);
  for (const query of everyQuery(records)) assert.deepEqual(real.follower.summary(query), model.summary(query));
  assert.equal(real.follower.totals().records, real.folded);
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
      const recovered = await real.crash(power ? fate : null, storeToo);
      assert.deepEqual(plain(recovered), plain(model.records.slice(0, recovered.length)));
      assert.ok(recovered.length >= safe);
      model.records = model.records.slice(0, recovered.length);
      // Before anything more is folded they are right as far as they go.
      assertFigures(real, model);
    }),
  );

const common = [append, append, append, foldSome, foldInterrupted, ask, keepStore, crash];

// Without syncs a failed write and a power cut together may leave a log with a hole, which is refused, as it must be.
for (const [durability, commands, numRuns] of [
  ['fsync', [...common, fail], 40],
  ['write', common, 20],
] as const) {
  test(`figures are those of the records in the ledger, whatever dies when, with durability ${durability}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands([...commands], { maxCommands: 30, size: 'max' }), async (steps) => {
        const real = await LedgerAndFigures.open(durability);
        try {
          const model: Model = { records: [] };
          await fc.asyncModelRun(() => ({ model, real }), steps);
          await real.catchUp();
          assert.equal(real.acknowledged, model.records.length);
          real.fold(real.acknowledged);
          assertFigures(real, model);
          // Figures are ahead of a ledger only if the ledger lost what it had called durable.
          if (durability === 'fsync') assert.equal(real.rebuilds, 0);
        } finally {
          await real.close();
        }
      }),
      { numRuns },
    );
  });
}
