import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import { decodeSubId } from '../sessions/sub-id.ts';
import type { FoldPast } from './ledger-fold.ts';
import { firstKeyOf, type SubKey } from './ledger-fold.ts';
import { RowWriter } from './row-writer.ts';
import type { SealedCounters } from './sealed-figures.ts';
import { type SealedRecord, sealedKind } from './sealed-record.ts';

type ExperimentRow = [number: number, account: number, vertical: number, test: 0 | 1, tag: string];
type DayRow = [
  day: number,
  device: number,
  sessions: number,
  views: number,
  clicks: number,
  attributedMicros: number,
  confirmedMicros: number,
  confirmedCentsSquared: string,
];
type LenderRow = [day: number, lenderName: string, clicks: number, confirmedMicros: number];

/**
 * Which sessions the store keeps. Days before `keptFromDay` are sealed: their counters are final, and their sessions are as
 * good as gone from the moment it is set, for the fold as for every answer; `prune` removes their rows little by little.
 */
export class StoreRetention {
  readonly #setKeptFrom: Statement<[number]>;
  readonly #firstNeeded: Statement<[number], number | null>;
  readonly #forgetSegments: Statement<[number]>;
  readonly #experiments: Statement<[], ExperimentRow>;
  readonly #days: Statement<[number, number, number], DayRow>;
  readonly #lenders: Statement<[number, number, number], LenderRow>;
  readonly #dropDays: Statement<[number]>;
  readonly #dropLenders: Statement<[number]>;
  readonly #addDays: RowWriter;
  readonly #addLenders: RowWriter;
  readonly #prunable: Statement<[Buffer, number], [sub: Buffer, position: number, clicks: number]>;
  readonly #pruneSessions: Statement<[Buffer]>;
  readonly #prunePieces: Statement<[number, number]>;
  readonly #pruneMetadata: Statement<[number]>;
  readonly #pruneClicks: Statement<[number]>;
  readonly #prunePayouts: Statement<[number]>;
  readonly #pruneSome: () => boolean;
  #keptFromDay: number;
  #keptFrom: SubKey;
  #mustPrune: boolean;

  constructor(database: Database) {
    this.#setKeptFrom = database.prepare('UPDATE retention SET kept_from_day = ?');
    this.#firstNeeded = database
      .prepare<[number], number | null>('SELECT min(first) FROM ledger_segment WHERE last_day >= ?')
      .pluck();
    this.#forgetSegments = database.prepare('DELETE FROM ledger_segment WHERE first < ?');
    this.#experiments = database
      .prepare<[], ExperimentRow>('SELECT number, account, vertical, test, tag FROM experiment ORDER BY number')
      .raw();
    this.#days = database
      .prepare<[number, number, number], DayRow>(
        `SELECT day, device, sessions, views, clicks, attributed_micros, confirmed_micros,
          CAST(confirmed_cents_squared AS TEXT)
        FROM day_counter WHERE experiment = ? AND day >= ? AND day < ?`,
      )
      .raw();
    this.#lenders = database
      .prepare<[number, number, number], LenderRow>(
        `SELECT day, name, clicks, confirmed_micros
        FROM lender_counter JOIN lender ON number = lender WHERE experiment = ? AND day >= ? AND day < ?`,
      )
      .raw();
    this.#dropDays = database.prepare('DELETE FROM day_counter WHERE day < ?');
    this.#dropLenders = database.prepare('DELETE FROM lender_counter WHERE day < ?');
    this.#addDays = new RowWriter(database, 'day_counter', [
      'experiment',
      'day',
      'device',
      'sessions',
      'views',
      'clicks',
      'attributed_micros',
      'confirmed_micros',
      'confirmed_cents_squared',
    ]);
    this.#addLenders = new RowWriter(database, 'lender_counter', [
      'experiment',
      'day',
      'lender',
      'clicks',
      'confirmed_micros',
    ]);
    this.#prunable = database
      .prepare<[Buffer, number], [Buffer, number, number]>(
        'SELECT sub, position, clicks FROM session WHERE sub < ? ORDER BY sub LIMIT ?',
      )
      .raw();
    this.#pruneSessions = database.prepare('DELETE FROM session WHERE sub <= ?');
    this.#prunePieces = database.prepare(`
      DELETE FROM cohort_piece WHERE (day, experiment, last_position) IN
        (SELECT day, experiment, last_position FROM cohort_piece WHERE day < ? LIMIT ?)`);
    this.#pruneMetadata = database.prepare('DELETE FROM session_metadata WHERE session = ?');
    this.#pruneClicks = database.prepare('DELETE FROM click WHERE session = ?');
    this.#prunePayouts = database.prepare('DELETE FROM payout WHERE session = ?');
    this.#pruneSome = database.transaction(() => this.#pruneRows()).immediate;
    this.#keptFromDay = database.prepare<[], number>('SELECT kept_from_day FROM retention').pluck().get()!;
    this.#keptFrom = keyOf(this.#keptFromDay);
    // What an earlier process has left to do shows at once.
    this.#mustPrune = this.#keptFromDay > 0;
  }

  /** The first day (day number) whose sessions are kept; 0 when all are. */
  get keptFromDay(): number {
    return this.#keptFromDay;
  }

  /** As `FoldPast.keptFrom`. */
  get keptFrom(): SubKey {
    return this.#keptFrom;
  }

  keeps(sub: Uint8Array): boolean {
    return this.#keptFromDay === 0 || dayOf(decodeSubId(sub).createdMs) >= this.#keptFromDay;
  }

  /** Counters of the days from one up to, and without, another. The store must not be written while they are taken. */
  *counters(fromDay: number, untilDay: number): SealedCounters {
    for (const [number, ...experiment] of this.#experiments.iterate()) {
      const days = this.#days.all(number, fromDay, untilDay);
      if (days.length === 0) continue;
      yield [sealedKind.experiment, experiment];
      for (const counter of days) yield [sealedKind.day, counter];
      for (const counter of this.#lenders.all(number, fromDay, untilDay)) yield [sealedKind.lender, counter];
    }
  }

  /** First sequence of the oldest segment that tells of a session created on a day or later; null when none does so far. */
  firstSegmentWith(day: number): number | null {
    return this.#firstNeeded.get(day) ?? null;
  }

  /** Keeps sessions from this day on, which is later than before. What the ledger holds before a position is gone. */
  keepFrom(day: number, ledgerFrom: number): void {
    this.#setKeptFrom.run(day);
    this.#forgetSegments.run(ledgerFrom);
    this.#keptFromDay = day;
    this.#keptFrom = keyOf(day);
    this.#mustPrune = true;
  }

  /** Replaces the counters of all sealed days by those that were sealed. Within a transaction. */
  adopt(
    sealed: { readonly keptFromDay: number; readonly ledgerFrom: number; records(): Iterable<SealedRecord> },
    numbers: Pick<FoldPast, 'experimentNumber' | 'lenderNumber'>,
  ): void {
    this.#dropDays.run(sealed.keptFromDay);
    this.#dropLenders.run(sealed.keptFromDay);
    let experiment = 0;
    for (const record of sealed.records()) {
      switch (record[0]) {
        case sealedKind.experiment: {
          const [account, vertical, test, tag] = record[1];
          experiment = numbers.experimentNumber(account, vertical, test === 1, tag);
          break;
        }
        case sealedKind.day: {
          const [day, device, sessions, views, clicks, attributedMicros, confirmedMicros, squared] = record[1];
          const counted = [sessions, views, clicks, attributedMicros, confirmedMicros, BigInt(squared)];
          this.#addDays.add([experiment, day, device, ...counted]);
          break;
        }
        case sealedKind.lender: {
          const [day, name, clicks, confirmedMicros] = record[1];
          this.#addLenders.add([experiment, day, numbers.lenderNumber(name), clicks, confirmedMicros]);
          break;
        }
      }
    }
    this.#addDays.flush();
    this.#addLenders.flush();
    this.keepFrom(sealed.keptFromDay, sealed.ledgerFrom);
  }

  /** Whether rows of sealed sessions may be left. */
  get mustPrune(): boolean {
    return this.#mustPrune;
  }

  /** Removes some of them, in a transaction of its own. Killed at any moment, it goes on another time. */
  prune(): void {
    this.#mustPrune = this.#pruneSome();
  }

  #pruneRows(): boolean {
    const most = bounds.sessionsPrunedAtOnce;
    const sessions = this.#prunable.all(Buffer.from(this.#keptFrom, 'latin1'), most);
    for (const [, position, clicks] of sessions) {
      this.#pruneMetadata.run(position);
      if (clicks === 0) continue;
      this.#pruneClicks.run(position);
      this.#prunePayouts.run(position);
    }
    const last = sessions.at(-1);
    if (last !== undefined) this.#pruneSessions.run(last[0]);
    const pieces = this.#prunePieces.run(this.#keptFromDay, most).changes;
    return sessions.length === most || pieces === most;
  }
}

/** Of the smallest key there is, when all are kept, so that none is smaller. */
function keyOf(day: number): SubKey {
  return day === 0 ? '' : firstKeyOf(day);
}
