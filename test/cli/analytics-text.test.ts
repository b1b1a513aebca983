import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { formatDailyTable, formatSummary, sessionColumns } from '../../src/cli/commands/analytics-text.ts';
import { formatFixedRows } from '../../src/cli/output.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import type { AnalyticsSummary } from '../../src/operations/analytics-schemas.ts';

const figures = {
  sessions_total: 2,
  marketplace_views: 3,
  offer_clicks: 2,
  click_rate: 0.666667,
  rev_attributed: 84,
  rev_confirmed: 105,
  rev_per_session: 52.5,
};
const noWidgetEvents = Object.fromEntries(
  widgetEventTypes.map((type) => [type, 0]),
) as AnalyticsSummary['widget_events'];
const matured: AnalyticsSummary['matured'] = {
  from: '2026-04-01',
  to: '2026-04-07',
  sessions: 1,
  sessions_with_revenue: 1,
  rev_per_session: 105,
  ci95: { low: 98.123456, high: 111.876544 },
};
const summary: AnalyticsSummary = {
  referrer_tag: 'hero-short',
  ...figures,
  top_lenders: [{ lender: 'Harbor Loans', clicks: 2, rev_confirmed: 105, rev_confirmed_per_click: 52.5 }],
  granularity: 'summary',
  date_from: '2026-04-01',
  date_to: '2026-04-30',
  ids_outside_dates: 0,
  bot_sessions: 0,
  matured,
  matured_from: matured.from,
  matured_to: matured.to,
  sessions_matured: matured.sessions,
  rev_per_session_matured: matured.rev_per_session,
  rev_per_session_ci95: matured.ci95,
  by_device: { mobile: figures },
  clicks_not_booked: { cap: 0, budget: 0, too_fast: 2, too_many_offers: 1 },
  widget_events: { ...noWidgetEvents, widget_loaded: 3, offer_impression: 12 },
  sessions_kept_from: null,
  as_of: '2026-05-01T00:00:00.000Z',
};

test('an analytics summary states the meaning and unit of every number', () => {
  const [facts = '', ...tables] = stripVTControlCharacters(formatSummary(summary, 7)).split('\n\n');
  assert.deepEqual(facts.split('\n'), [
    'tag         hero-short',
    'days        2026-04-01 to 2026-04-30, UTC: days on which the sessions were created',
    'as of       record 7 of the ledger, 2026-05-01T00:00:00.000Z',
    'sessions    2',
    'views       3 times that offers were shown to these sessions',
    'clicks      2, each offer counted once per session: 0.6667 clicks per view',
    'attributed  84.00 USD expected from the clicks',
    'confirmed   105.00 USD confirmed so far: 52.5000 USD per session',
    'matured     1 sessions from 2026-04-01 to 2026-04-07, older than 45 days: 105.0000 USD confirmed per session, 95 % interval 98.1235 to 111.8765 USD',
    'not booked  clicks without revenue: 2 too_fast, 1 too_many_offers',
    'widgets     events: 3 widget_loaded, 12 offer_impression',
  ]);
  const cells = tables.map((text) => text.split('\n').map((line) => line.split(/ {2,}/).join('; ')));
  assert.deepEqual(cells, [
    [
      'DEVICE; SESSIONS; VIEWS; CLICKS; CLICKS PER VIEW; ATTRIBUTED USD; CONFIRMED USD; CONFIRMED USD PER SESSION',
      'mobile; 2; 3; 2; 0.6667; 84.00; 105.00; 52.5000',
    ],
    ['LENDER; CLICKS; CONFIRMED USD', 'Harbor Loans; 2; 105.00'],
  ]);
});

test('a summary states why matured figures are missing', () => {
  const maturedText = (changes: Partial<AnalyticsSummary['matured']>): string =>
    /^matured +(.*)$/m.exec(formatSummary({ ...summary, matured: { ...matured, ...changes } }, 7))![1]!;
  const counted = '1 sessions from 2026-04-01 to 2026-04-07, older than 45 days: 105.0000 USD confirmed per session';
  assert.equal(
    maturedText({ ci95: null }),
    `${counted}, too early to compare: 1 sessions with revenue, at least 25 needed`,
  );
  assert.equal(maturedText({ ci95: null, sessions_with_revenue: null }), counted);
  const nothing = { sessions: 0, sessions_with_revenue: 0, rev_per_session: null, ci95: null };
  assert.equal(maturedText(nothing), '0 sessions from 2026-04-01 to 2026-04-07, older than 45 days');
  assert.equal(maturedText({ ...nothing, from: null, to: null }), 'no day of this period is older than 45 days');
});

test('a summary tells bots apart, and says whether the tag has sessions', () => {
  const sessionsText = (bots: number, tagHasSessions: boolean): string =>
    /^sessions +(.*)$/m.exec(formatSummary({ ...summary, bot_sessions: bots }, 7, tagHasSessions))![1]!;
  assert.equal(sessionsText(0, true), '2');
  assert.equal(sessionsText(1, true), '2, of which 1 of bots');
  assert.equal(sessionsText(0, false), '0: no session of this account, vertical and mode has this tag');
});

test('the tables of days and sessions show the currency in the headings', () => {
  const { clicks_not_booked, widget_events } = summary;
  const day = { date: '2026-04-01', ...figures, clicks_not_booked, widget_events, matured: true };
  const days = stripVTControlCharacters(formatDailyTable([day], 7));
  assert.match(days, / {2}ATTRIBUTED USD {2}CONFIRMED USD {2}CONFIRMED USD PER /);
  const [dayHeading = '', dayRow = ''] = days.split('\n');
  assert.equal(dayRow.indexOf('3', dayHeading.indexOf('NOT BOOKED')), dayHeading.indexOf('NOT BOOKED'));
  const ids = { sub_id: `sub_${'0'.repeat(64)}`, referrer_tag: 'hero-short', device: 'mobile' };
  const times = { created_at: '2026-04-01T00:00:00.000Z', last_event_at: '2026-04-02T00:00:00.000Z' };
  const session = { ...figures, ...ids, ...times, sandbox: false, metadata: null, lenders: [] };
  const [heading = '', row = ''] = formatFixedRows(sessionColumns, [session], true).split('\n');
  for (const [name, value] of Object.entries({ 'ATTRIBUTED USD': '84.00', 'CONFIRMED USD': '105.00' })) {
    assert.equal(row.indexOf(value, heading.indexOf(name)), heading.indexOf(name));
  }
});

test('the texts show amounts without rounding, with at least two decimals', () => {
  for (const [amount, text] of [
    [0, '0.00'],
    [0.1, '0.10'],
    [7.045, '7.045'],
    [0.000001, '0.000001'],
    [100.5, '100.50'],
    [100_000, '100000.00'],
    [12_345.678901, '12345.678901'],
  ] as const) {
    const shown = stripVTControlCharacters(formatSummary({ ...summary, rev_attributed: amount }, 7));
    assert.ok(shown.includes(`\nattributed  ${text} USD expected`), shown);
  }
});
