import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import type { ArchivedCounters, ArchiveRecord } from '../../src/analytics/archive-record.ts';
import { ArchiveWriteError, CounterArchive } from '../../src/analytics/counter-archive.ts';
import { nodeFileSystem } from '../../src/event-log/log-files.ts';
import { LogDamagedError } from '../../src/event-log/segment-reader.ts';
import { verifyLog } from '../../src/event-log/verify-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { archiveCounters } from './archive-days.ts';

/** Counters of one tag and day. */
function counters(day: number, tag = 'tag-one'): ArchiveRecord[] {
  return [
    [12, [1, 1, 0, tag]],
    [13, [day, 2, 30, 20, 10, 5_000_000, 4_000_000, '9223372036854775807']],
    [13, [day, 3, 30, 20, 10, 5_000_000, 4_000_000, '0', 9, null, day * 86_400_000], [1, 0, 2, 0, 0, 0, 7]],
    [14, [day, 'Lender of a', 10, 4_000_000]],
    [14, [day, 'Lender of a', 10, 4_000_000, 'a', 5_000_000]],
    [21, [day, 'a', 2, 300, 0, 7]],
  ];
}

describe('counter archive', () => {
  let root: string;
  let folder: string;

  beforeEach(() => {
    root = temporaryFolder();
    folder = join(root, 'sealed');
  });

  const append = (untilDay: number, ledgerStartPosition: number, records = counters(untilDay - 1)) =>
    archiveCounters(
      new CounterArchive(folder),
      { wallMs: untilDay * 1_000, untilDay, ledgerStartPosition: ledgerStartPosition, hasOffers: true },
      records as unknown as ArchivedCounters,
    );
  const files = () =>
    readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));

  it('reads the segments of the counter archive in chronological order', () => {
    append(100, 7);
    append(101, 7);
    const third = new CounterArchive(folder);
    archiveCounters(third, { wallMs: 5, untilDay: 140, ledgerStartPosition: 900, hasOffers: false }, []);
    assert.deepEqual([third.firstRetainedDay, third.ledgerStartPosition], [140, 900]);
    const archive = new CounterArchive(folder);
    assert.deepEqual([archive.firstRetainedDay, archive.ledgerStartPosition], [140, 900]);
    const expected = [
      [11, 100_000, 0, 100, 7, true],
      ...counters(99),
      [15],
      [11, 101_000, 100, 101, 7, true],
      ...counters(100),
      [15],
      [11, 5, 101, 140, 900, false],
      [15],
    ];
    assert.deepEqual([...archive.readAll()], expected);
    assert.deepEqual([...third.readAll()], expected);
  });

  it('writes archive segments larger than one buffer', () => {
    const tags = Array.from({ length: 3_000 }, (_, i) => `tag-${i}`);
    const all = tags.flatMap((tag) => counters(9, tag));
    append(10, 1, all);
    assert.deepEqual([...new CounterArchive(folder).readAll()].slice(1, -1), all);
  });

  it('rejects an archive file that is truncated or has one changed byte', () => {
    append(100, 7);
    append(101, 9);
    for (const file of files()) {
      const whole = readFileSync(file);
      for (let offset = 0; offset < whole.length; offset++) {
        const changed = Buffer.from(whole);
        changed[offset]! ^= 1;
        for (const [bytes, what] of [
          [changed, 'changed'],
          [whole.subarray(0, offset), 'cut'],
        ] as const) {
          writeFileSync(file, bytes);
          assert.throws(
            () => [...new CounterArchive(folder).readAll()],
            LogDamagedError,
            `${file} ${what} at ${offset}`,
          );
        }
      }
      writeFileSync(file, whole);
    }
  });

  it('`log verify` reports the archive as a cleanly closed log', async () => {
    append(100, 7);
    const [file] = files();
    truncateSync(file!, statSync(file!).size - 1);
    assert.equal((await verifyLog(nodeFileSystem, folder)).damage?.file, file);
  });

  it('an archive without its last segment can be read and extended', () => {
    append(100, 7);
    rmSync(files()[1]!);
    assert.equal(new CounterArchive(folder).ledgerStartPosition, 7);
    append(101, 9);
    assert.equal(new CounterArchive(folder).ledgerStartPosition, 9);
    rmSync(files()[2]!);
    assert.equal(new CounterArchive(folder).ledgerStartPosition, 9);
  });

  it('rejects an archive if one of its older segments is missing', () => {
    for (const day of [100, 101, 102]) append(day, 1);
    const [first, second] = files();
    for (const file of [first!, second!]) {
      const whole = readFileSync(file);
      rmSync(file);
      assert.throws(() => [...new CounterArchive(folder).readAll()], LogDamagedError);
      writeFileSync(file, whole);
    }
    assert.equal([...new CounterArchive(folder).readAll()].length, 24);
  });

  it('rejects an archive with invalid records', () => {
    const experiment = [16, [1, 1, 0, 'x'], ['{}', 1, 1, 1, 1]] as const;
    for (const [what, records] of [
      ['a negative counter', [[14, [1, 'x', -1, 0]]]],
      ['an unknown kind', [[99]]],
      ['a second header', [[11, 1, 0, 5, 1]]],
      ['a sum that is not an integer', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1.5, 1, '0']]]],
      ['a large sum that is not an integer', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '1.5']]]],
      ['a negative number of sessions', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '0', -1]]]],
      ['a time that is no number', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '0', null, 'noon']]]],
      ['events that are not a list', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '0'], 5]]],
      ['reasons that are not a list', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '0'], [], 5]]],
      ['a negative reason count', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '0'], [], [1, -1]]]],
      ['a negative event count', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '0'], [1, -1]]]],
      ['an offer without revenue', [counters(9)[0], [14, [9, 'x', 1, 0, 'a']]]],
      ['a negative number of views', [counters(9)[0], [21, [9, 'a', 0, 1, -1]]]],
      ['views of an offer without an id', [counters(9)[0], [21, [9, 5, 0, 1]]]],
      ['a header with a number in place of a truth value', [[11, 1, 0, 5, 1, 1]]],
      ['views without a tag', [[21, [9, 'a', 0, 1]]]],
      ['views of another day', [counters(9)[0], [21, [10, 'a', 0, 1]]]],
      ['a counter without a tag', [[14, [9, 'x', 1, 0]]]],
      ['a counter of another day', counters(10)],
      ['an experiment without a definition', [[16, [1, 1, 0, 'x']]]],
      ['an experiment without positions', [[16, [1, 1, 0, 'x'], ['{}', 1]]]],
      ['an invalid closing', [[16, [1, 1, 0, 'x'], ['{}', 1, 1, 1, 1], ['{}', 1, 1]]]],
      ['figures without an experiment', [[18, [9, 0, 0, 1]]]],
      ['figures of another day', [experiment, [18, [10, 0, 0, 1]]]],
      ['a negative sum', [experiment, [17, [9, 0, 0], [-1], ['1', '1']]]],
      ['a large sum that is a number', [experiment, [17, [9, 0, 0], [1], [1, 1]]]],
      ['a negative age', [experiment, [18, [9, 0, -1, 1]]]],
      ['a visitor with a short hash', [experiment, [19, [9, 0, 1], Buffer.alloc(8), Buffer.alloc(2)]]],
      ['revenue without a session', [experiment, [20, [9, 0, null, 1]]]],
    ] as const) {
      rmSync(folder, { recursive: true, force: true });
      assert.throws(() => append(10, 1, records as unknown as ArchiveRecord[]), LogDamagedError, what);
    }
  });

  it('a failed write leaves the archive unchanged, and a retry succeeds', () => {
    writeFileSync(folder, 'a file in place of the folder');
    const archive = new CounterArchive(join(folder, 'below'));
    const range = { wallMs: 1, untilDay: 100, ledgerStartPosition: 8, hasOffers: true };
    assert.throws(() => archiveCounters(archive, range, []), ArchiveWriteError);
    assert.deepEqual([archive.firstRetainedDay, archive.ledgerStartPosition, [...archive.readAll()]], [0, 1, []]);
    rmSync(folder);
    archiveCounters(archive, range, []);
    assert.deepEqual([archive.firstRetainedDay, archive.ledgerStartPosition], [100, 8]);
  });

  it('a failed append to the archive leaves no new files', () => {
    append(100, 7);
    const before = files();
    const archive = new CounterArchive(folder);
    const broken = (function* (): ArchivedCounters {
      yield [12, [1, 1, 0, 'tag-one']];
      throw new Error('the store is damaged');
    })();
    assert.throws(
      () => archiveCounters(archive, { wallMs: 1, untilDay: 101, ledgerStartPosition: 8, hasOffers: true }, broken),
      /the store is damaged/,
    );
    assert.deepEqual(files(), before);
    assert.equal(archive.firstRetainedDay, 100);
  });

  it('ignores the temporary archive file of a killed process', () => {
    append(100, 7);
    writeFileSync(join(folder, '0000000000000009.log.new'), 'half');
    append(101, 8);
    assert.equal(new CounterArchive(folder).firstRetainedDay, 101);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.new')),
      [],
    );
  });
});
