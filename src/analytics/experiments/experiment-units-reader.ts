import { bounds } from '../../bounds.ts';
import { resultsDayOf } from '../../experiments/assemble-results.ts';
import { lastMatureCohortDay } from '../../experiments/experiment.ts';
import { frozenRevenue } from '../../experiments/session-figures.ts';
import type { UnitDay } from '../../experiments/unit-sums.ts';
import { decodeSubId, subIdByteLength } from '../../ids/sub-id.ts';
import type { ExperimentUnit, ExperimentUnitsPage, ExperimentUnitsQuery } from '../analytics.ts';
import { SessionReader, type StoredSession } from '../session-reader.ts';
import type { SqlDatabase } from '../sql-database.ts';
import { findTagNumber } from '../tags-reader.ts';
import {
  type CountedExperiment,
  deletingCursor,
  type FillCursor,
  isReached,
  isSessionOf,
  readCountedExperiment,
  readFill,
} from './counted-experiments.ts';
import { findNumberedExperiment } from './experiment-table.ts';
import { decodeUnitDays } from './unit-days-encoding.ts';

/** The units of an experiment that a query reads. */
interface UnitScope {
  readonly experiment: CountedExperiment;
  /** Progress of counting earlier sessions; null when all are counted. */
  readonly fill: FillCursor | null;
  /** Last day of the figures, and the last day whose sessions are mature then. */
  readonly asOf: number;
  readonly matureDay: number;
  readonly limit: number;
}

interface UnitsRead {
  readonly units: readonly ExperimentUnit[];
  /** Last unit that was read; null if there are no more units. */
  readonly after: Uint8Array | null;
}

/**
 * Reads a page of the units of an experiment (docs/contract.md#units). Returns null if the tenant has no experiment with the name. A page
 * ends early if it would read too many days or sessions, so that no query takes long.
 */
export function readExperimentUnits(
  database: SqlDatabase,
  { today, position, limit, ...query }: ExperimentUnitsQuery,
): ExperimentUnitsPage | null {
  const found = findNumberedExperiment(database, query);
  if (found === null) return null;
  const experiment = readCountedExperiment(database, found.number);
  const { definition } = experiment;
  const asOf = position?.asOf ?? resultsDayOf(found.experiment, today);
  const fill = readFill(database, found.number);
  const scope = { experiment, fill, asOf, matureDay: lastMatureCohortDay(definition, asOf), limit };
  const reader = new SessionReader(database);
  const after = position?.after ?? null;
  const tagNumbers = definition.arms.map(({ referrerTag }) => findTagNumber(database, query, referrerTag));
  const { units, after: last } =
    definition.unit === 'visitor'
      ? readVisitors(database, scope, after)
      : readSessions(reader, scope, tagNumbers, after);
  return {
    arms: definition.arms.map(({ referrerTag }) => referrerTag),
    asOf,
    units,
    retainedFromDay: reader.firstRetainedDay,
    next: last === null ? null : { asOf, after: last },
  };
}

/** Reads visitors in the order of their hashes. */
function readVisitors(database: SqlDatabase, scope: UnitScope, after: Uint8Array | null): UnitsRead {
  const { experiment, fill, asOf, limit } = scope;
  const units: ExperimentUnit[] = [];
  let budget: number = bounds.unitRecordsReadMax;
  let last = after ?? new Uint8Array();
  const visitors = database.iterateRows<[unit: Buffer, arm: number, firstDay: number, days: Buffer]>(
    'SELECT unit, arm, first_day, days FROM experiment_unit WHERE experiment = ? AND unit > ? ORDER BY unit',
    // Null selects no rows: the sums of an earlier definition are not those of the experiment.
    [fill?.day === deletingCursor.day ? null : experiment.number, last],
  );
  for (const [unit, arm, firstDay, bytes] of visitors) {
    if (budget <= 0) return { units, after: last };
    const days = decodeUnitDays(bytes, arm, firstDay);
    budget -= days.length;
    const closedDays = days.filter(({ day }) => day <= asOf);
    if (closedDays.length > 0) {
      if (units.length >= limit) return { units, after: last };
      units.push(sumUnitDays(arm, closedDays, scope));
    }
    last = Uint8Array.from(unit);
  }
  return { units, after: null };
}

function sumUnitDays(arm: number, days: readonly UnitDay[], { matureDay }: UnitScope): ExperimentUnit {
  const unit = { arm, firstDay: days[0]!.day, sessions: 0, clicks: 0, matureSessions: 0, revenueMicros: 0 };
  for (const { day, figures } of days) {
    unit.sessions += figures.sessions;
    unit.clicks += figures.clicks;
    if (day > matureDay) continue;
    unit.matureSessions += figures.sessions;
    unit.revenueMicros += frozenRevenue(figures);
  }
  return unit;
}

/** Place in the order in which sessions are read: by day, by arm, and by ledger position. */
interface SessionPlace {
  readonly day: number;
  readonly arm: number;
  readonly position: number;
}

interface ScannedPlace extends SessionPlace {
  /** Null at the end of the sessions of a day and arm. */
  readonly session: StoredSession | null;
}

function readSessions(
  reader: SessionReader,
  scope: UnitScope,
  tagNumbers: readonly (number | null)[],
  after: Uint8Array | null,
): UnitsRead {
  const { experiment, fill, limit } = scope;
  const units: ExperimentUnit[] = [];
  let budget: number = bounds.unitRecordsReadMax;
  let last: SessionPlace = after === null ? { day: 0, arm: 0, position: 0 } : decodePlace(after);
  for (const scanned of scanSessions(reader, scope, tagNumbers, last)) {
    if (budget-- <= 0) return { units, after: encodePlace(last) };
    const { session, arm } = scanned;
    if (session !== null) {
      const counted = { ...session, createdMs: decodeSubId(session.sub).createdMs };
      if (isSessionOf(experiment, counted) && isReached(fill, counted)) {
        if (units.length >= limit) return { units, after: encodePlace(last) };
        units.push(toSessionUnit(reader.database, scope, arm, session));
      }
    }
    last = scanned;
  }
  return { units, after: null };
}

/** Yields the sessions with the tags of the arms after a place, up to the last day of the figures. */
function* scanSessions(
  reader: SessionReader,
  { experiment, asOf }: UnitScope,
  tagNumbers: readonly (number | null)[],
  { day, arm, position }: SessionPlace,
): Generator<ScannedPlace, void> {
  const { database, firstRetainedDay } = reader;
  const { startsOn, endsOn } = experiment.definition;
  const lastDay = Math.min(asOf, endsOn ?? asOf);
  for (;;) {
    const nextDay = database.value<number>('SELECT min(day) FROM cohort_piece WHERE day >= ?', [
      Math.max(day, startsOn, firstRetainedDay),
    ]);
    if (nextDay === null || nextDay > lastDay) return;
    if (nextDay > day) [day, arm, position] = [nextDay, 0, 0];
    for (; arm < tagNumbers.length; arm++, position = 0) {
      const pieces = database.iterateRows<[subs: Buffer]>(
        'SELECT subs FROM cohort_piece WHERE day = ? AND tag_number = ? AND last_position > ? ORDER BY last_position',
        [day, tagNumbers[arm]!, position],
      );
      for (const [subs] of pieces) {
        for (let start = 0; start < subs.length; start += subIdByteLength) {
          const session = reader.findSession(subs.subarray(start, start + subIdByteLength))!;
          if (session.position <= position) continue;
          position = session.position;
          yield { day, arm, position, session };
        }
      }
      yield { day, arm, position, session: null };
    }
    [day, arm, position] = [day + 1, 0, 0];
  }
}

function toSessionUnit(
  database: SqlDatabase,
  { experiment, matureDay }: UnitScope,
  arm: number,
  { day, clicks, position }: StoredSession,
): ExperimentUnit {
  const isMature = day <= matureDay;
  const revenueMicros = isMature && clicks > 0 ? readSessionRevenue(database, experiment, position) : 0;
  return { arm, firstDay: day, sessions: 1, clicks, matureSessions: isMature ? 1 : 0, revenueMicros };
}

function readSessionRevenue(database: SqlDatabase, { number }: CountedExperiment, position: number): number {
  const sql = 'SELECT revenue_micros FROM experiment_revenue WHERE experiment = ? AND unit = ?';
  return database.value<number>(sql, [number, position]) ?? 0;
}

/** Encodes a place: the day (4 bytes), the arm (1) and the ledger position (6). */
function encodePlace({ day, arm, position }: SessionPlace): Uint8Array {
  const bytes = Buffer.alloc(11);
  bytes.writeUIntBE(position, bytes.writeUInt8(arm, bytes.writeInt32BE(day)), 6);
  return Uint8Array.from(bytes);
}

function decodePlace(encoded: Uint8Array): SessionPlace {
  const bytes = Buffer.from(encoded);
  return { day: bytes.readInt32BE(0), arm: bytes.readUInt8(4), position: bytes.readUIntBE(5, 6) };
}
