import { LogUnavailableError } from '../../src/event-log/event-log.ts';
import type { FileEventLog } from '../../src/event-log/file-event-log.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import type { LogFiles } from '../../src/event-log/log-files.ts';
import type { SessionCreated } from '../../src/ledger/ledger-record.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import { SimulatedLogFiles } from './simulated-log-files.ts';

/** What is known of a log at one moment, whatever has become of its disk. */
export interface Known {
  /** What each life so far has appended, beginning with what it had recovered; the present life last. */
  readonly histories: readonly (readonly string[])[];
  /** How many records of the last history must be there, since somebody was told so. */
  readonly acknowledged: number;
  /** How many of them must be there even if the power goes: with `durability: 'write'`, what was recovered. */
  readonly powerSafe: number;
}

export const nothingKnown: Known = { histories: [[]], acknowledged: 0, powerSafe: 0 };

/** A moment at which a crash may come. */
export interface Cut {
  /** What the log was about to do. */
  readonly step: string;
  readonly disk: SimulatedDisk;
  readonly known: Known;
}

export interface LifeOptions {
  readonly durability?: 'fsync' | 'write';
  readonly segmentBytesMax?: number;
  /** What lies between the log and its disk. */
  readonly between?: (files: LogFiles) => LogFiles;
}

/** What was recovered contradicts what was known. */
class HistoryBroken extends Error {
  override readonly name = 'HistoryBroken';
}

const folder = '/data/ledger';

/**
 * The production log on a simulated disk, from recovery to its end, with every moment at which a crash may come recorded.
 * Its records are told apart by life and number.
 */
export class LogLife {
  readonly files: SimulatedLogFiles;
  readonly cuts: Cut[] = [];
  readonly #before: Known;
  readonly #synced: boolean;
  readonly #history: string[] = [];
  #log!: FileEventLog<SessionCreated>;
  #acknowledged = 0;
  #recovered = 0;
  #healed: () => void = () => {};
  #pending: Promise<void>[] = [];

  private constructor(disk: SimulatedDisk, before: Known, synced: boolean) {
    this.#before = before;
    this.#synced = synced;
    this.files = new SimulatedLogFiles(disk, (step) => this.#cut(step));
  }

  /** Recovers the log of a disk, which it takes for its own. Throws `HistoryBroken`, or what the log throws. */
  static async open(disk: SimulatedDisk, before: Known, options: LifeOptions = {}): Promise<LogLife> {
    const { durability = 'fsync', segmentBytesMax = 600, between = (files) => files } = options;
    const life = new LogLife(disk, before, durability === 'fsync');
    const recovered: string[] = [];
    life.#log = await openEventLog<SessionCreated>({
      folder,
      durability,
      segmentBytesMax,
      retryMs: 1,
      files: between(life.files),
      onRecord: (_position, record) => recovered.push(nameOf(record)),
      onIncident: ({ kind }) => {
        if (kind === 'recovered') life.#healed();
      },
    });
    checkRecovered(recovered, before);
    life.#history.push(...recovered);
    // Others act on what recovery has shown them, so from now on it must stay.
    life.#acknowledged = life.#recovered = recovered.length;
    life.#cut('go on');
    return life;
  }

  get disk(): SimulatedDisk {
    return this.files.disk;
  }

  get known(): Known {
    if (this.#log === undefined) return this.#before;
    const acknowledged = Math.max(this.#acknowledged, this.#log.durablePosition);
    const powerSafe = this.#synced ? acknowledged : this.#recovered;
    return { histories: [...this.#before.histories, [...this.#history]], acknowledged, powerSafe };
  }

  /** Appends records that travel together, of different sizes, without waiting for them. */
  append(count: number): void {
    for (let i = 0; i < count; i++) {
      const record = this.#next();
      const appended = this.#log.append(record);
      if (appended === null) continue;
      this.#history.push(nameOf(record));
      const settled = appended.durable.then(
        () => {
          this.#acknowledged = Math.max(this.#acknowledged, this.#history.indexOf(nameOf(record)) + 1);
        },
        (error) => {
          if (!(error instanceof LogUnavailableError)) throw error;
        },
      );
      this.#pending.push(settled);
    }
  }

  note(): void {
    const record = this.#next();
    if (this.#log.appendWithoutWaiting(record) !== null) this.#history.push(nameOf(record));
  }

  /** Until everything appended so far is acknowledged or refused. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending);
    this.#pending = [];
  }

  /** Until the log works, if it does not. */
  async heal(): Promise<void> {
    if (this.#log.healthy) return;
    await new Promise<void>((resolve) => {
      this.#healed = resolve;
    });
  }

  async close(): Promise<void> {
    await this.#log.close();
    await this.settle();
    this.#cut('end');
  }

  #next(): SessionCreated {
    const position = this.#log.appendedPosition + 1;
    const sub = new Uint8Array(32).fill(position);
    const size = [0, 20, 3, 130][position % 4]!;
    return [1, 1_700_000_000_000, sub, `${this.#before.histories.length}.${position}`, 1, 0, 'm'.repeat(size)];
  }

  #cut(step: string): void {
    this.cuts.push({ step, disk: this.disk.copy(), known: this.known });
  }
}

/** What tells a record from every other of its log. */
function nameOf(record: unknown): string {
  return (record as SessionCreated)[3];
}

/** A prefix of what one life appended, with everything that was acknowledged. */
function checkRecovered(recovered: readonly string[], { histories, acknowledged }: Known): void {
  const begins = (history: readonly string[]) =>
    history.length >= recovered.length && recovered.every((name, i) => name === history[i]);
  if (!histories.some(begins)) {
    throw new HistoryBroken(`what was recovered is no prefix of what was appended: ${recovered.join(' ')}`);
  }
  const safe = histories.at(-1)!.slice(0, acknowledged);
  if (!safe.every((name, i) => name === recovered[i])) {
    throw new HistoryBroken(`of ${acknowledged} acknowledged records ${recovered.length} are there`);
  }
}
