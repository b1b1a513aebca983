import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { WritableLogFile } from '../../src/event-log/log-files.ts';
import { segmentHeaderLength } from '../../src/event-log/log-format.ts';
import type { WritingStep } from './failing-log-files.ts';
import { afterPowerCut, type CrashPoint, checkCrashes, LogRun, type LogRunOptions, nothingKnown } from './log-run.ts';
import { type Fate, SimulatedDisk, type SimulatedLogFiles } from './simulated-disk.ts';

/** `make crash-test` sets the number of random runs, and then also checks every crash point. */
const { LOG_LIVES } = process.env;
const isLongSearch = LOG_LIVES !== undefined;

const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('append'), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('append without waiting') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('next turn') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fail'),
      step: fc.constantFrom('create', 'write', 'datasync', 'rename', 'syncFolder', 'truncate'),
      times: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

/** Crash point at which a run ends, and the fate of each unsynced change. */
const crash = fc.record({
  point: fc.nat(),
  power: fc.boolean(),
  choices: fc.array(fc.record({ kind: fc.nat({ max: 5 }), at: fc.nat() }), { minLength: 1, maxLength: 12 }),
});

type Crash = typeof crash extends fc.Arbitrary<infer Value> ? Value : never;
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

function fateOf({ choices }: Crash): Fate {
  let decided = 0;
  return ({ length }) => {
    const { kind, at } = choices[decided++ % choices.length]!;
    const offset = at % (length + 1);
    return (
      [
        [0, 0],
        [0, 0],
        [0, length],
        [0, offset],
        [offset, length],
        [length, length],
      ] as const
    )[kind]!;
  };
}

async function runCommands(run: LogRun, commands: readonly Command[]): Promise<void> {
  for (const item of commands) {
    if (item.kind === 'append') run.append(item.count);
    if (item.kind === 'append without waiting') run.appendWithoutWaiting();
    if (item.kind === 'next turn') await new Promise(setImmediate);
    if (item.kind === 'wait') await run.waitForAppends();
    if (item.kind === 'fail') run.files.fail(item.step, item.times);
  }
  await run.waitForAppends();
  await run.close();
}

for (const durability of ['fsync', 'write'] as const) {
  // Without syncs, a write error and a power cut together may leave a gap, and such a log is rejected as damaged.
  const commands = fc.array(durability === 'fsync' ? command : command.filter(({ kind }) => kind !== 'fail'), {
    maxLength: 12,
  });
  const runs = fc.array(fc.record({ commands, crash }), { minLength: 1, maxLength: 4 });

  test(`loses no acknowledged record over repeated crashes on one disk, with durability ${durability}`, async () => {
    await fc.assert(
      fc.asyncProperty(runs, fc.constantFrom(400, 1_500), async (runs, segmentBytesMax) => {
        const options: LogRunOptions = { durability, segmentBytesMax };
        let disk = new SimulatedDisk();
        let known = nothingKnown;
        for (const { commands, crash } of runs) {
          const run = await LogRun.open(disk, known, options);
          await runCommands(run, commands);
          const point = run.crashPoints[crash.point % run.crashPoints.length]!;
          disk = crash.power ? point.disk.afterPowerCut(fateOf(crash)) : point.disk;
          known = crash.power ? afterPowerCut(point.known) : point.known;
        }
        await LogRun.open(disk, known, options);
      }),
      { numRuns: Number(LOG_LIVES ?? 100) },
    );
  });
}

type Scenario = (run: LogRun) => Promise<void>;

/** Groups of different sizes, records during a write, and several segments, without errors. */
const withoutErrors: Scenario = async (run) => {
  for (const count of [1, 3, 1, 6]) {
    run.append(count);
    await run.waitForAppends();
  }
  run.appendWithoutWaiting();
  run.append(2);
  await new Promise(setImmediate);
  run.append(1);
  run.appendWithoutWaiting();
  await run.waitForAppends();
};

/** One error, after which the log continues in a new segment. */
const withFailed = (step: WritingStep): Scenario => {
  return async (run) => {
    run.append(2);
    await run.waitForAppends();
    // After a failed write, the log creates a new segment, which takes the other steps.
    if (step !== 'datasync' && step !== 'truncate') run.files.fail('write', 1);
    run.files.fail(step, 1);
    for (const count of [2, 3]) {
      run.append(count);
      await run.waitForAppends();
      await run.waitUntilAvailable();
    }
    assert.equal(run.files.failuresLeft(step), 0);
  };
};

/** The log becomes unavailable twice, and is closed while it is unavailable. */
const whileFailing = (step: WritingStep): Scenario => {
  return async (run) => {
    run.append(1);
    await run.waitForAppends();
    for (const times of [3, 1_000]) {
      run.files.fail('write', 1);
      run.files.fail(step, times);
      run.append(2);
      run.appendWithoutWaiting();
      await run.waitForAppends();
      if (times === 3) await run.waitUntilAvailable();
    }
  };
};

/** Returns the crash points of a run and of the next run on the same disk. */
async function recordCrashPoints(scenario: Scenario, options: LogRunOptions = {}): Promise<CrashPoint[]> {
  const first = await LogRun.open(new SimulatedDisk(), nothingKnown, options);
  await scenario(first);
  await first.close();
  const second = await LogRun.open(first.disk, first.known, options);
  second.append(1);
  await second.waitForAppends();
  return [...first.crashPoints, ...second.crashPoints];
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'without errors': withoutErrors,
  'with a failed write': withFailed('write'),
  'with a failed sync': withFailed('datasync'),
  'with a failed creation of a segment': withFailed('create'),
  'with a failed rename of a segment': withFailed('rename'),
  'with a failed sync of the folder': withFailed('syncFolder'),
  'with a failed removal of the preallocated zeros': withFailed('truncate'),
  'while the disk is full': whileFailing('write'),
  'while no file can be synced': whileFailing('datasync'),
  'while the folder cannot be synced': whileFailing('syncFolder'),
};

for (const [index, [name, scenario]] of Object.entries(scenarios).entries()) {
  const isComplete = isLongSearch || scenario === withoutErrors;
  test(`a log ${name} neither loses nor adds a record after a crash at ${isComplete ? 'any' : 'every tenth'} point`, async () => {
    const points = await recordCrashPoints(scenario);
    const recoveries = await checkCrashes(points.filter((_, at) => isComplete || at % 10 === index));
    assert.ok(recoveries > (isComplete ? 1_000 : 100), `${recoveries}`);
  });
}

test('with durability "write", no record is lost if the process is killed, and the log still opens after a power failure', async () => {
  const options = { durability: 'write' } as const;
  const points = await recordCrashPoints(withoutErrors, options);
  await checkCrashes(isLongSearch ? points : points.filter((_, at) => at % 5 === 0), options);
});

/** Steps of the log that are necessary only for durability; the scenario and the error that reveal their absence. */
const durableSteps: Readonly<Record<string, { scenario?: Scenario; options?: LogRunOptions; error?: RegExp }>> = {
  'sync of a group of records': {},
  'sync of the header of a new segment': { error: /shorter than its header/ },
  'sync of the folder after a new segment': {},
  'sync of the last segment during recovery': {},
  // After a failed sync, another sync writes nothing.
  'repeated write of the last group during recovery': { scenario: withFailed('datasync') },
  // A segment whose groups were synced needs no sync when it is complete.
  'sync of a complete segment': { options: { durability: 'write' }, error: /missing or incomplete/ },
};
type DurableStep = keyof typeof durableSteps;

/** Makes the file operations omit one durable step and report it as done. */
function omitStep(files: SimulatedLogFiles, omitted: DurableStep): void {
  const wrap = (file: WritableLogFile, isCreated: boolean): WritableLogFile => {
    let next: DurableStep = isCreated ? 'sync of a complete segment' : 'sync of the last segment during recovery';
    return {
      write: async (source, length, position) => {
        const isHeader = position < segmentHeaderLength;
        if (isCreated) next = isHeader ? 'sync of the header of a new segment' : 'sync of a group of records';
        else if (omitted === 'repeated write of the last group during recovery') return;
        await file.write(source, length, position);
      },
      datasync: async () => {
        const step = next;
        if (isCreated) next = 'sync of a complete segment';
        if (step !== omitted) await file.datasync();
      },
      writeAndSync: (...part) =>
        omitted === 'sync of a group of records' ? file.write(...part) : file.writeAndSync(...part),
      truncate: async (length) => {
        if (isCreated) next = 'sync of a complete segment';
        await file.truncate(length);
      },
      close: () => file.close(),
    };
  };
  const create = files.createFile.bind(files);
  const openForWriting = files.openForWriting.bind(files);
  const syncFolder = files.syncFolder.bind(files);
  files.createFile = async (path) => wrap(await create(path), true);
  files.openForWriting = async (path) => wrap(await openForWriting(path), false);
  files.syncFolder = async (folder) => {
    if (omitted !== 'sync of the folder after a new segment') await syncFolder(folder);
  };
}

for (const [step, { scenario = withoutErrors, options, error = /acknowledged records/ }] of Object.entries(
  durableSteps,
)) {
  test(`checkCrashes detects a log that omits the ${step}`, {
    skip: !isLongSearch && 'only in make crash-test',
  }, async () => {
    const omitting: LogRunOptions = { ...options, changeFiles: (files) => omitStep(files, step) };
    const points = await recordCrashPoints(scenario, omitting);
    await assert.rejects(checkCrashes(points, omitting), { message: error });
  });
}
