import fc from 'fast-check';
import { dayStartMs, msPerDay } from '../../src/domain/calendar.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import type { DeviceClass, LedgerRecord } from '../../src/ledger/ledger-record.ts';
import {
  type ClickDecision,
  experimentClosedRecord,
  experimentDefinedRecord,
  experimentDeletedRecord,
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  revenueReversedRecord,
  sessionCreatedRecord,
  subIdBytes,
  widgetEventsRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';
import { arbitraryRecords } from './arbitrary-ledger.ts';
import { today } from './sample-query.ts';

const offers = ['a', 'b', 'c'];
const usd = 1_000_000;

/** Mostly one tenant, and one each with another account, vertical and mode. */
const owner = fc.constantFrom<{ account?: number; vertical?: number; mode?: 'test' }>(
  ...([{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}] as const),
  ...([{ account: 2 }, { vertical: 2 }, { mode: 'test' }] as const),
);

/**
 * Times in milliseconds since the start of the cohort day, on both sides of the ends of all windows: revenue occurs within 8 or 46 days, and is
 * accepted up to 0, 7 or 45 days later.
 */
const windowEdge = fc
  .tuple(fc.constantFrom(1, 2, 2, 3, 8, 15, 46, 53, 91), fc.constantFrom(-1, 0))
  .map(([days, ms]) => days * msPerDay + ms);

const amount = fc.constantFrom(1, 12_345, usd, 25 * usd, 25 * usd, 100 * usd, 60_000 * usd);

const acceptance = fc.record({ occurred: windowEdge, accepted: windowEdge });
/** A payout, a reversal, or a payout and its reversal. */
const booking = fc.record({
  kind: fc.constant('booking' as const),
  offer: fc.constantFrom('a', 'a', 'b'),
  txid: fc.constantFrom('tx-1', 'tx-2', 'tx-3'),
  payout: fc.option(fc.record({ micros: amount, times: acceptance }), { freq: 6 }),
  reversal: fc.option(
    fc.record({
      micros: fc.constantFrom(null, null, 1, usd),
      times: acceptance,
      reason: fc.constantFrom(null, null, 0),
    }),
    { freq: 2 },
  ),
});
type Booking = typeof booking extends fc.Arbitrary<infer Value> ? Value : never;

const step = fc.oneof(
  { weight: 6, arbitrary: booking },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('view' as const), again: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('events' as const), errors: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('click' as const), offer: fc.constantFrom(...offers) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('creation' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const session = fc.record({
  age: fc.constantFrom(0, 0, 1, 1, 2, 3, 46, 47, 60),
  /** Time since the start of the day. */
  createdMs: fc.constantFrom(0, msPerDay / 2, msPerDay - 1),
  owner,
  tag: fc.constantFrom('tag-one', 'tag-one', 'tag-one', 'tag-two', 'tag-two', 'tag-two', 'tag-three'),
  device: fc.constantFrom(0, 0, 1, 1, 2, 2, 3, 4),
  unit: fc.constantFrom(null, 'v', 'v', 'v', 'w', 'w', 'w', 'x'),
  isMisassigned: fc.boolean(),
  clickMs: fc.constantFrom(2_000, msPerDay),
  /** If the clicks confirm their own revenue. */
  confirms: fc.constantFrom(false, false, true),
  steps: fc.array(step, { maxLength: 6, size: 'max' }),
});
type Session = typeof session extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the records of a session in an order in which most of them count. */
function toSessionRecords({ age, steps, clickMs, confirms, ...wanted }: Session, serial: number): LedgerRecord[] {
  const dayMs = dayStartMs(today - age);
  const sub = subIdBytes({ createdMs: dayMs + wanted.createdMs, serial: 100 + serial, ...wanted.owner });
  const created = sessionCreatedRecord(sub, { ...wanted, device: wanted.device as DeviceClass });
  const decision: ClickDecision = confirms ? [true, null, true] : [];
  const click = (offer: string) =>
    offerClickedRecord(sub, offer, {
      wallMs: dayMs + wanted.createdMs + clickMs,
      valueMicros: offer === 'b' ? 0 : 30 * usd,
      decision,
    });
  const bookings = ({ offer, txid, payout, reversal }: Booking): LedgerRecord[] => {
    const timesOf = ({ occurred, accepted }: { occurred: number; accepted: number }) => ({
      occurredMs: dayMs + occurred,
      wallMs: dayMs + Math.max(occurred, accepted),
    });
    const records: LedgerRecord[] = [];
    if (payout !== null) {
      const { micros, times } = payout;
      records.push(revenueConfirmedRecord(sub, offer, { txid, micros, ...timesOf(times) }));
    }
    if (reversal !== null) {
      const { micros, times, reason } = reversal;
      const options = { txid, micros: micros ?? payout?.micros ?? usd, ...timesOf(times) };
      records.push(revenueReversedRecord(sub, offer, reason === null ? options : { ...options, reason }));
    }
    return records;
  };
  const toRecords = (each: Step): LedgerRecord[] => {
    switch (each.kind) {
      case 'booking':
        return bookings(each);
      case 'view':
        return [widgetViewedRecord(sub, offers, { again: each.again })];
      case 'events':
        return [widgetEventsRecord(sub, ['widget_loaded', ...Array<'widget_error'>(each.errors).fill('widget_error')])];
      case 'click':
        return [click(each.offer)];
      case 'creation':
        return [created];
    }
  };
  return [created, offersViewedRecord(sub, ['a', 'b']), click('a'), ...steps.flatMap(toRecords)];
}

const countings = [
  { unit: 'session', assignment: 'own' },
  { unit: 'visitor', assignment: 'own' },
  { unit: 'visitor', assignment: 'hash' },
] as const;

const experiment = fc.record({
  owner,
  /** Age of the definition, and the first day in relation to it. Below 0, the experiment counts earlier sessions too. */
  age: fc.constantFrom(0, 1, 2, 46, 60),
  starts: fc.constantFrom(-60, -60, -1, 0, 0, 1),
  lasts: fc.constantFrom(null, null, null, 1, 14, 60),
  counting: fc.constantFrom(...countings),
  tags: fc.constantFrom(
    ['tag-one', 'tag-two'],
    ['tag-two', 'tag-one'],
    ['tag-three', 'tag-one'],
    ['tag-one', 'tag-two', 'tag-three'],
  ),
  capMicros: fc.constantFrom(null, null, usd, 50 * usd),
  revenueDays: fc.constantFrom(45, 45, 7),
  graceDays: fc.constantFrom(0, 7, 45),
  /** `other` changes arms, unit and maximum, so that all sessions must be counted again. */
  changes: fc.array(fc.constantFrom('labels', 'repeat', 'other', 'close', 'delete'), { maxLength: 3 }),
});
type ArbitraryExperiment = typeof experiment extends fc.Arbitrary<infer Value> ? Value : never;

function toExperimentRecords(
  { owner, age, starts, lasts, tags, changes, counting, ...rest }: ArbitraryExperiment,
  index: number,
): LedgerRecord[] {
  const sub = subIdBytes({ createdMs: dayStartMs(today - age), serial: index, ...owner });
  const startsOn = today - age + starts;
  const name = `experiment-${index}`;
  const define = (label: string | null, other: Partial<ExperimentDefinition> = {}) => {
    const arms = tags.map((referrerTag) => ({ referrerTag, weight: 1 / tags.length, label }));
    const endsOn = lasts === null ? null : startsOn + lasts;
    const definition: Partial<ExperimentDefinition> = {
      ...rest,
      ...counting,
      arms,
      control: tags[0]!,
      startsOn,
      endsOn,
    };
    return experimentDefinedRecord(sub, name, { ...definition, ...other });
  };
  const other: Partial<ExperimentDefinition> = {
    arms: ['tag-two', 'tag-three'].map((referrerTag) => ({ referrerTag, weight: 0.5, label: null })),
    control: 'tag-two',
    ...(counting.unit === 'session' ? countings[2] : countings[0]),
    capMicros: 2 * usd,
  };
  const definitions = { labels: define('new'), repeat: define(null), other: define(null, other) };
  const ends = { close: experimentClosedRecord(sub, name), delete: experimentDeletedRecord(sub, name) };
  return [define(null), ...changes.map((change) => ({ ...definitions, ...ends })[change])];
}

/** Picks by which `merge` orders sequences. */
export const arbitraryPicks = fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 60, size: 'max' });

/** Merges sequences of records. Each pick selects the sequence that has the next record. */
export function merge(sequences: readonly (readonly LedgerRecord[])[], picks: readonly number[]): LedgerRecord[] {
  const left = sequences.map((sequence) => [...sequence]).filter(({ length }) => length > 0);
  const merged: LedgerRecord[] = [];
  for (let index = 0; left.length > 0; index++) {
    const at = (picks[index % picks.length] ?? 0) % left.length;
    merged.push(left[at]!.shift()!);
    if (left[at]!.length === 0) left.splice(at, 1);
  }
  return merged;
}

/**
 * Histories of one to three experiments that share tags, with sessions before, during and after them. The records of a session are in order,
 * but those of different sessions and experiments are merged in any order.
 */
export const arbitraryHistory: fc.Arbitrary<LedgerRecord[]> = fc
  .record({
    sessions: fc.array(session, { minLength: 1, maxLength: 14, size: 'max' }),
    experiments: fc.array(experiment, { minLength: 1, maxLength: 3, size: 'max' }),
    others: arbitraryRecords,
    picks: arbitraryPicks,
    /** Number of definitions before all sessions. */
    definedFirst: fc.nat({ max: 3 }),
    /** If the sessions are in the order of their days, so that retention deletes the ledger segments of old sessions. */
    isChronological: fc.boolean(),
  })
  .map(({ sessions, experiments, others, picks, definedFirst, isChronological }) => {
    const changes = experiments.map(toExperimentRecords);
    const first = changes.slice(0, definedFirst).map((records) => records.shift()!);
    const ofSessions = sessions.map((session, serial) => ({ ...session, records: toSessionRecords(session, serial) }));
    const ofAges = Map.groupBy(ofSessions, ({ age }) => (isChronological ? age : 0));
    const merged = [...ofAges]
      .sort(([a], [b]) => b - a)
      .map(([, group]) =>
        merge(
          group.map(({ records }) => records),
          picks,
        ),
      );
    return [...first, ...merge([...changes, [...merged.flat(), ...others]], picks)];
  });
