import { test } from 'node:test';
import fc from 'fast-check';
import { withoutPower } from './crash-check.ts';
import type { LifeOptions } from './log-life.ts';
import { LogLife, nothingKnown } from './log-life.ts';
import type { Fate } from './simulated-disk.ts';
import { SimulatedDisk } from './simulated-disk.ts';

/** `make crash-test` sets a larger number. */
const numRuns = Number(process.env.LOG_LIVES ?? 100);

const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('append'), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('note') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('turn') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fail'),
      step: fc.constantFrom('create', 'write', 'datasync', 'rename', 'syncFolder', 'truncate'),
      times: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

/** Which recorded moment of a life is its last, and what is left of what it had not synced, bit by bit. */
const crash = fc.record({
  moment: fc.nat(),
  power: fc.boolean(),
  choices: fc.array(fc.record({ kind: fc.nat({ max: 5 }), at: fc.nat() }), { minLength: 1, maxLength: 12 }),
});

type Crash = typeof crash extends fc.Arbitrary<infer Value> ? Value : never;
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

function fateOf({ choices }: Crash): Fate {
  let asked = 0;
  return ({ length }) => {
    const { kind, at } = choices[asked++ % choices.length]!;
    if (kind < 2) return [0, 0];
    if (kind === 2) return [0, length];
    const place = at % (length + 1);
    if (kind === 3) return [0, place];
    if (kind === 4) return [place, length];
    return [length, length];
  };
}

async function live(life: LogLife, commands: readonly Command[]): Promise<void> {
  for (const item of commands) {
    if (item.kind === 'append') life.append(item.count);
    if (item.kind === 'note') life.note();
    if (item.kind === 'turn') await new Promise(setImmediate);
    if (item.kind === 'settle') await life.settle();
    if (item.kind === 'fail') life.files.fail(item.step, item.times);
  }
  await life.settle();
  await life.close();
}

for (const durability of ['fsync', 'write'] as const) {
  // Without syncs a failure and a power cut together may leave a log with a hole, which is refused, as it must be.
  const commands = fc.array(durability === 'fsync' ? command : command.filter(({ kind }) => kind !== 'fail'), {
    maxLength: 12,
  });
  const lives = fc.array(fc.record({ commands, crash }), { minLength: 1, maxLength: 4 });

  test(`loses no acknowledged record over repeated crashes on one disk, with durability ${durability}`, async () => {
    const small = fc.constantFrom(400, 1_500);
    await fc.assert(
      fc.asyncProperty(lives, small, async (lives, segmentBytesMax) => {
        const options: LifeOptions = { durability, segmentBytesMax };
        let disk = new SimulatedDisk();
        let known = nothingKnown;
        for (const { commands, crash } of lives) {
          const life = await LogLife.open(disk, known, options);
          await live(life, commands);
          const cut = life.cuts[crash.moment % life.cuts.length]!;
          disk = crash.power ? cut.disk.afterPowerCut(fateOf(crash)) : cut.disk;
          known = crash.power ? withoutPower(cut.known) : cut.known;
        }
        await LogLife.open(disk, known, options);
      }),
      { numRuns },
    );
  });
}
