import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nodeFileSystem } from '../../src/event-log/log-files.ts';
import { segmentFileName, segmentHeaderLength } from '../../src/event-log/log-format.ts';
import type { LogLocation } from '../../src/event-log/log-scanner.ts';
import {
  countTruncatedRecords,
  type RepairPlan,
  repairLog,
  validateTruncation,
} from '../../src/event-log/repair-log.ts';
import { verifyLog } from '../../src/event-log/verify-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { FailingLogFiles } from './failing-log-files.ts';
import {
  appendOneByOne,
  damageByte,
  openLog,
  plain,
  positionOf,
  recordEnds,
  recordsUpTo,
  recoveredRecords,
  removeEndMark,
  segmentFiles,
  upTo,
  writeLog,
} from './log-fixture.ts';

type Damage = (segments: readonly string[]) => LogLocation;

/** Damages a byte of a record. The segment is given by its index, the record by the number of records before it. */
function damageRecord(segment: number, recordsBefore: number, byte: number): Damage {
  return (segments) => {
    const file = segments[segment]!;
    const offset = [segmentHeaderLength, ...recordEnds(file)][recordsBefore]!;
    damageByte(file, offset + byte);
    return { file, offset };
  };
}

function damageHeader(segment: number, byte: number): Damage {
  return (segments) => {
    damageByte(segments[segment]!, byte);
    return { file: segments[segment]!, offset: 0 };
  };
}

/** Damages of a closed log with records 1-5, 6-10 and 11-15, and how many records precede the damage and can be read after it. */
const damages: readonly (readonly [name: string, damage: Damage, before: number, readable: number])[] = [
  ['a record in the middle', damageRecord(1, 1, 30), 6, 8],
  ['the last record of a segment before another', damageRecord(1, 4, 10), 9, 5],
  ['the first record', damageRecord(0, 0, 25), 0, 14],
  ['a synced record of the last segment', damageRecord(2, 0, 25), 10, 4],
  ['the last record of a closed log', damageRecord(2, 4, 10), 14, 0],
  ['the header of a segment', damageHeader(1, 3), 5, 10],
  ['the header of the first segment', damageHeader(0, 20), 0, 15],
  [
    'a missing segment',
    ([first, second]) => {
      rmSync(second!);
      return { file: first!, offset: statSync(first!).size };
    },
    5,
    5,
  ],
  [
    'the header of a segment that repeats records of the segment before it, as after a failed sync',
    ([first, second]) => {
      const repeated = readFileSync(second!).subarray(segmentHeaderLength, recordEnds(second!)[1]);
      writeFileSync(first!, repeated, { flag: 'a' });
      damageByte(second!, 0);
      return { file: second!, offset: 0 };
    },
    5,
    10,
  ],
];

async function createDamagedLog(t: TestContext, damage: Damage) {
  const dataFolder = temporaryFolder(t);
  const folder = join(dataFolder, 'ledger');
  const location = damage(await writeLog(folder, [1, 1, 3], [1, 1, 3], [1, 1, 3]));
  return { dataFolder, folder, location, before: readFiles(folder) };
}

async function validate(folder: string, location: LogLocation) {
  return validateTruncation(nodeFileSystem, await verifyLog(nodeFileSystem, folder), location);
}

async function planRepair(folder: string, location: LogLocation): Promise<RepairPlan> {
  const result = await validate(folder, location);
  assert.equal(result.kind, 'damage');
  return (result as { plan: RepairPlan }).plan;
}

/** Returns the content of all files in the folders by name. */
function readFiles(...folders: string[]): Map<string, Buffer> {
  return new Map(
    folders
      .filter((folder) => existsSync(folder))
      .flatMap((folder) => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))] as const)),
  );
}

/** Checks that every byte of the original files is in the log or in a folder of removed bytes. */
function assertNothingLost(before: Map<string, Buffer>, folder: string, ...removedFolders: string[]): void {
  const [remaining, removed] = [readFiles(folder), readFiles(...removedFolders)];
  for (const [name, bytes] of before) {
    const start = remaining.get(name) ?? Buffer.alloc(0);
    const isWhole = start.length === bytes.length;
    const end = isWhole ? undefined : (removed.get(name) ?? removed.get(`${name}.from-${start.length}`));
    assert.ok(Buffer.concat([start, end ?? Buffer.alloc(0)]).equals(bytes), name);
  }
}

class Stopped extends Error {}

/** Real file operations until a number of steps is complete. The next step writes half of its bytes, or nothing, and fails. */
class StoppingLogFiles extends FailingLogFiles {
  readonly #stepsMax: number;

  constructor(stepsMax: number) {
    super();
    this.#stepsMax = stepsMax;
  }

  protected override check(): void {
    if (this.steps.length >= this.#stepsMax) throw new Stopped();
  }
}

for (const [name, damage, recordsBefore, readable] of damages) {
  test(`a repair of damage to ${name} loses no data, even if the repair is interrupted and then repeated`, async (t) => {
    let isComplete = false;
    let stepsMax = 0;
    for (; !isComplete; stepsMax++) {
      const { dataFolder, folder, location, before } = await createDamagedLog(t, damage);
      const plan = await planRepair(folder, location);
      assert.equal(plan.position, recordsBefore);
      const positions: number[] = [];
      const truncated = countTruncatedRecords(nodeFileSystem, plan, (record) => positions.push(positionOf(record)));
      assert.deepEqual(truncated, { records: readable, position: 15 });
      assert.deepEqual(positions, upTo(15, 16 - readable));

      const [first, second] = [join(dataFolder, 'first'), join(dataFolder, 'second')];
      isComplete = true;
      await repairLog(new StoppingLogFiles(stepsMax), plan, first).catch((error) => {
        assert.ok(error instanceof Stopped);
        isComplete = false;
      });
      const result = await validate(folder, location);
      if (result.kind === 'damage' && !isComplete) await repairLog(nodeFileSystem, result.plan, second);
      else assert.equal(result.kind, 'done', `step ${stepsMax}`);
      assertNothingLost(before, folder, first, second);
      assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(recordsBefore)), `step ${stepsMax}`);

      const log = await openLog(folder);
      await appendOneByOne(log, 3);
      await log.close();
      assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(recordsBefore + 3)));
    }
    assert.ok(stepsMax > 4);
  });
}

test('rejects a repair if the given location is not the location of the damage', async (t) => {
  const { dataFolder, folder, location } = await createDamagedLog(t, damageRecord(1, 1, 30));
  for (const cut of [
    { file: location.file, offset: 0 },
    { file: location.file, offset: location.offset + 1 },
    { file: join(folder, segmentFileName(11)), offset: 0 },
    { file: join(dataFolder, basename(location.file)), offset: location.offset },
  ]) {
    assert.equal((await validate(folder, cut)).kind, 'elsewhere', `${cut.file}:${cut.offset}`);
  }
});

test('rejects a repair of an undamaged log at every location', async (t) => {
  const { folder } = await createDamagedLog(t, ([file]) => ({ file: file!, offset: 0 }));
  const validateAt = async (file: string, offset: number) => (await validate(folder, { file, offset })).kind;
  const [first, second, last] = segmentFiles(folder) as [string, string, string];
  const next = join(folder, segmentFileName(16));
  for (const [file, offset, kind] of [
    [first, 0, 'no-damage'],
    [second, 0, 'no-damage'],
    [second, statSync(second).size, 'no-damage'],
    [last, segmentHeaderLength, 'no-damage'],
    [next, segmentHeaderLength, 'done'],
    [next, 0, 'done'],
  ] as const) {
    assert.equal(await validateAt(file, offset), kind, `${file}:${offset}`);
  }
  removeEndMark(folder);
  assert.equal(await validateAt(last, statSync(last).size), 'done');
  assert.equal(await validateAt(next, 0), 'done');
});
