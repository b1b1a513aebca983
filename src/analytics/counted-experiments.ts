import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { type ExperimentDefinition, isRetrospective } from '../experiments/experiment.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import { deviceClasses, type ExperimentRecord, ledgerRecordKind } from '../ledger/ledger-record.ts';
import { applyExperimentRecord } from './experiment-table.ts';
import type { SessionState } from './projection-state.ts';
import type { SqlDatabase } from './sql-database.ts';

/** An experiment, as the counting of its sessions needs it. */
export interface CountedExperiment {
  readonly number: number;
  readonly definition: ExperimentDefinition;
  /** Ledger positions of the first definition and of the closing; infinite if the experiment is not closed. */
  readonly position: number;
  readonly closedPosition: number;
  readonly isRetrospective: boolean;
}

export interface CountedArm {
  readonly experiment: CountedExperiment;
  /** Index in the arms of the definition. */
  readonly arm: number;
}

/** Sessions up to this one, in the order of day, tag number and position, are counted. */
export interface FillCursor {
  readonly day: number;
  readonly tagNumber: number;
  readonly position: number;
}

/** Cursor of an experiment whose sums by an earlier definition are not deleted yet. No session is counted. */
export const deletingCursor: FillCursor = { day: -1, tagNumber: 0, position: 0 };

type TenantColumns = readonly [account: number, vertical: number, test: 0 | 1];

type ExperimentColumns = [
  number: number,
  definition: string,
  createdMs: number,
  position: number,
  closedPosition: number | null,
];

const experimentColumnsSql = 'number, definition, created_ms, position, closed_position';

const selectArmsSql = `
  SELECT experiment.${experimentColumnsSql.replaceAll(', ', ', experiment.')}, arm
  FROM referrer_tag JOIN experiment_arm USING (account, vertical, test, tag) JOIN experiment ON experiment.number = experiment_arm.experiment
  WHERE referrer_tag.number = ? ORDER BY experiment.number`;

const botDevice = deviceClasses.indexOf('bot');

/** Finds the experiments in which a session counts. Caches the experiments of each referrer tag. */
export class CountedExperiments {
  readonly #database: SqlDatabase;
  readonly #armsByTag = new LRUCache<number, readonly CountedArm[]>({ max: bounds.projectionNameCacheEntriesMax });
  /** Experiments whose earlier sessions are not all counted, by number. */
  readonly #fills: Map<number, FillCursor>;

  constructor(database: SqlDatabase) {
    this.#database = database;
    const fills = database.rows<[number: number, day: number, tagNumber: number, position: number]>(
      'SELECT experiment, day, tag_number, position FROM experiment_fill WHERE day IS NOT NULL',
    );
    this.#fills = new Map(fills.map(([number, day, tagNumber, position]) => [number, { day, tagNumber, position }]));
  }

  /** Returns the arms in which a session counts now. A session with a tag of no experiment takes one look-up. */
  findArms(session: SessionState): readonly CountedArm[] {
    const arms = this.#armsByTag.get(session.tagNumber) ?? this.#readArms(session.tagNumber);
    if (arms.length === 0) return arms;
    return arms.filter(({ experiment }) => isSessionOf(experiment, session) && this.#isReached(experiment, session));
  }

  findExperiment(number: number): CountedExperiment {
    const sql = `SELECT ${experimentColumnsSql} FROM experiment WHERE number = ?`;
    return toCountedExperiment(this.#database.row<ExperimentColumns>(sql, [number])!);
  }

  /** Applies a record of an experiment. Returns false if the record is invalid, or changes a closed experiment. */
  applyRecord(position: number, record: ExperimentRecord): boolean {
    const { account, vertical, mode } = decodeSubId(record[2]);
    const tenant: TenantColumns = [account, vertical, mode === 'test' ? 1 : 0];
    const selectSql = 'SELECT definition FROM experiment WHERE account = ? AND vertical = ? AND test = ? AND name = ?';
    const before = this.#database.value<string>(selectSql, [...tenant, record[3]]);
    if (!applyExperimentRecord(this.#database, position, record)) return false;
    this.#armsByTag.clear();
    if (record[0] === ledgerRecordKind.experimentDefined) {
      const numberSql = selectSql.replace('definition', 'number');
      const number = this.#database.value<number>(numberSql, [...tenant, record[3]])!;
      this.#applyDefinition(tenant, number, before === null ? null : JSON.parse(before), position);
    }
    return true;
  }

  /** Stores the arms of a new or changed definition. If a change affects which sessions count, or how, counts all sessions again. */
  #applyDefinition(tenant: TenantColumns, number: number, before: ExperimentDefinition | null, position: number): void {
    const { definition, isRetrospective } = this.findExperiment(number);
    if (before !== null && describeCounting(before) === describeCounting(definition)) return;
    const tagSql = 'account = ? AND vertical = ? AND test = ? AND tag = ? AND experiment = ?';
    for (const { referrerTag } of before?.arms ?? []) {
      this.#database.run(`DELETE FROM experiment_arm WHERE ${tagSql}`, [...tenant, referrerTag, number]);
    }
    for (const [arm, { referrerTag }] of definition.arms.entries()) {
      this.#database.run('INSERT OR IGNORE INTO experiment_arm VALUES (?, ?, ?, ?, ?, ?)', [
        ...[...tenant, referrerTag],
        ...[number, arm],
      ]);
    }
    this.#database.run('INSERT OR REPLACE INTO experiment_fill VALUES (?, ?, NULL, 0, 0)', [number, position]);
    if (before !== null) this.saveFill(number, deletingCursor);
    else if (isRetrospective) this.saveFill(number, { day: 0, tagNumber: 0, position: 0 });
  }

  /** The next experiment whose earlier sessions are to be counted, and the last counted session; null if there is none. */
  get nextFill(): readonly [number: number, cursor: FillCursor] | null {
    for (const fill of this.#fills) return fill;
    return null;
  }

  /** Stores how far the earlier sessions of an experiment are counted; null if all are counted. */
  saveFill(number: number, cursor: FillCursor | null): void {
    const { day = null, tagNumber = 0, position = 0 } = cursor ?? {};
    this.#database.run('UPDATE experiment_fill SET day = ?, tag_number = ?, position = ? WHERE experiment = ?', [
      day,
      tagNumber,
      position,
      number,
    ]);
    if (cursor === null) this.#fills.delete(number);
    else this.#fills.set(number, cursor);
  }

  #readArms(tagNumber: number): readonly CountedArm[] {
    const rows = this.#database.rows<[...ExperimentColumns, arm: number]>(selectArmsSql, [tagNumber]);
    const arms = rows.map(([number, definition, createdMs, position, closedPosition, arm]) => ({
      experiment: toCountedExperiment([number, definition, createdMs, position, closedPosition]),
      arm,
    }));
    this.#armsByTag.set(tagNumber, arms);
    return arms;
  }

  /** While earlier sessions are counted, a later session is counted when the fill reaches it. */
  #isReached({ number }: CountedExperiment, { tagNumber, position, createdMs }: SessionState): boolean {
    const cursor = this.#fills.get(number);
    if (cursor === undefined) return true;
    const day = daysSinceEpoch(createdMs);
    if (day !== cursor.day) return day < cursor.day;
    return tagNumber === cursor.tagNumber ? position <= cursor.position : tagNumber < cursor.tagNumber;
  }
}

function toCountedExperiment([
  number,
  json,
  createdMs,
  position,
  closedPosition,
]: ExperimentColumns): CountedExperiment {
  // `applyExperimentRecord` has checked the text.
  const definition = JSON.parse(json) as ExperimentDefinition;
  return {
    ...{ number, definition, position, closedPosition: closedPosition ?? Number.POSITIVE_INFINITY },
    isRetrospective: isRetrospective({ definition, createdMs }),
  };
}

/** Returns a text that is equal for two definitions by which the same sessions count in the same way. */
function describeCounting({
  arms,
  unit,
  startsOn,
  endsOn,
  capMicros,
  revenueDays,
  graceDays,
}: ExperimentDefinition): string {
  const tags = arms.map(({ referrerTag }) => referrerTag);
  return JSON.stringify([tags, unit, startsOn, endsOn, capMicros, revenueDays, graceDays]);
}

/** Whether a session with a tag of an experiment is in one of its arms, if it also has the unit that the experiment needs. */
export function isSessionOf(experiment: CountedExperiment, { position, device, createdMs }: SessionState): boolean {
  const { startsOn, endsOn } = experiment.definition;
  if (device === botDevice || position > experiment.closedPosition) return false;
  if (!experiment.isRetrospective && position < experiment.position) return false;
  const day = daysSinceEpoch(createdMs);
  return day >= startsOn && (endsOn === null || day <= endsOn);
}
