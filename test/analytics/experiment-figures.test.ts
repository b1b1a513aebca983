import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dayStartMs, msPerDay } from '../../src/domain/calendar.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import type { ExperimentFigures } from '../../src/experiments/experiment-figures.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import {
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
import { ExperimentModel } from './experiment-model.ts';
import { ProjectedStore } from './projected-store.ts';
import { today } from './sample-query.ts';

/** First day of the experiments. Days in this file are relative to it. */
const day0 = today;
const noonOf = (day: number) => dayStartMs(day0 + day) + msPerDay / 2;
const usd = 1_000_000;

let nextSerial = 1;
/** Returns the sub_id of a new session. */
const newSub = (day = 0, owner: object = {}) => subIdBytes({ createdMs: noonOf(day), serial: nextSerial++, ...owner });
const created = (day = 0, options: Parameters<typeof sessionCreatedRecord>[1] = {}) =>
  sessionCreatedRecord(newSub(day), options);

const experimentSub = (day: number) => subIdBytes({ createdMs: noonOf(day), serial: 0 });
const define = (definition: Partial<ExperimentDefinition> = {}, day = 0) =>
  experimentDefinedRecord(experimentSub(day), 'hero', { startsOn: day0, ...definition });
const close = (day = 0) => experimentClosedRecord(experimentSub(day), 'hero');
const remove = (day = 0) => experimentDeletedRecord(experimentSub(day), 'hero');

interface EarningOptions {
  readonly day?: number;
  readonly tag?: string;
  readonly unit?: string;
  /** Days from the session to the click. */
  readonly clicked?: number;
  /** Amounts in USD. Each payout has its own txid, and a reversal has the txid of the payout before it. */
  readonly payouts: readonly {
    readonly usd: number;
    /** Days from the start of the cohort day to the end of the millisecond in which the payout occurs. */
    readonly occurred?: number;
    readonly accepted?: number;
  }[];
}

const endOf = (day: number, days: number) => Math.round(dayStartMs(day0 + day + days)) - 1;
const oneMs = 1 / msPerDay;
const inTime = { occurred: 46, accepted: 53 };
const occurredLate = { occurred: 46 + oneMs, accepted: 53 };
const acceptedLate = { occurred: 46, accepted: 53 + oneMs };

/** Returns the records of a session that earns money. Negative amounts are reversals. */
function earning({ day = 0, tag = 'tag-one', unit, clicked = 0, payouts }: EarningOptions): LedgerRecord[] {
  const sub = newSub(day);
  let txid = 0;
  const payoutRecords = payouts.map(({ usd: amount, occurred = 2, accepted = occurred }) => {
    if (amount > 0) txid++;
    const options = { txid: `tx-${txid}`, occurredMs: endOf(day, occurred), wallMs: endOf(day, accepted) };
    return amount > 0
      ? revenueConfirmedRecord(sub, 'a', { micros: amount * usd, ...options })
      : revenueReversedRecord(sub, 'a', { micros: -amount * usd, ...options });
  });
  const session = sessionCreatedRecord(sub, { tag, ...(unit === undefined ? {} : { unit }) });
  const click = offerClickedRecord(sub, 'a', { wallMs: noonOf(day + clicked) });
  return [session, offersViewedRecord(sub, ['a']), click, ...payoutRecords];
}

/** Returns the records of a session whose click confirms its own revenue of 3 USD, with reversals in USD. */
function earningByClick(reversals: readonly { usd: number; occurred: number; accepted: number }[]): LedgerRecord[] {
  const sub = newSub();
  return [
    sessionCreatedRecord(sub),
    offersViewedRecord(sub, ['a']),
    offerClickedRecord(sub, 'a', { valueMicros: 3 * usd, decision: [true, null, true] }),
    ...reversals.map((each, index) => {
      const times = { occurredMs: endOf(0, each.occurred), wallMs: endOf(0, each.accepted) };
      return revenueReversedRecord(sub, 'a', { txid: `tx-${index}`, micros: each.usd * usd, reason: 0, ...times });
    }),
  ];
}

type Read = (figures: ExperimentFigures) => unknown;
const sumOf = ({ days }: ExperimentFigures, read: (row: ExperimentFigures['days'][number]) => number) =>
  days.reduce((sum, row) => sum + read(row), 0);

/** Sessions by arm and day. */
const sessions: Read = ({ days }) => days.map(({ arm, day, sums }) => [arm, day - day0, sums.sessions]);
const leftOut: Read = (figures) => [sumOf(figures, ({ sums }) => sums.sessions), ...Object.values(figures.leftOut)];
/** Frozen revenue, and revenue confirmed and reversed after the freeze, in USD. */
const revenue: Read = (figures) => [
  sumOf(figures, ({ sums }) => sums.revenueMicros) / usd,
  sumOf(figures, (row) => row.afterConfirmedMicros) / usd,
  sumOf(figures, (row) => row.afterReversedMicros) / usd,
];
/** Sums of each arm and day: sessions, units, units with revenue, y (USD), y^2 (square USD), y s (USD), s^2. */
const sums: Read = ({ days }) =>
  days.map(({ arm, day, sums }) => [
    arm,
    day - day0,
    sums.sessions,
    sums.units,
    sums.unitsWithRevenue,
    sums.revenueMicros / usd,
    sums.revenueCentsSquared / 10_000,
    sums.revenueMicrosTimesSessions / usd,
    sums.sessionsSquared,
  ]);
const severalArms: Read = ({ days }) =>
  days.map(({ arm, day, sums, unitsInSeveralArms }) => [arm, day - day0, sums.units, unitsInSeveralArms]);
const mismatches: Read = ({ days }) =>
  days.map(({ arm, day, sums, assignmentMismatches }) => [arm, day - day0, sums.sessions, assignmentMismatches]);
const ages: Read = (figures) =>
  figures.ages
    .filter(({ revenueMicros }) => revenueMicros !== 0)
    .map(({ arm, day, ageWeeks, revenueMicros }) => [arm, day - day0, ageWeeks, revenueMicros / usd])
    .sort();
const unitsWithRevenue: Read = (figures) =>
  figures.unitsWithRevenue.map(({ arm, revenueMicros, sessions }) => [arm, revenueMicros / usd, sessions]).sort();
const events =
  (name: 'clicks' | 'inputs' | 'errors' | 'reversals'): Read =>
  ({ days }) =>
    days.map((row) => [row.day - day0, ...Object.values(row[name])]);

interface Case {
  readonly title: string;
  readonly records: readonly LedgerRecord[];
  /** Last closed day; by default, all sessions are mature. */
  readonly asOf?: number;
  readonly read: Read;
  readonly expected: unknown;
}

const visitor = { unit: 'visitor' } as const;
const botDevice = 4;
const threeArms = ['tag-one', 'tag-two', 'tag-three'].map((referrerTag) => ({ referrerTag, weight: 1, label: null }));

const membership: Case[] = [
  {
    title: 'counts sessions in the arm of their tag, by day',
    records: [define(), created(0), created(1, { tag: 'tag-two' }), created(1), created(1), created(1, { tag: 'x' })],
    read: sessions,
    expected: [
      [0, 0, 1],
      [0, 1, 2],
      [1, 1, 1],
    ],
  },
  {
    title: 'counts sessions of its own tenant only',
    records: [
      define(),
      ...[{ account: 2 }, { vertical: 2 }, { mode: 'test' }].map((owner) => sessionCreatedRecord(newSub(0, owner))),
    ],
    read: leftOut,
    expected: [0, 0, 0, 0],
  },
  {
    title: 'counts repeated records of a session once',
    records: ((session) => [define(), session, session])(created()),
    read: leftOut,
    expected: [1, 0, 0, 0],
  },
  {
    title: 'counts sessions from the first to the last day',
    records: [define({ startsOn: day0 + 1, endsOn: day0 + 3 }), ...[0, 1, 3, 4, 5].map((day) => created(day))],
    read: leftOut,
    expected: [2, 0, 3, 0],
  },
  {
    title: 'leaves out bots on days of the experiment',
    records: [
      define({ startsOn: day0 + 1 }),
      ...[0, 1, 2].map((day) => created(day, { device: botDevice })),
      created(1),
    ],
    read: leftOut,
    expected: [1, 2, 1, 0],
  },
  {
    title: 'leaves out sessions without unit if the unit is a visitor',
    records: [define(visitor), created(), created(0, { unit: 'v' }), created(0, { device: botDevice })],
    read: leftOut,
    expected: [1, 1, 0, 1],
  },
  {
    title: 'ignores missing units if the unit is a session',
    records: [define(), created(), created(0, { unit: 'v' })],
    read: leftOut,
    expected: [2, 0, 0, 0],
  },
  {
    title: 'counts no session before its definition, but leaves out all bots and all sessions outside its dates',
    records: [created(), created(0, { device: botDevice }), created(-1), define(), created()],
    read: leftOut,
    expected: [1, 1, 1, 0],
  },
  {
    title: 'counts earlier sessions if it starts before its definition',
    records: [created(), created(0, { device: botDevice }), created(-1), define({}, 1), created()],
    read: leftOut,
    expected: [2, 1, 1, 0],
  },
  {
    title: 'counts the sessions between its definition and a change',
    records: [define(), created(), define({ hypothesis: 'changed' }, 1), created(1)],
    read: leftOut,
    expected: [2, 0, 0, 0],
  },
  {
    title: 'counts no session after it was closed, but later revenue of earlier sessions',
    records: [
      define(),
      ...((records: LedgerRecord[]) => [records[0]!, close(), ...records.slice(1)])(earning({ payouts: [{ usd: 5 }] })),
      created(),
      created(0, { device: botDevice }),
    ],
    read: (figures) => [leftOut(figures), revenue(figures)],
    expected: [
      [1, 1, 0, 0],
      [5, 0, 0],
    ],
  },
  {
    title: 'counts sessions after it was deleted',
    records: [define(), remove(), created()],
    read: leftOut,
    expected: [1, 0, 0, 0],
  },
  {
    title: 'counts sessions up to the day of the figures',
    records: [define({ endsOn: day0 + 1 }), ...[0, 1, 2, 3].map((day) => created(day))],
    asOf: 2,
    read: leftOut,
    expected: [2, 0, 1, 0],
  },
];

const revenueRules: Case[] = [
  ...[
    { title: 'payouts that occurred and were accepted in time', payouts: [{ usd: 8, ...inTime }], expected: [8, 0, 0] },
    {
      title: 'payouts that occurred late apart',
      payouts: [{ usd: 8, ...occurredLate }],
      expected: [0, 8, 0],
    },
    {
      title: 'payouts that were accepted late apart',
      payouts: [{ usd: 8, ...acceptedLate }],
      expected: [0, 8, 0],
    },
    {
      title: 'reversals in time',
      payouts: [{ usd: 8 }, { usd: -3, ...inTime }],
      expected: [5, 0, 0],
    },
    {
      title: 'reversals that occurred late apart',
      payouts: [{ usd: 8 }, { usd: -3, ...occurredLate }],
      expected: [8, 0, 3],
    },
    {
      title: 'reversals that were accepted late apart',
      payouts: [{ usd: 8 }, { usd: -3, ...acceptedLate }],
      expected: [8, 0, 3],
    },
    {
      title: 'reversals of a late payout apart',
      payouts: [{ usd: 8, ...occurredLate }, { usd: -3, ...inTime }, { usd: 2 }],
      expected: [2, 8, 3],
    },
    {
      title: 'reversals with their own payout',
      payouts: [{ usd: 8 }, { usd: -8 }, { usd: 6, occurred: 47 }, { usd: -6, occurred: 47 }, { usd: 1 }],
      expected: [1, 6, 6],
    },
  ].map(({ title, payouts, expected }) => ({
    title: `counts ${title}`,
    records: [define(), ...earning({ payouts })],
    read: revenue,
    expected,
  })),
  ...(
    [
      [0, 'in time', 46, [8, 0, 0]],
      [0, 'late', 46 + oneMs, [0, 8, 0]],
      [45, 'in time', 91, [8, 0, 0]],
      [45, 'late', 91 + oneMs, [0, 8, 0]],
    ] as const
  ).map(([graceDays, word, accepted, expected]) => ({
    title: `accepts revenue ${word} with a grace of ${graceDays} days`,
    records: [define({ graceDays }), ...earning({ clicked: 1, payouts: [{ usd: 8, occurred: 46, accepted }] })],
    read: revenue,
    expected,
  })),
  {
    title: 'counts revenue of 7 days where clicks confirm revenue',
    records: [
      define({ revenueDays: 7 }),
      ...earningByClick([
        { usd: 1, occurred: 8, accepted: 15 },
        { usd: 0.5, occurred: 8 + oneMs, accepted: 9 },
        { usd: 0.25, occurred: 8, accepted: 15 + oneMs },
      ]),
    ],
    read: revenue,
    expected: [2, 0, 0.75],
  },
  {
    title: 'caps the frozen revenue of a session, but not its revenue today',
    records: [
      define({ capMicros: 10 * usd }),
      ...earning({ payouts: [{ usd: 8 }, { usd: 8 }] }),
      ...earning({ payouts: [{ usd: 20 }, { usd: -12 }] }),
      ...earning({ payouts: [{ usd: 20 }, { usd: -12, occurred: 47 }] }),
    ],
    read: (figures) => [...(revenue(figures) as number[]), sumOf(figures, (row) => row.confirmedMicros) / usd],
    expected: [28, 0, 12, 32],
  },
  {
    title: 'splits frozen revenue by the week of its acceptance',
    records: [
      define({ capMicros: 20 * usd }),
      ...earning({
        payouts: [
          { usd: 8, occurred: 7 },
          { usd: 1, occurred: 7, accepted: 8 },
          { usd: -1, accepted: 15 },
        ],
      }),
      ...earning({ day: 1, payouts: [{ usd: 30 }, { usd: -20, ...inTime }] }),
      ...earning({ tag: 'tag-two', payouts: [{ usd: 9, occurred: 47 }] }),
    ],
    read: ages,
    expected: [
      [0, 0, 0, 8],
      [0, 0, 1, 1],
      [0, 0, 2, -1],
      [0, 1, 0, 20],
      [0, 1, 7, -10],
    ],
  },
  {
    title: 'lists mature sessions with revenue',
    records: [
      define(),
      ...earning({ payouts: [{ usd: 8 }] }),
      ...earning({ day: 1, payouts: [{ usd: 9 }] }),
      ...earning({ tag: 'tag-two', payouts: [{ usd: 7 }, { usd: -7 }] }),
      ...earning({ tag: 'tag-two', payouts: [{ usd: 2 }, { usd: -1, occurred: 50 }] }),
      created(),
    ],
    asOf: 53,
    read: unitsWithRevenue,
    expected: [
      [0, 8, 1],
      [1, 2, 1],
    ],
  },
  {
    title: 'sums revenue and its squares over sessions',
    records: [
      define(),
      ...earning({ payouts: [{ usd: 8 }, { usd: 0.5 }] }),
      ...earning({ payouts: [{ usd: 2 }] }),
      created(),
    ],
    read: sums,
    expected: [[0, 0, 3, 3, 2, 10.5, 76.25, 10.5, 3]],
  },
];

const visitorRules: Case[] = [
  {
    title: 'adds the change of each unit by the sessions of each day',
    records: [
      define(visitor),
      ...earning({ unit: 'v', payouts: [{ usd: 3 }] }),
      ...earning({ unit: 'v', day: 2, payouts: [{ usd: 4 }] }),
      created(2, { unit: 'v' }),
      created(1, { unit: 'w' }),
      ...earning({ unit: 'w', day: 2, payouts: [{ usd: 1 }] }),
    ],
    read: sums,
    expected: [
      [0, 0, 1, 1, 1, 3, 9, 3, 1],
      [0, 1, 1, 1, 0, 0, 0, 0, 1],
      // v: from s = 1, y = 3 to s = 3, y = 7. w: from s = 1, y = 0 to s = 2, y = 1.
      [0, 2, 3, 0, 1, 5, 41, 20, 11],
    ],
  },
  {
    title: 'counts all sessions of a visitor in the arm of the first record',
    records: [
      define(visitor),
      created(1, { unit: 'v', tag: 'tag-two' }),
      created(0, { unit: 'v' }),
      created(2, { unit: 'v' }),
      created(0, { unit: 'w' }),
      created(1, { unit: 'w' }),
    ],
    read: severalArms,
    expected: [
      [0, 0, 1, 0],
      [1, 0, 1, 1],
      [0, 1, 0, 0],
      [1, 1, 0, 0],
      [1, 2, 0, 0],
    ],
  },
  {
    title: 'ignores sessions of a visitor that are in no arm when it chooses the arm',
    records: [
      define(visitor),
      created(-1, { unit: 'v' }),
      created(0, { unit: 'v', device: botDevice }),
      created(0, { unit: 'v', tag: 'other' }),
      created(0, { unit: 'v', tag: 'tag-two' }),
    ],
    read: severalArms,
    expected: [[1, 0, 1, 0]],
  },
  {
    title: 'counts a visitor in three arms once',
    records: [
      define({ ...visitor, arms: threeArms }),
      ...['tag-three', 'tag-one', 'tag-two'].map((tag, day) => created(day, { unit: 'v', tag })),
    ],
    read: severalArms,
    expected: [
      [2, 0, 1, 1],
      [2, 1, 0, 0],
      [2, 2, 0, 0],
    ],
  },
  {
    title: 'counts misassigned sessions in the arm of their visitor',
    records: [
      define({ ...visitor, assignment: 'hash' }),
      created(0, { unit: 'v', tag: 'tag-two', isMisassigned: true }),
      created(1, { unit: 'v' }),
      created(0, { unit: 'w' }),
      created(1, { unit: 'w', tag: 'tag-two', isMisassigned: true }),
      created(1, { unit: 'w', tag: 'tag-two', isMisassigned: true }),
      created(1, { unit: 'x', isMisassigned: true, device: botDevice }),
      created(-1, { unit: 'x', isMisassigned: true }),
    ],
    read: mismatches,
    expected: [
      [0, 0, 1, 0],
      [1, 0, 1, 1],
      [0, 1, 2, 2],
      [1, 1, 1, 0],
    ],
  },
  {
    title: 'counts no session that was misassigned before its definition, or in an experiment with own assignment',
    records: [
      created(0, { unit: 'v', isMisassigned: true }),
      define({ ...visitor, assignment: 'hash' }, 1),
      created(1, { unit: 'w', isMisassigned: true }),
      define({ ...visitor, assignment: 'own' }, 1),
    ],
    read: mismatches,
    expected: [
      [0, 0, 1, 0],
      [0, 1, 1, 0],
    ],
  },
  {
    title: 'counts no session that was misassigned in another experiment before an arm got its tag',
    records: [
      define({ ...visitor, assignment: 'hash', arms: threeArms.slice(0, 2) }),
      created(0, { unit: 'v', tag: 'tag-three', isMisassigned: true }),
      define({ ...visitor, assignment: 'hash', arms: threeArms.slice(1), control: 'tag-two' }),
      created(1, { unit: 'w', tag: 'tag-three', isMisassigned: true }),
      define({ ...visitor, assignment: 'hash', arms: threeArms.slice(1), control: 'tag-two', dimensions: ['page'] }),
    ],
    read: mismatches,
    expected: [
      [1, 0, 1, 0],
      [1, 1, 1, 1],
    ],
  },
  {
    title: 'counts no session that was misassigned before the assignment was by hash',
    records: [
      define(visitor),
      created(0, { unit: 'v', isMisassigned: true }),
      define({ ...visitor, assignment: 'hash' }),
      created(1, { unit: 'w', isMisassigned: true }),
      // The dimension causes all sessions to be counted again.
      define({ ...visitor, assignment: 'hash', dimensions: ['page'] }),
    ],
    read: mismatches,
    expected: [
      [0, 0, 1, 0],
      [0, 1, 1, 1],
    ],
  },
  {
    title: 'lists visitors with the revenue of their mature sessions',
    records: [
      define(visitor),
      ...earning({ unit: 'v', payouts: [{ usd: 3 }] }),
      ...earning({ unit: 'v', tag: 'tag-two', day: 1, payouts: [{ usd: 4 }] }),
      ...earning({ unit: 'v', day: 2, payouts: [{ usd: 5 }] }),
      ...earning({ unit: 'w', day: 2, payouts: [{ usd: 6 }] }),
    ],
    asOf: 54,
    read: unitsWithRevenue,
    expected: [[0, 7, 2]],
  },
  {
    title: 'caps the revenue of each session of a visitor',
    records: [
      define({ ...visitor, capMicros: 5 * usd }),
      ...earning({ unit: 'v', payouts: [{ usd: 9 }] }),
      ...earning({ unit: 'v', payouts: [{ usd: 9 }] }),
    ],
    read: sums,
    expected: [[0, 0, 2, 1, 1, 10, 100, 20, 4]],
  },
];

const eventRules: Case[] = [
  {
    title: 'counts clicks once for each session and offer',
    records: ((sub) => [
      define(),
      sessionCreatedRecord(sub),
      offersViewedRecord(sub, ['a', 'b']),
      ...['a', 'b', 'a', 'c'].map((offer) => offerClickedRecord(sub, offer)),
      created(),
    ])(newSub()),
    read: (figures) => [events('clicks')(figures), sumOf(figures, (row) => row.attributedMicros) / usd],
    expected: [[[0, 2, 4, 2, 1]], 2],
  },
  {
    title: 'counts the sessions of a visitor that have a view',
    records: [
      define(visitor),
      ...[0, 1, 1].flatMap((day, index) => {
        const sub = newSub(day);
        const views = [offersViewedRecord(sub, ['a']), widgetViewedRecord(sub, ['a'])];
        const refresh = widgetViewedRecord(sub, ['a'], { again: true });
        return [sessionCreatedRecord(sub, { unit: 'v' }), ...(index === 1 ? [refresh] : views)];
      }),
    ],
    read: (figures) => [events('inputs')(figures), sumOf(figures, ({ views }) => views)],
    // From x = 1, s = 1 to x = 2, s = 3.
    expected: [
      [
        [0, 1, 1, 1, 1],
        [1, 1, 3, 5, 0],
      ],
      4,
    ],
  },
  {
    title: 'counts widget errors',
    records: ((sub) => [
      define(),
      sessionCreatedRecord(sub),
      widgetEventsRecord(sub, ['widget_error', 'widget_loaded', 'widget_error', 'widget_error']),
      created(),
    ])(newSub()),
    read: events('errors'),
    expected: [[0, 3, 9, 3, 1]],
  },
  {
    title: 'relates payouts with reversals that count to payouts that count',
    records: [
      define(visitor),
      ...earning({ unit: 'v', payouts: [{ usd: 8 }, { usd: -3 }, { usd: 8 }, { usd: -3, occurred: 47 }] }),
      ...earning({ unit: 'v', day: 1, payouts: [{ usd: 8 }, { usd: -8 }, { usd: 8, occurred: 47 }] }),
    ],
    read: (figures) => [events('reversals')(figures), figures.days.map((row) => [row.payouts, row.payoutsSquared])],
    // From r = 1, p = 2 to r = 2, p = 3.
    expected: [
      [
        [0, 1, 1, 2, 1],
        [1, 1, 3, 4, 0],
      ],
      [
        [2, 4],
        [1, 5],
      ],
    ],
  },
  {
    title: 'counts clicks that confirm their own revenue as payouts',
    records: [
      define({ revenueDays: 7 }),
      ...earningByClick([
        { usd: 1, occurred: 2, accepted: 2 },
        { usd: 2, occurred: 2, accepted: 2 },
      ]),
    ],
    read: (figures) => [events('reversals')(figures), figures.days.map((row) => [row.payouts, row.payoutsSquared])],
    expected: [[[0, 1, 1, 1, 1]], [[1, 1]]],
  },
];

/** Returns the figures by the model and by the analytics store. */
function computeFigures(
  records: readonly LedgerRecord[],
  asOf: number,
): readonly [ExperimentFigures, ExperimentFigures] {
  const model = new ExperimentModel();
  for (const record of records) model.record(record);
  const projected = new ProjectedStore();
  try {
    projected.apply(...records);
    while (projected.store.fill.isRunning) projected.store.fill.countSlice();
    const query = { account: 1, vertical: 1, mode: 'live' as const, name: 'hero', asOf };
    return [model.figures(model.experiments[0]!, asOf), projected.store.readExperimentFigures(query)!.figures];
  } finally {
    projected.close();
  }
}

for (const [name, cases] of Object.entries({ membership, revenueRules, visitorRules, eventRules })) {
  describe(`figures of an experiment: ${name}`, () => {
    for (const { title, records, asOf = 200, read, expected } of cases) {
      it(title, () => {
        const [byModel, byStore] = computeFigures(records, day0 + asOf);
        assert.deepEqual(read(byModel), expected);
        assert.deepEqual(read(byStore), expected);
      });
    }
  });
}
