import { hash } from 'node:crypto';
import { LogUnavailableError } from '../../src/event-log/event-log.ts';
import { type FileEventLog, openEventLog } from '../../src/event-log/file-event-log.ts';
import type { SessionCreatedRecord } from '../../src/ledger/ledger-record.ts';
import type { Fate, SimulatedDisk, UnsyncedChange } from './simulated-disk.ts';
import { SimulatedLogFiles } from './simulated-disk.ts';

/** What a recovered log may and must contain. */
interface Known {
  /** Records that each run appended, after the records that it had recovered. The last item is the current run. */
  readonly histories: readonly (readonly string[])[];
  /** Number of records of the last history that must exist, because they were acknowledged. */
  readonly acknowledged: number;
  /** Number of these records that must survive a power cut. With `durability: 'write'`, the recovered records. */
  readonly powerSafe: number;
}

export const nothingKnown: Known = { histories: [[]], acknowledged: 0, powerSafe: 0 };

/** State before one step of the log, at which a crash is simulated. */
export interface CrashPoint {
  /** The next step of the log. */
  readonly step: string;
  readonly disk: SimulatedDisk;
  readonly known: Known;
}

export interface LogRunOptions {
  readonly durability?: 'fsync' | 'write';
  readonly segmentBytesMax?: number;
  /** Changes the file operations of the log. */
  readonly changeFiles?: (files: SimulatedLogFiles) => void;
}

/** One run of the production log on a simulated disk, from recovery to close. Records every point at which a crash is possible. */
export class LogRun {
  readonly files: SimulatedLogFiles;
  readonly crashPoints: CrashPoint[] = [];
  readonly #before: Known;
  readonly #synced: boolean;
  readonly #history: string[] = [];
  #log!: FileEventLog<SessionCreatedRecord>;
  #acknowledged = 0;
  #recovered = 0;
  #pending: Promise<void>[] = [];

  private constructor(disk: SimulatedDisk, before: Known, synced: boolean) {
    this.#before = before;
    this.#synced = synced;
    this.files = new SimulatedLogFiles(disk, (step) => this.#addCrashPoint(step));
  }

  /** Recovers the log on a disk, which the run then changes. Throws if a record is missing or was never appended. */
  static async open(disk: SimulatedDisk, before: Known, options: LogRunOptions = {}): Promise<LogRun> {
    const { durability = 'fsync', segmentBytesMax = 600, changeFiles } = options;
    const run = new LogRun(disk, before, durability === 'fsync');
    changeFiles?.(run.files);
    const recovered: string[] = [];
    run.#log = await openEventLog<SessionCreatedRecord>({
      folder: '/data/ledger',
      durability,
      segmentBytesMax,
      retryMs: 1,
      files: run.files,
      onRecord: (_position, record) => recovered.push(nameOf(record)),
    });
    checkRecovered(recovered, before);
    run.#history.push(...recovered);
    // The service acts on the recovered records, so they must exist from now on.
    run.#acknowledged = run.#recovered = recovered.length;
    run.#addCrashPoint('continue');
    return run;
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

  /** Appends records of different sizes in one group, without waiting for them. */
  append(count: number): void {
    for (let i = 0; i < count; i++) {
      const record = this.#nextRecord();
      const appended = this.#log.append(record);
      if (appended === null) continue;
      const length = this.#history.push(nameOf(record));
      const settled = appended.durable.then(
        () => {
          this.#acknowledged = Math.max(this.#acknowledged, length);
        },
        (error) => {
          if (!(error instanceof LogUnavailableError)) throw error;
        },
      );
      this.#pending.push(settled);
    }
  }

  appendWithoutWaiting(): void {
    const record = this.#nextRecord();
    if (this.#log.appendWithoutWaiting(record) !== null) this.#history.push(nameOf(record));
  }

  /** Waits until all appended records are acknowledged or rejected. */
  async waitForAppends(): Promise<void> {
    await Promise.all(this.#pending);
    this.#pending = [];
  }

  async waitUntilAvailable(): Promise<void> {
    while (!this.#log.healthy) await new Promise(setImmediate);
  }

  async close(): Promise<void> {
    await this.#log.close();
    await this.waitForAppends();
    this.#addCrashPoint('end');
  }

  #nextRecord(): SessionCreatedRecord {
    const position = this.#log.lastAppendedPosition + 1;
    const sub = new Uint8Array(32).fill(position);
    const size = [0, 20, 3, 130][position % 4]!;
    return [1, 1_700_000_000_000, sub, `${this.#before.histories.length}.${position}`, 1, 0, 'm'.repeat(size)];
  }

  #addCrashPoint(step: string): void {
    this.crashPoints.push({ step, disk: this.disk.copy(), known: this.known });
  }
}

/** Returns the name of a record, which consists of the run and the position and is therefore unique. */
function nameOf(record: unknown): string {
  return (record as SessionCreatedRecord)[3];
}

/** Checks that the records are a prefix of what one run appended, and include all acknowledged records. */
function checkRecovered(recovered: readonly string[], { histories, acknowledged }: Known): void {
  const isPrefixOf = (history: readonly string[]) =>
    history.length >= recovered.length && recovered.every((name, i) => name === history[i]);
  if (!histories.some(isPrefixOf)) {
    throw new Error(`the recovered records are not a prefix of the appended records: ${recovered.join(' ')}`);
  }
  const safe = histories.at(-1)!.slice(0, acknowledged);
  if (!safe.every((name, i) => name === recovered[i])) {
    throw new Error(`of ${acknowledged} acknowledged records, ${recovered.length} were recovered`);
  }
}

const everything = ({ length }: UnsyncedChange): readonly [number, number] => [0, length];
const nothing = (): readonly [number, number] => [0, 0];

type NamedFate = readonly [name: string, fate: Fate];

const commonFates: readonly NamedFate[] = [
  ['nothing', nothing],
  ['everything', everything],
  ['every name and no byte', (change) => (change.kind === 'name' ? everything(change) : [0, 0])],
  ['half of every write', (change) => (change.kind === 'write' ? [0, change.length >> 1] : everything(change))],
];

/** Fates for the first crash only. The second crash comes so soon after it that they add nothing. */
const rareFates: readonly NamedFate[] = [
  ['every byte and no name', (change) => (change.kind === 'name' ? [0, 0] : everything(change))],
  [
    'every size and no byte',
    (change) => (change.kind === 'write' ? [change.length, change.length] : everything(change)),
  ],
];

/** Number of newest changes of each kind that have separate fates. Older changes were the newest at earlier crash points. */
const separateChanges = 2;

function* separateFates(changes: readonly UnsyncedChange[]): Generator<NamedFate> {
  for (const { kind, index, count, length } of changes) {
    if (count - index > separateChanges) continue;
    const one = (ownFate: Fate, otherFate: Fate): Fate => {
      return (change) => (change.kind === kind && change.index === index ? ownFate(change) : otherFate(change));
    };
    yield [`all but ${kind} ${index}`, one(nothing, everything)];
    yield [`only ${kind} ${index}`, one(everything, nothing)];
    if (kind !== 'write') continue;
    for (const at of new Set([1, length >> 1, length - 1].filter((at) => at > 0 && at < length))) {
      yield [`write ${index} up to byte ${at}`, one(() => [0, at], everything)];
      yield [`write ${index} from byte ${at} on`, one(() => [at, length], everything)];
    }
  }
}

interface Crash {
  readonly name: string;
  readonly disk: SimulatedDisk;
  readonly known: Known;
}

function* crashesAt({ disk, known }: CrashPoint, fates: Iterable<NamedFate>): Generator<Crash> {
  yield { name: 'process killed', disk: disk.copy(), known };
  for (const [name, fate] of fates) {
    yield { name: `power cut, ${name} survived`, disk: disk.afterPowerCut(fate), known: afterPowerCut(known) };
  }
}

export function afterPowerCut(known: Known): Known {
  return { ...known, acknowledged: known.powerSafe };
}

/**
 * Simulates every kind of crash at the given points and recovers the log with the production code. The log must contain all acknowledged
 * records and only appended records, keep them after another power cut, and accept further records. Recovery and the further records are
 * also crashed. Rejects with the first error, which names the points and the crashes. Returns the number of recoveries.
 */
export async function checkCrashes(points: readonly CrashPoint[], options: LogRunOptions = {}): Promise<number> {
  let recoveries = 0;
  const checked = new Set<string>();
  // Many points and fates result in the same disk, which is checked once.
  const isNew = (order: 'first' | 'second', { disk, known }: Crash): boolean => {
    const key = hash('sha256', order + JSON.stringify(known) + disk.fingerprint());
    return checked.size < checked.add(key).size;
  };
  const recover = async ({ disk, known }: Crash): Promise<LogRun> => {
    recoveries += 2;
    const run = await LogRun.open(disk, known, options);
    await LogRun.open(run.disk.afterPowerCut(nothing), afterPowerCut(run.known), options);
    return run;
  };
  const checkFirst = async (crash: Crash): Promise<void> => {
    const run = await recover(crash);
    run.append(2);
    // The run is not closed, because the first runs were closed.
    await run.waitForAppends();
    // While a torn tail is copied, the files of the log do not change.
    for (const point of run.crashPoints.filter(({ step }) => !step.includes('.from-'))) {
      for (const second of crashesAt(point, commonFates)) {
        if (isNew('second', second)) await named(`then before "${point.step}", ${second.name}`, () => recover(second));
      }
    }
  };
  for (const point of points) {
    const fates = [...commonFates, ...rareFates, ...separateFates(point.disk.unsyncedChanges())];
    for (const crash of crashesAt(point, fates)) {
      if (isNew('first', crash)) await named(`before "${point.step}", ${crash.name}`, () => checkFirst(crash));
    }
  }
  return recoveries;
}

async function named(moment: string, check: () => Promise<unknown>): Promise<void> {
  try {
    await check();
  } catch (error) {
    throw new Error(`${moment}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
