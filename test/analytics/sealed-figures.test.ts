import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ArchiveRecord } from '../../src/analytics/counter-archive.ts';
import { type ArchivedCounters, ArchiveWriteError, CounterArchive } from '../../src/analytics/counter-archive.ts';
import { nodeLogFiles } from '../../src/event-log/log-files.ts';
import { LogDamagedError } from '../../src/event-log/segment-reader.ts';
import { verifyLog } from '../../src/event-log/verify-log.ts';

/** Counters of one experiment with one day. */
function counters(day: number, tag = 'tag-one'): ArchiveRecord[] {
  return [
    [12, [1, 1, 0, tag]],
    [13, [day, 2, 30, 20, 10, 5_000_000, 4_000_000, '9223372036854775807']],
    [13, [day, 3, 30, 20, 10, 5_000_000, 4_000_000, '0'], [1, 0, 2, 0, 0, 0, 7]],
    [14, [day, 'Lender of a', 10, 4_000_000]],
  ];
}

describe('sealed figures', () => {
  let root: string;
  let folder: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'sealed-figures-'));
    folder = join(root, 'sealed');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const seal = (untilDay: number, ledgerFromPosition: number) =>
    new CounterArchive(folder).append(
      { wallMs: untilDay * 1_000, untilDay, ledgerFromPosition: ledgerFromPosition },
      counters(untilDay - 1) as unknown as ArchivedCounters,
    );
  const files = () =>
    readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));

  it('are none at first', () => {
    const sealed = new CounterArchive(folder);
    assert.deepEqual([sealed.retainedFromDay, sealed.ledgerFromPosition, [...sealed.readAll()]], [0, 1, []]);
  });

  it('are read back as they were sealed, one sealing after the other', () => {
    seal(100, 7);
    seal(101, 7);
    const third = new CounterArchive(folder);
    third.append({ wallMs: 5, untilDay: 140, ledgerFromPosition: 900 }, []);
    assert.deepEqual([third.retainedFromDay, third.ledgerFromPosition], [140, 900]);
    const sealed = new CounterArchive(folder);
    assert.deepEqual([sealed.retainedFromDay, sealed.ledgerFromPosition], [140, 900]);
    const expected = [
      [11, 100_000, 0, 100, 7],
      ...counters(99),
      [15],
      [11, 101_000, 100, 101, 7],
      ...counters(100),
      [15],
      [11, 5, 101, 140, 900],
      [15],
    ];
    assert.deepEqual([...sealed.readAll()], expected);
    assert.deepEqual([...third.readAll()], expected);
  });

  it('hold many counters in pieces of bounded size', () => {
    const tags = Array.from({ length: 3_000 }, (_, i) => `tag-${i}`);
    const all = tags.flatMap((tag) => counters(9, tag));
    new CounterArchive(folder).append(
      { wallMs: 1, untilDay: 10, ledgerFromPosition: 1 },
      all as unknown as ArchivedCounters,
    );
    assert.deepEqual([...new CounterArchive(folder).readAll()].slice(1, -1), all);
  });

  it('are refused when a byte of them is another one, or missing, wherever that is', () => {
    seal(100, 7);
    seal(101, 9);
    for (const file of files()) {
      const whole = readFileSync(file);
      for (let at = 0; at < whole.length; at++) {
        const changed = Buffer.from(whole);
        changed[at]! ^= 1;
        for (const [bytes, what] of [
          [changed, 'changed'],
          [whole.subarray(0, at), 'cut'],
        ] as const) {
          writeFileSync(file, bytes);
          assert.throws(() => [...new CounterArchive(folder).readAll()], LogDamagedError, `${file} ${what} at ${at}`);
        }
      }
      writeFileSync(file, whole);
    }
  });

  it('end as a closed log does, so that whoever checks any log finds out the same', async () => {
    seal(100, 7);
    const [file] = files();
    truncateSync(file!, statSync(file!).size - 1);
    assert.equal((await verifyLog(nodeLogFiles, folder)).damage?.file, file);
  });

  it('of an earlier version, without that end, are read and continued', () => {
    seal(100, 7);
    rmSync(files()[1]!);
    assert.equal(new CounterArchive(folder).ledgerFromPosition, 7);
    seal(101, 9);
    assert.equal(new CounterArchive(folder).ledgerFromPosition, 9);
    rmSync(files()[2]!);
    assert.equal(new CounterArchive(folder).ledgerFromPosition, 9);
  });

  it('are refused when an older sealing is missing', () => {
    for (const [day, from] of [
      [100, 1],
      [101, 1],
      [102, 1],
    ] as const) {
      seal(day, from);
    }
    const [first, second] = files();
    for (const file of [first!, second!]) {
      const whole = readFileSync(file);
      rmSync(file);
      assert.throws(() => [...new CounterArchive(folder).readAll()], LogDamagedError);
      writeFileSync(file, whole);
    }
    assert.equal([...new CounterArchive(folder).readAll()].length, 18);
  });

  it('are refused when whole records are no sealing', () => {
    for (const [what, records] of [
      ['counters that end', [[14, [1, 'x', -1, 0]]]],
      ['another kind', [[99]]],
      ['an opening in the middle', [[11, 1, 0, 5, 1]]],
      ['a sum beyond 64 bits', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '9223372036854775808']]]],
      ['events that are no list', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '0'], 5]]],
      ['events that are no counts', [counters(9)[0], [13, [9, 0, 1, 1, 1, 1, 1, '0'], [1, -1]]]],
      ['a counter of nobody', [[14, [9, 'x', 1, 0]]]],
      ['a counter of a day that is not sealed', counters(10)],
    ] as const) {
      rmSync(folder, { recursive: true, force: true });
      const sealed = new CounterArchive(folder);
      const wrong = records as unknown as ArchivedCounters;
      assert.throws(
        () => sealed.append({ wallMs: 1, untilDay: 10, ledgerFromPosition: 1 }, wrong),
        LogDamagedError,
        what,
      );
    }
  });

  it('are not made when the system does not take them, and are when it does', () => {
    writeFileSync(folder, 'a file where the folder is to be');
    const sealed = new CounterArchive(join(folder, 'below'));
    const sealing = { wallMs: 1, untilDay: 100, ledgerFromPosition: 8 };
    assert.throws(() => sealed.append(sealing, []), ArchiveWriteError);
    assert.deepEqual([sealed.retainedFromDay, sealed.ledgerFromPosition, [...sealed.readAll()]], [0, 1, []]);
    rmSync(folder);
    sealed.append(sealing, []);
    assert.deepEqual([sealed.retainedFromDay, sealed.ledgerFromPosition], [100, 8]);
  });

  it('leave nothing behind when their counters cannot be had', () => {
    seal(100, 7);
    const before = files();
    const sealed = new CounterArchive(folder);
    const broken = (function* (): ArchivedCounters {
      yield [12, [1, 1, 0, 'tag-one']];
      throw new Error('the store is damaged');
    })();
    assert.throws(
      () => sealed.append({ wallMs: 1, untilDay: 101, ledgerFromPosition: 8 }, broken),
      /the store is damaged/,
    );
    assert.deepEqual(files(), before);
    assert.equal(sealed.retainedFromDay, 100);
  });

  it('do not mind what a killed sealing has left', () => {
    seal(100, 7);
    writeFileSync(join(folder, '0000000000000007.log.new'), 'half');
    seal(101, 8);
    assert.equal(new CounterArchive(folder).retainedFromDay, 101);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.endsWith('.new')),
      [],
    );
  });
});
