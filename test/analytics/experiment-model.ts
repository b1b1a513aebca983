import { daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import { squareCents } from '../../src/domain/money.ts';
import type { GroupFigures } from '../../src/experiments/breakdown-figures.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import type {
  ArmDay,
  EventSums,
  ExperimentFigures,
  LeftOutSessions,
  RevenueAge,
} from '../../src/experiments/experiment-figures.ts';
import { decodeSubId, type SubIdParts } from '../../src/ids/sub-id.ts';
import {
  deviceClasses,
  type ExperimentRecord,
  isExperimentRecord,
  type LedgerRecord,
} from '../../src/ledger/ledger-record.ts';
import { AnalyticsModel, type ModelSession, type RevenueChange } from './analytics-model.ts';

interface ModelExperiment {
  readonly name: string;
  readonly tenant: SubIdParts;
  definition: ExperimentDefinition;
  /** Time and position of the first definition. */
  readonly createdMs: number;
  readonly createdPosition: number;
  /** Position of the last definition with another unit or assignment, or other tags. */
  countedPosition: number;
  /** Days before this day were already deleted when the experiment was created, or changed so that all sessions are counted again. */
  retainedFromDay: number;
  /** Position of the record that closed the experiment. */
  closedPosition: number;
  isDeleted: boolean;
}

/**
 * Figures of experiments by docs/contract.md#experiments, independent of the service: reads the ledger record by record, keeps everything, and
 * computes each figure of each unit again for each day.
 */
export class ExperimentModel {
  readonly analytics = new AnalyticsModel();
  readonly experiments: ModelExperiment[] = [];
  #position = 0;
  #retainedFromDay = 0;

  /** Deletes the sessions created before a day. Experiments keep the figures of these sessions. */
  retainFrom(retainedFromDay: number): void {
    this.#retainedFromDay = Math.max(this.#retainedFromDay, retainedFromDay);
    this.analytics.retainFrom(retainedFromDay);
  }

  record(record: LedgerRecord, position = this.#position + 1): void {
    this.#position = position;
    this.analytics.record(record, position);
    if (isExperimentRecord(record)) this.#recordExperiment(record, position);
  }

  #recordExperiment(record: ExperimentRecord, position: number): void {
    const [, wallMs, sub, name] = record;
    const tenant = decodeSubId(sub);
    const experiment = this.experiments.find((each) => each.name === name && isSameTenant(each.tenant, tenant));
    const isFinal = experiment !== undefined && (experiment.closedPosition < position || experiment.isDeleted);
    if (record[0] === 7 && experiment === undefined) {
      const definition = JSON.parse(record[5]) as ExperimentDefinition;
      const created = {
        createdMs: wallMs,
        createdPosition: position,
        countedPosition: position,
        retainedFromDay: this.#retainedFromDay,
      };
      const open = { closedPosition: Number.POSITIVE_INFINITY, isDeleted: false };
      this.experiments.push({ name, tenant, definition, ...created, ...open });
    } else if (experiment === undefined) {
      return;
    } else if (record[0] === 7 && !isFinal) {
      const definition = JSON.parse(record[5]) as ExperimentDefinition;
      if (describeUnits(definition) !== describeUnits(experiment.definition)) {
        experiment.retainedFromDay = this.#retainedFromDay;
        experiment.countedPosition = position;
      }
      experiment.definition = definition;
    } else if (record[0] === 8) {
      experiment.closedPosition = Math.min(experiment.closedPosition, position);
    } else if (record[0] === 9) {
      experiment.isDeleted = true;
    }
  }

  figures(experiment: ModelExperiment, asOf: number): ExperimentFigures {
    const { definition } = experiment;
    const { arms, revenueDays, graceDays } = definition;
    const units = this.#units(experiment);
    const rows = arms.map(() => new Map<number, Figures>());
    const ages = new Map<string, RevenueAge>();
    const unitsWithRevenue = [];
    for (const { arm, sessions } of units) {
      const isInSeveralArms = sessions.some(({ tag }) => tag !== arms[arm]!.referrerTag);
      const days = [...new Set(sessions.map(({ day }) => day))].sort((a, b) => a - b);
      for (const day of days.filter((day) => day <= asOf)) {
        const until = (end: number) => sessions.filter((session) => session.day <= end);
        const change = subtract(figuresOf(until(day), definition), figuresOf(until(day - 1), definition));
        if (isInSeveralArms && day === days[0]) change.unitsInSeveralArms++;
        change.assignmentMismatches = sessions.filter(
          (session) => session.day === day && isMismatch(session, experiment),
        ).length;
        rows[arm]!.set(day, add(rows[arm]!.get(day) ?? figuresOf([], definition), change));
      }
      for (const session of sessions.filter(({ day }) => day <= asOf)) {
        for (const { ageWeeks, micros } of agesOf(session, definition)) {
          const key = `${arm} ${session.day} ${ageWeeks}`;
          const revenueMicros = (ages.get(key)?.revenueMicros ?? 0) + micros;
          ages.set(key, { arm, day: session.day, ageWeeks, revenueMicros });
        }
      }
      const mature = sessions.filter(({ day }) => day + revenueDays + graceDays + 1 <= asOf);
      const { revenueMicros } = figuresOf(mature, definition);
      if (revenueMicros > 0) unitsWithRevenue.push({ arm, revenueMicros, sessions: mature.length });
    }
    const days = rows.flatMap((ofArm, arm) => [...ofArm].map(([day, figures]) => toArmDay(arm, day, figures)));
    return {
      asOf,
      fillProgress: null,
      days: days.sort((a, b) => a.day - b.day || a.arm - b.arm),
      ages: [...ages.values()],
      unitsWithRevenue,
      leftOut: this.#leftOut(experiment, asOf),
    };
  }

  /** Groups units by the device or the metadata of their first session. */
  breakdown(experiment: ModelExperiment, groupBy: string, asOf: number): GroupFigures[] {
    const { definition } = experiment;
    const units = this.#units(experiment);
    const groupValueOf = ({ device, metadata }: ModelSession): string | null => {
      if (groupBy === 'device') return deviceClasses[device]!;
      const entries = metadata === null ? {} : (JSON.parse(metadata) as Record<string, unknown>);
      return groupBy in entries ? `${entries[groupBy]}` : null;
    };
    const sessions = units.flatMap((unit) => unit.sessions).sort((a, b) => a.position - b.position);
    const byFirstSession = [...new Set(sessions.map(groupValueOf))];
    const texts = byFirstSession.filter((value) => value !== null);
    const shown = groupBy === 'device' ? [...deviceClasses] : texts.slice(0, 50);
    const groupOf = ({ sessions }: (typeof units)[number]) => {
      const value = groupValueOf(sessions[0]!);
      return value === null ? 'none' : shown.includes(value) ? `=${value}` : 'other';
    };
    const groups = [...shown.map((value) => `=${value}`), 'none', 'other'].map((group): GroupFigures => {
      const inGroup = units.filter((unit) => groupOf(unit) === group);
      const isValue = group.startsWith('=');
      return {
        kind: isValue ? 'value' : (group as 'none' | 'other'),
        value: isValue ? group.slice(1) : null,
        arms: definition.arms.map((_, index) => {
          const until = (end: number): Figures =>
            inGroup
              .filter(({ arm }) => arm === index)
              .map((unit) =>
                figuresOf(
                  unit.sessions.filter(({ day }) => day <= end),
                  definition,
                ),
              )
              .reduce((a, b) => add(a, b), figuresOf([], definition));
          const { sessions, units, views, clicksCount: clicks, attributedMicros, confirmedMicros } = until(asOf);
          const mature = until(asOf - definition.revenueDays - definition.graceDays - 1);
          const figures = { sessions, units, views, clicks, attributedMicros, confirmedMicros };
          return { ...figures, mature: toArmDay(index, 0, mature).sums };
        }),
      };
    });
    return groups.filter(({ arms }) => arms.some(({ sessions }) => sessions > 0));
  }

  #leftOut(experiment: ModelExperiment, asOf: number): LeftOutSessions {
    const { definition } = experiment;
    const until = ({ day }: ModelSession) => day <= asOf;
    const sessions = this.#sessions(experiment).filter(until);
    const counted = this.#countedSessions(experiment).filter(until);
    return {
      bots: sessions.filter((session) => isInDates(session, definition) && isBot(session)).length,
      outsideDates: sessions.filter((session) => !isInDates(session, definition)).length,
      noUnit: definition.unit === 'session' ? 0 : counted.filter((session) => session.unit === null).length,
    };
  }

  /** Returns all sessions with tags of an experiment, in ledger order. */
  #sessions({ tenant, definition }: ModelExperiment): ModelSession[] {
    return this.analytics.sessions.filter(
      (session) =>
        isSameTenant(session.tenant, tenant) && definition.arms.some(({ referrerTag }) => referrerTag === session.tag),
    );
  }

  /** Returns the sessions that an experiment counts if they have a unit, in ledger order. */
  #countedSessions(experiment: ModelExperiment): ModelSession[] {
    const { definition, createdMs, createdPosition, retainedFromDay, closedPosition } = experiment;
    const isRetrospective = definition.startsOn < daysSinceEpoch(createdMs);
    return this.#sessions(experiment).filter(
      (session) =>
        isInDates(session, definition) &&
        !isBot(session) &&
        session.position < closedPosition &&
        session.day >= retainedFromDay &&
        (session.position > createdPosition || isRetrospective),
    );
  }

  /** Returns the units of an experiment with their sessions in ledger order. The first session decides about the arm. */
  #units(experiment: ModelExperiment): { arm: number; sessions: ModelSession[] }[] {
    const { definition } = experiment;
    const sessions = this.#countedSessions(experiment).filter(
      ({ unit }) => definition.unit === 'session' || unit !== null,
    );
    const unitOf = ({ position, unit }: ModelSession) => (definition.unit === 'session' ? position : unit);
    return [...Map.groupBy(sessions, unitOf).values()].map((ofUnit) => ({
      arm: definition.arms.findIndex(({ referrerTag }) => referrerTag === ofUnit[0]!.tag),
      sessions: ofUnit,
    }));
  }
}

function isSameTenant(a: SubIdParts, b: SubIdParts): boolean {
  return a.account === b.account && a.vertical === b.vertical && a.mode === b.mode;
}

function describeUnits({ arms, unit, assignment }: ExperimentDefinition): string {
  return JSON.stringify([arms.map(({ referrerTag }) => referrerTag), unit, assignment]);
}

function isBot({ device }: ModelSession): boolean {
  return deviceClasses[device] === 'bot';
}

/** Whether the service found the tag of another arm when it created a session of an experiment. */
function isMismatch({ isMisassigned, position }: ModelSession, experiment: ModelExperiment): boolean {
  return experiment.definition.assignment === 'hash' && isMisassigned && position > experiment.countedPosition;
}

function isInDates({ day }: ModelSession, { startsOn, endsOn }: ExperimentDefinition): boolean {
  return day >= startsOn && (endsOn === null || day <= endsOn);
}

/** Returns the payouts and reversals of a session that count, and those that came too late, each with its sign. */
function freeze({ day, revenueChanges }: ModelSession, { revenueDays, graceDays }: ExperimentDefinition) {
  const occurredBeforeMs = (day + revenueDays + 1) * msPerDay;
  const acceptedBeforeMs = (day + revenueDays + graceDays + 1) * msPerDay;
  const isCounted = (change: (typeof revenueChanges)[number]): boolean => {
    const isInTime = change.occurredMs < occurredBeforeMs && change.acceptedMs < acceptedBeforeMs;
    const payout = revenueChanges.find(({ payout, micros }) => payout === change.payout && micros >= 0)!;
    return isInTime && (change === payout || isCounted(payout));
  };
  const counted = revenueChanges.filter(isCounted);
  return { counted, late: revenueChanges.filter((change) => !counted.includes(change)) };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Returns the frozen revenue of a session. */
function frozenMicros(changes: readonly { readonly micros: number }[], { capMicros }: ExperimentDefinition): number {
  const micros = Math.max(0, sum(changes.map((change) => change.micros)));
  return Math.min(micros, capMicros ?? micros);
}

/** Returns by how much the frozen revenue grew in each week, counted from the cohort day. */
function agesOf(session: ModelSession, definition: ExperimentDefinition) {
  const weekOf = ({ acceptedMs }: RevenueChange) =>
    Math.max(0, Math.floor((daysSinceEpoch(acceptedMs) - session.day) / 7));
  const { counted } = freeze(session, definition);
  const untilWeek = (week: number) =>
    frozenMicros(
      counted.filter((change) => weekOf(change) <= week),
      definition,
    );
  const weeks = new Set(counted.map(weekOf));
  return [...weeks].map((ageWeeks) => ({ ageWeeks, micros: untilWeek(ageWeeks) - untilWeek(ageWeeks - 1) }));
}

/** Returns the figures of some sessions of one unit. */
function figuresOf(sessions: readonly ModelSession[], definition: ExperimentDefinition) {
  const frozen = sessions.map((session) => freeze(session, definition));
  const revenueMicros = sum(frozen.map(({ counted }) => frozenMicros(counted, definition)));
  const counted = frozen.flatMap((each) => each.counted);
  const late = frozen.flatMap((each) => each.late);
  const isPayout = ({ micros }: { micros: number }) => micros > 0;
  const isReversal = ({ micros }: { micros: number }) => micros < 0;
  const payouts = counted.filter(isPayout).length;
  const reversed = sum(frozen.map((each) => new Set(each.counted.filter(isReversal).map(({ payout }) => payout)).size));
  const ofEvents = (name: EventName, events: number, base: number) => ({
    [`${name}Count`]: events,
    [`${name}Squared`]: events ** 2,
    [`${name}Product`]: events * base,
    [`${name}Units`]: events > 0 ? 1 : 0,
  });
  const clicks = sessions.flatMap((session) => [...session.clicks.values()]);
  const errors = sessions.flatMap(({ widgetEvents }) => widgetEvents.filter((type) => type === 'widget_error'));
  return {
    sessions: sessions.length,
    units: sessions.length > 0 ? 1 : 0,
    unitsWithRevenue: revenueMicros > 0 ? 1 : 0,
    revenueMicros,
    revenueCentsSquared: squareCents(revenueMicros),
    revenueMicrosTimesSessions: revenueMicros * sessions.length,
    sessionsSquared: sessions.length ** 2,
    views: sum(sessions.map(({ views }) => views)),
    attributedMicros: sum(clicks.map(({ micros }) => micros)),
    confirmedMicros: sum(sessions.flatMap(({ revenueChanges }) => revenueChanges.map(({ micros }) => micros))),
    afterConfirmedMicros: sum(late.filter(isPayout).map(({ micros }) => micros)),
    afterReversedMicros: -sum(late.filter(isReversal).map(({ micros }) => micros)),
    ...ofEvents('clicks', clicks.length, sessions.length),
    ...ofEvents('inputs', sessions.filter(({ views }) => views > 0).length, sessions.length),
    ...ofEvents('errors', errors.length, sessions.length),
    ...ofEvents('reversals', reversed, payouts),
    payouts,
    payoutsSquared: payouts ** 2,
    unitsInSeveralArms: 0,
    assignmentMismatches: 0,
  } as Figures;
}

type EventName = 'clicks' | 'inputs' | 'errors' | 'reversals';
type Figures = Record<
  | Exclude<keyof ArmDay, 'arm' | 'day' | 'sums' | EventName>
  | keyof ArmDay['sums']
  | `${EventName}${'Count' | 'Squared' | 'Product' | 'Units'}`,
  number
>;

function add(a: Figures, b: Figures, sign = 1): Figures {
  return Object.fromEntries(
    Object.entries(a).map(([name, value]) => [name, value + sign * b[name as keyof Figures]]),
  ) as Figures;
}

function subtract(a: Figures, b: Figures): Figures {
  return add(a, b, -1);
}

function toArmDay(arm: number, day: number, figures: Figures): ArmDay {
  const { sessions, units, unitsWithRevenue, revenueMicros, revenueCentsSquared, views, attributedMicros } = figures;
  const { revenueMicrosTimesSessions, sessionsSquared, payouts, payoutsSquared, unitsInSeveralArms } = figures;
  const { confirmedMicros, afterConfirmedMicros, afterReversedMicros, assignmentMismatches } = figures;
  const events = (name: EventName): EventSums => ({
    count: figures[`${name}Count`],
    squared: figures[`${name}Squared`],
    product: figures[`${name}Product`],
    unitsWithEvents: figures[`${name}Units`],
  });
  return {
    arm,
    day,
    sums: {
      sessions,
      units,
      unitsWithRevenue,
      revenueMicros,
      revenueCentsSquared,
      revenueMicrosTimesSessions,
      sessionsSquared,
    },
    views,
    attributedMicros,
    confirmedMicros,
    afterConfirmedMicros,
    afterReversedMicros,
    clicks: events('clicks'),
    inputs: events('inputs'),
    errors: events('errors'),
    reversals: events('reversals'),
    payouts,
    payoutsSquared,
    unitsInSeveralArms,
    assignmentMismatches,
  };
}
