import { existsSync } from 'node:fs';
import { firstSequences } from '../events/log-format.ts';
import { LogWalk } from '../events/log-walk.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { LogDamaged } from '../events/segment-reader.ts';
import { writeSegment } from '../events/write-segment.ts';
import {
  parseSealedRecord,
  type SealedDay,
  type SealedExperiment,
  type SealedLender,
  type SealedRecord,
  type SealingOpened,
  sealedKind,
} from './sealed-record.ts';

/** The counters of some days, those of an experiment behind its name. */
export type SealedCounters = Iterable<SealedExperiment | SealedDay | SealedLender>;

/**
 * The daily counters of days so old that their sessions, and the part of the ledger that tells of them, are given up: what
 * is left to derive those days from. Together with the retained ledger it makes every figure.
 *
 * A sealing takes the days that follow those of the one before, is durable before anything it stands for goes, and never
 * changes. It is one segment of a log like the ledger, so its chain of checksums shows what was changed or lost, and
 * `marketplace log verify` reads it. Used by one thread.
 */
export class SealedFigures {
  readonly #folder: string;
  #position = 0;
  #crc = 0;
  #keptFromDay = 0;
  #ledgerFrom = 1;

  /** Reads the last sealing; whatever came before it is read when it is asked for. Throws `LogDamaged`. */
  constructor(folder: string) {
    this.#folder = folder;
    if (!existsSync(folder)) return;
    const firsts = firstSequences(nodeLogFiles.list(folder));
    // The last segment is the end mark of the log, unless a crash came before it was written, or an older version sealed.
    const last = firsts.at(-2) ?? firsts.at(-1);
    if (last === undefined) return;
    for (const record of this.#walk(last)) {
      if (record[0] !== sealedKind.opened) continue;
      [, , , this.#keptFromDay, this.#ledgerFrom] = record;
    }
  }

  /** The first day (day number) that is not sealed; 0 before the first sealing. */
  get keptFromDay(): number {
    return this.#keptFromDay;
  }

  /** The position from which the ledger is needed to derive the days that are not sealed. */
  get ledgerFrom(): number {
    return this.#ledgerFrom;
  }

  /** All that was ever sealed, in order. Throws `LogDamaged`, at the latest behind the last record it can read. */
  *records(): Generator<SealedRecord, void> {
    if (this.#position === 0) return;
    let nextDay = 0;
    for (const record of this.#walk(1)) {
      if (record[0] === sealedKind.opened) {
        const [, , fromDay, untilDay] = record;
        if (fromDay !== nextDay) {
          throw new LogDamaged(this.#folder, 0, `a sealing begins with day ${fromDay} instead of ${nextDay}`);
        }
        nextDay = untilDay;
      }
      yield record;
    }
  }

  /**
   * Seals the days from the last sealing up to, and without, `untilDay`, which must be later. Durable when it returns.
   * Throws `SealingFailed`, or what `counters` throws; then nothing counts as sealed, though a next start may find it so.
   */
  seal({ wallMs, untilDay, ledgerFrom }: Sealing, counters: SealedCounters): void {
    const opened: SealingOpened = [sealedKind.opened, wallMs, this.#keptFromDay, untilDay, ledgerFrom];
    const header = { shard: noShard, firstSequence: this.#position + 1, previousCrc: this.#crc };
    try {
      nodeLogFiles.makeFolder(this.#folder);
      writeSegment(this.#folder, header, sealing(opened, counters));
    } catch (error) {
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
      throw new SealingFailed(`${this.#folder}: ${error.message}`, { cause: error });
    }
    // Read back: where it ends, and that what will replace the ledger can be read.
    for (const _ of this.#walk(header.firstSequence));
    this.#markEnd();
    this.#keptFromDay = untilDay;
    this.#ledgerFrom = ledgerFrom;
  }

  /** Ends the log as one that was closed (see log-format.ts), for the commands that check or copy any log. */
  #markEnd(): void {
    try {
      writeSegment(this.#folder, { shard: noShard, firstSequence: this.#position + 1, previousCrc: this.#crc }, []);
    } catch (error) {
      // The sealing is whole by itself, and checked by its own last record.
      if (!(error instanceof Error) || !('syscall' in error)) throw error;
    }
  }

  /** The sealings from a segment on, each whole; after the last, the log goes on from there. */
  *#walk(segment: number): Generator<SealedRecord, void> {
    const walk = new LogWalk(nodeLogFiles, this.#folder, { segment, decode: true });
    const damaged = (what: string): LogDamaged => {
      const { file, offset } = walk.end ?? { file: this.#folder, offset: 0 };
      return new LogDamaged(file, offset, what);
    };
    const order = new SealingOrder();
    let empty = true;
    try {
      for (; walk.next(); empty = false) {
        if (empty && walk.position !== segment) throw damaged(`record ${segment} is missing`);
        const record = parseSealedRecord(walk.record);
        if (record === null || !order.takes(record)) {
          throw damaged(`record ${walk.position} is not what a sealing holds there`);
        }
        yield record;
      }
      if (order.open || empty || walk.tornBytes > 0) throw damaged('the sealing is not whole');
      this.#position = walk.position;
      this.#crc = walk.crc;
    } finally {
      walk.close();
    }
  }
}

/** What may follow what in a sealing, and which days its counters may be of. */
class SealingOrder {
  #fromDay = 0;
  #untilDay = 0;
  #named = false;
  /** A sealing was opened and not yet closed. */
  open = false;

  takes(record: SealedRecord): boolean {
    if (this.open === (record[0] === sealedKind.opened)) return false;
    switch (record[0]) {
      case sealedKind.opened:
        [, , this.#fromDay, this.#untilDay] = record;
        this.open = true;
        this.#named = false;
        return this.#untilDay > this.#fromDay;
      case sealedKind.experiment:
        this.#named = true;
        return true;
      case sealedKind.day:
      case sealedKind.lender:
        return this.#named && record[1][0] >= this.#fromDay && record[1][0] < this.#untilDay;
      case sealedKind.closed:
        this.open = false;
        return true;
    }
  }
}

/** The system would not take it: no space, most likely. It may be tried again, which replaces whatever the failed attempt has left. */
export class SealingFailed extends Error {
  override readonly name = 'SealingFailed';
}

export interface Sealing {
  /** When. */
  readonly wallMs: number;
  readonly untilDay: number;
  readonly ledgerFrom: number;
}

/** Figures are of no one shard: all that wrote a ledger here add to them. */
const noShard = 0;

function* sealing(opened: SealingOpened, counters: SealedCounters): Generator<SealedRecord, void> {
  yield opened;
  yield* counters;
  yield [sealedKind.closed];
}
