import { bounds } from '../../bounds.ts';
import { getOrAdd } from '../../domain/get-or-add.ts';
import type { UnitDay } from '../../experiments/unit-sums.ts';
import { decodeVarints, type SqlDatabase, type SqlValue } from '../sql-database.ts';
import { type ArchivedVisitor, experimentArchiveKind } from './experiment-archive-record.ts';
import { decodeUnitDays, encodeUnitDays } from './unit-days-encoding.ts';

export interface DayRange {
  readonly fromDay: number;
  /** Exclusive. */
  readonly untilDay: number;
}

/** A visitor of an experiment with all days. */
interface Visitor {
  readonly unit: Buffer;
  readonly arm: number;
  readonly groups: readonly number[];
  readonly firstPosition: number;
  readonly days: readonly UnitDay[];
}

type VisitorRow = [
  unit: Buffer,
  arm: number,
  firstPosition: number,
  firstDay: number,
  days: Uint8Array,
  groups: Uint8Array | null,
];
const selectVisitorsSql = `
  SELECT unit, arm, first_position, first_day, days, groups FROM experiment_unit
  WHERE experiment = ? AND first_day < ? AND last_day >= ? AND unit >= ? AND unit < ?`;

/** Number of different first two bytes of the hash of a visitor. Ranges of these bytes divide the visitors into parts. */
const hashPrefixes = 2 ** 16;
/** Number of parts of the visitors of an experiment that are searched one after the other if the days have too many visitors for the memory. */
const overflowParts = 256;
/** Greater than every hash, which has 16 bytes. */
const endOfHashes = Buffer.alloc(17, 0xff);
const noDays: DayRange = { fromDay: 0, untilDay: 0 };

/**
 * Finds the visitors with sessions on the days that are going to be archived. A day has few of the visitors of an experiment, but all of them
 * must be searched. The search therefore has several parts, and batches can be applied between them.
 */
export class ArchivedVisitors {
  readonly #database: SqlDatabase;
  #range = noDays;
  #nextPrefix = 0;
  /** Visitors found, by experiment and then by hash, as latin1 text. */
  readonly #found = new Map<number, Map<string, ArchivedVisitor>>();
  #foundCount = 0;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /**
   * Searches the next part. The first call for other days starts again. Returns whether the search is complete. It also ends if the days have too
   * many visitors for the memory; `read` then searches all visitors.
   *
   * @param visitorsMax about the number of visitors in a part
   */
  search(range: DayRange, visitorsMax: number): boolean {
    const { fromDay, untilDay } = range;
    if (fromDay !== this.#range.fromDay || untilDay !== this.#range.untilDay) {
      this.clear();
      this.#range = range;
    }
    if (this.#nextPrefix >= hashPrefixes || this.#isOverflown) return true;
    const experiments = this.#database.rows<[number: number, visitors: number]>(
      `SELECT number, sum(units) FROM experiment JOIN experiment_day ON experiment = number
        WHERE definition ->> 'unit' = 'visitor' GROUP BY number HAVING max(day) >= ? AND min(day) < ?`,
      [fromDay, untilDay],
    );
    const visitors = experiments.reduce((sum, [, count]) => sum + count, 0);
    const fromPrefix = this.#nextPrefix;
    this.#nextPrefix += Math.ceil(hashPrefixes / Math.max(1, Math.ceil(visitors / visitorsMax)));
    const isLast = this.#nextPrefix >= hashPrefixes;
    for (const [experiment] of experiments) {
      const part = this.#selectPart(experiment, fromPrefix, this.#nextPrefix);
      for (const row of this.#database.iterateRows<VisitorRow>(...part)) this.add(experiment, toVisitor(row));
    }
    return isLast || this.#isOverflown;
  }

  /** Adds a visitor if it has sessions on the days. Must be called when a visitor changes, because its part may have been searched already. */
  add(experiment: number, visitor: Visitor): void {
    const record = this.#toRecord(visitor);
    if (record === null || this.#isOverflown) return;
    const found = getOrAdd(this.#found, experiment, () => new Map<string, ArchivedVisitor>());
    const key = visitor.unit.toString('latin1');
    if (!found.has(key)) this.#foundCount++;
    found.set(key, record);
    if (this.#isOverflown) this.#found.clear();
  }

  /** Ends the search. */
  clear(): void {
    this.#range = noDays;
    this.#nextPrefix = 0;
    this.#found.clear();
    this.#foundCount = 0;
  }

  /** Yields the days of the search of the visitors of an experiment. The search must be complete. */
  *read(experiment: number): Generator<ArchivedVisitor, void> {
    if (!this.#isOverflown) {
      yield* this.#found.get(experiment)?.values() ?? [];
      return;
    }
    // No query is open between two records, so the store can change.
    const step = hashPrefixes / overflowParts;
    for (let prefix = 0; prefix < hashPrefixes; prefix += step) {
      for (const row of this.#database.rows<VisitorRow>(...this.#selectPart(experiment, prefix, prefix + step))) {
        const record = this.#toRecord(toVisitor(row));
        if (record !== null) yield record;
      }
    }
  }

  /** Returns a query for the visitors whose hash has one of the given first two bytes, and its parameters. `toPrefix` is exclusive. */
  #selectPart(experiment: number, fromPrefix: number, toPrefix: number): [sql: string, parameters: SqlValue[]] {
    const { fromDay, untilDay } = this.#range;
    const end = toPrefix >= hashPrefixes ? endOfHashes : toBytes(toPrefix);
    return [selectVisitorsSql, [experiment, untilDay, fromDay, toBytes(fromPrefix), end]];
  }

  get #isOverflown(): boolean {
    return this.#foundCount > bounds.archivedVisitorsInMemoryMax;
  }

  /** Returns null if the visitor has no sessions on the days. */
  #toRecord({ unit, arm, groups, firstPosition, days }: Visitor): ArchivedVisitor | null {
    const { fromDay, untilDay } = this.#range;
    const archived = days.filter(({ day }) => day >= fromDay && day < untilDay);
    if (archived.length === 0) return null;
    const visitor = [archived[0]!.day, arm, firstPosition] as const;
    return [experimentArchiveKind.visitor, visitor, unit, encodeUnitDays(archived, arm), groups];
  }
}

function toVisitor([unit, arm, firstPosition, firstDay, days, groups]: VisitorRow): Visitor {
  return { unit, arm, firstPosition, days: decodeUnitDays(days, arm, firstDay), groups: decodeVarints(groups) };
}

function toBytes(prefix: number): Buffer {
  return Buffer.from([prefix >> 8, prefix & 0xff]);
}
