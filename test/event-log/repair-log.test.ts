import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { LogFiles, WritableLogFile } from '../../src/event-log/log-files.ts';
import { nodeLogFiles } from '../../src/event-log/log-files.ts';
import { segmentHeaderBytes } from '../../src/event-log/log-format.ts';
import type { LogLocation } from '../../src/event-log/log-scanner.ts';
import { countRecordsAfterCut, type RepairPlan, repairLog, validateCut } from '../../src/event-log/repair-log.ts';
import { verifyLog } from '../../src/event-log/verify-log.ts';
import {
  appendOneByOne,
  appendTogether,
  openLog,
  plain,
  positionOf,
  recordsUpTo,
  recoveredRecords,
  removeEndMark,
  segmentFiles,
} from './log-fixture.ts';

/**
 * A closed log of three segments in a data folder of its own: records 1 to 5, 6 to 10 and 11 to 15, each segment in three groups.
 */
async function damagedLog(t: TestContext, damage: (files: string[]) => LogLocation) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'repair-log-'));
  t.after(() => rmSync(dataFolder, { recursive: true }));
  const folder = join(dataFolder, 'ledger');
  for (let i = 0; i < 3; i++) {
    const log = await openLog(folder);
    await appendOneByOne(log, 2);
    await Promise.all(appendTogether(log, 3));
    await log.close();
  }
  const place = damage(segmentFiles(folder));
  return { dataFolder, folder, place };
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at]! ^= 0x55;
  writeFileSync(file, bytes);
}

/** Where a record of a segment ends. */
function endOf(file: string, position: number): number {
  const walk: number[] = [];
  const bytes = readFileSync(file);
  for (let at = segmentHeaderBytes; at < bytes.length; ) {
    const word = bytes.readUInt32BE(at);
    at += 8 + (word & 0x7fff_ffff) + (word >= 0x8000_0000 ? 12 : 0);
    walk.push(at);
  }
  return walk[position - 1]!;
}

/** What each damage leaves of fifteen records, and how many of those behind it can be read. */
const damages: readonly {
  readonly name: string;
  readonly damage: (files: string[]) => LogLocation;
  readonly kept: number;
  readonly readable: number;
}[] = [
  {
    name: 'a record in the middle',
    damage: ([, file]) => {
      const offset = endOf(file!, 1);
      flip(file!, offset + 30);
      return { file: file!, offset };
    },
    kept: 6,
    readable: 8,
  },
  {
    name: 'the last record of a segment that another follows',
    damage: ([, file]) => {
      const offset = endOf(file!, 4);
      flip(file!, offset + 10);
      return { file: file!, offset };
    },
    kept: 9,
    readable: 5,
  },
  {
    name: 'the first record of all',
    damage: ([file]) => {
      flip(file!, segmentHeaderBytes + 25);
      return { file: file!, offset: segmentHeaderBytes };
    },
    kept: 0,
    readable: 14,
  },
  {
    name: 'a synced record of the last segment',
    damage: ([, , file]) => {
      flip(file!, segmentHeaderBytes + 25);
      return { file: file!, offset: segmentHeaderBytes };
    },
    kept: 10,
    readable: 4,
  },
  {
    name: 'the last record of a closed log',
    damage: ([, , file]) => {
      const offset = endOf(file!, 4);
      flip(file!, offset + 10);
      return { file: file!, offset };
    },
    kept: 14,
    readable: 0,
  },
  {
    name: 'the header of a segment',
    damage: ([, file]) => {
      flip(file!, 3);
      return { file: file!, offset: 0 };
    },
    kept: 5,
    readable: 10,
  },
  {
    name: 'the header of the first segment',
    damage: ([file]) => {
      flip(file!, 20);
      return { file: file!, offset: 0 };
    },
    kept: 0,
    readable: 15,
  },
  {
    name: 'a segment that is gone',
    damage: ([first, second]) => {
      rmSync(second!);
      return { file: first!, offset: statSync(first!).size };
    },
    kept: 5,
    readable: 5,
  },
  {
    name: 'the header of a segment after one with records that it repeats',
    damage: ([first, second]) => {
      // As a failed sync leaves it: the second segment holds what the first one held last.
      const repeated = readFileSync(second!).subarray(segmentHeaderBytes, endOf(second!, 2));
      writeFileSync(first!, repeated, { flag: 'a' });
      flip(second!, 0);
      return { file: second!, offset: 0 };
    },
    kept: 5,
    readable: 10,
  },
];

async function planFor(folder: string, place: LogLocation): Promise<RepairPlan> {
  const verdict = validateCut(nodeLogFiles, await verifyLog(nodeLogFiles, folder), place);
  assert.equal(verdict.kind, 'damage');
  return (verdict as { plan: RepairPlan }).plan;
}

/** Content of every file by name, in all folders. */
function contents(...folders: string[]): Map<string, Buffer> {
  return new Map(
    folders
      .filter((folder) => existsSync(folder))
      .flatMap((folder) => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))] as const)),
  );
}

for (const { name, damage, kept, readable } of damages) {
  test(`damage to ${name}: repair keeps earlier records, copies later records unchanged, and appends succeed`, async (t) => {
    const { dataFolder, folder, place } = await damagedLog(t, damage);
    const before = contents(folder);
    const plan = await planFor(folder, place);
    assert.equal(plan.position, kept);
    assert.deepEqual(countRecordsAfterCut(nodeLogFiles, plan), { records: readable, position: 15 });

    const removed = join(dataFolder, 'ledger-removed');
    await repairLog(nodeLogFiles, plan, removed);
    const aside = contents(removed);
    for (const [file, bytes] of before) {
      const stays = existsSync(join(folder, file)) ? readFileSync(join(folder, file)) : Buffer.alloc(0);
      const rest = [...aside].find(([other]) => other === file || other.startsWith(`${file}.from-`));
      assert.ok(Buffer.concat([stays, rest?.[1] ?? Buffer.alloc(0)]).equals(bytes), file);
      if (rest !== undefined && rest[0] !== file) assert.equal(rest[0], `${file}.from-${stays.length}`);
    }

    assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(kept)));
    const log = await openLog(folder);
    await appendOneByOne(log, 3);
    await log.close();
    assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(kept + 3)));
  });

  test(`damage to ${name}: the next repair completes a repair that was stopped at any step, without loss`, async (t) => {
    let steps = 0;
    for (let stopAt = 1; stopAt <= steps + 1; stopAt++) {
      const { dataFolder, folder, place } = await damagedLog(t, damage);
      const before = contents(folder);
      const stopping = new StoppingLogFiles(stopAt);
      const [one, two] = ['one', 'two'].map((name) => join(dataFolder, name)) as [string, string];
      await repairLog(stopping.files, await planFor(folder, place), one).catch((error) =>
        assert.ok(error instanceof Stopped),
      );
      steps = Math.max(steps, stopping.steps);
      if (stopAt > steps) break;

      const verdict = validateCut(nodeLogFiles, await verifyLog(nodeLogFiles, folder), place);
      if (verdict.kind === 'damage') await repairLog(nodeLogFiles, verdict.plan, two);
      else assert.equal(verdict.kind, 'done', `step ${stopAt}`);
      const after = contents(folder);
      assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(kept)), `step ${stopAt}`);
      const aside = contents(one, two);
      for (const [file, bytes] of before) {
        const stays = after.get(file) ?? Buffer.alloc(0);
        const rest =
          stays.length < bytes.length ? (aside.get(file) ?? aside.get(`${file}.from-${stays.length}`)) : null;
        assert.ok(Buffer.concat([stays, rest ?? Buffer.alloc(0)]).equals(bytes), `${file} after step ${stopAt}`);
      }
    }
    assert.ok(steps >= 4);
  });
}

test('does not cut a damaged log at another position', async (t) => {
  const { folder, place } = await damagedLog(t, damages[0]!.damage);
  const check = await verifyLog(nodeLogFiles, folder);
  const elsewhere: LogLocation[] = [
    { file: place.file, offset: 0 },
    { file: place.file, offset: place.offset + 1 },
    { file: join(folder, '0000000000000011.log'), offset: 0 },
    { file: join(dirname(folder), basename(place.file)), offset: place.offset },
  ];
  for (const cut of elsewhere) {
    const verdict = validateCut(nodeLogFiles, check, cut);
    assert.equal(verdict.kind, 'elsewhere', `${cut.file}:${cut.offset}`);
  }
});

test('does not cut an undamaged log at any position', async (t) => {
  const { folder } = await damagedLog(t, ([file]) => ({ file: file!, offset: 0 }));
  const check = await verifyLog(nodeLogFiles, folder);
  const judge = (file: string, offset: number) => validateCut(nodeLogFiles, check, { file, offset }).kind;
  const [first, second, last] = segmentFiles(folder) as [string, string, string];
  assert.deepEqual(
    [judge(first, 0), judge(second, 0), judge(second, statSync(second).size), judge(last, segmentHeaderBytes)],
    Array(4).fill('no-damage'),
  );
  const next = join(folder, '0000000000000016.log');
  assert.deepEqual([judge(next, segmentHeaderBytes), judge(next, 0)], ['done', 'done']);
  removeEndMark(folder);
  const crashed = await verifyLog(nodeLogFiles, folder);
  for (const end of [
    { file: last, offset: statSync(last).size },
    { file: next, offset: 0 },
  ]) {
    assert.equal(validateCut(nodeLogFiles, crashed, end).kind, 'done');
  }
});

test('passes the records after the damage to the callback', async (t) => {
  const { folder, place } = await damagedLog(t, damages[0]!.damage);
  const seen: number[] = [];
  const behind = countRecordsAfterCut(nodeLogFiles, await planFor(folder, place), (record) =>
    seen.push(positionOf(record)),
  );
  assert.deepEqual(seen, [8, 9, 10, 11, 12, 13, 14, 15]);
  assert.deepEqual(behind, { records: 8, position: 15 });
});

class Stopped extends Error {}

/** The real file system up to its nth step that changes something, which is done by half; from there on, nothing works. */
class StoppingLogFiles {
  steps = 0;
  readonly #stopAt: number;

  constructor(stopAt: number) {
    this.#stopAt = stopAt;
  }

  get files(): LogFiles {
    return {
      ...nodeLogFiles,
      createFolder: (folder) => {
        this.#step();
        nodeLogFiles.createFolder(folder);
      },
      create: async (path) => {
        this.#step();
        return this.#file(await nodeLogFiles.create(path));
      },
      openForWriting: async (path) => this.#file(await nodeLogFiles.openForWriting(path)),
      rename: async (from, to) => {
        this.#step();
        await nodeLogFiles.rename(from, to);
      },
      remove: () => assert.fail('nothing is removed'),
      syncFolder: async (folder) => {
        this.#step();
        await nodeLogFiles.syncFolder(folder);
      },
    };
  }

  #file(file: WritableLogFile): WritableLogFile {
    return {
      write: async (source, length, position) => {
        try {
          this.#step();
        } catch (stopped) {
          if (this.steps === this.#stopAt) await file.write(source, Math.floor(length / 2), position);
          throw stopped;
        }
        await file.write(source, length, position);
      },
      datasync: async () => {
        this.#step();
        await file.datasync();
      },
      writeAndSync: () => assert.fail('nothing is stored at once'),
      truncate: async (length) => {
        this.#step();
        await file.truncate(length);
      },
      close: () => file.close(),
    };
  }

  #step(): void {
    if (++this.steps >= this.#stopAt) throw new Stopped();
  }
}
