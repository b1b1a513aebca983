import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import type {
  ApiKeyMode,
  ExperimentInput,
  ExperimentPlanResponse,
  ExperimentResponse,
  ExperimentResultsResponse,
  ExperimentsResponse,
} from '../../src/index.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { type ApiCaller, assertError, assertOk } from '../support/api-caller.ts';
import { describePersonalLoans, describeService } from '../support/contract-suite.ts';
import { echoMarker } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { type ApiKeyOptions, type Engine, RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { logIn, sendAsPage } from './console-support.ts';
import { askOperator } from './operator-request.ts';

const dayMs = 24 * 60 * 60 * 1000;
const isoDate = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Day on which the clock of a new service starts. */
const today = '2026-05-20';

type Members = Readonly<Record<string, unknown>>;

const arm = (tag: string, weight: unknown = 0.5, more: Members = {}) => ({ referrer_tag: tag, weight, ...more });
/** Returns the body of a request with two arms, whose tags start with `prefix`. */
const bodyOf = (prefix: string, more: Members = {}) => ({
  arms: [arm(`${prefix}-a`), arm(`${prefix}-b`)],
  control: `${prefix}-a`,
  unit: 'session',
  starts_on: today,
  ...more,
});

const define = (caller: ApiCaller, name: string, body: unknown) => caller.send('PUT', `experiments/${name}`, body);
const plan = (caller: ApiCaller, name: string, body: unknown) => caller.send('POST', `experiments/${name}/plan`, body);
const defined = async (caller: ApiCaller, name: string, body: unknown): Promise<ExperimentResponse> =>
  assertOk(await define(caller, name, body));
const found = async (caller: ApiCaller, name: string): Promise<ExperimentResponse> =>
  assertOk(await caller.send('GET', `experiments/${name}`));
const listed = async (caller: ApiCaller, query = ''): Promise<ExperimentsResponse> =>
  assertOk(await caller.send('GET', `experiments?${query}`));
const deleted = async (caller: ApiCaller, name: string): Promise<ExperimentResponse> =>
  assertOk(await caller.send('DELETE', `experiments/${name}`));

/** A text whose number of code points is one above the limit, with an emoji at the end. */
const longText = `${'x'.repeat(bounds.experimentTextCharactersMax)}\u{1f600}`;
const longestText = longText.slice(1);
/** Texts with characters that hide or reorder other characters. */
const hiddenTexts = ['5 \u202e% 01', '\u2066open', 'a\u200bb', 'a\u0000b', '\u001b[31m', '\u2028', '\ud83d'];
const arms = (count: number, weight = 1 / count) => Array.from({ length: count }, (_, at) => arm(`arm-${at}`, weight));
const daysAfter = (days: number) => isoDate(Date.parse(today) + days * dayMs);
const { experimentDaysMax } = bounds;

const badClosings: readonly (readonly [param: string, body: Members])[] = [
  ...[{}, { outcome: null }, { outcome: 'won' }, { outcome: 1 }].map((body) => ['outcome', body] as const),
  ...['arm-c', 'Arm-A', '', 7].map((tag) => ['arm', { outcome: 'ship', arm: tag }] as const),
  ...[7, {}, longText, ...hiddenTexts].map((note) => ['note', { outcome: 'ship', note }] as const),
];

/** Members of a body that replace those of `bodyOf('arm')`, and the parameter that the error names. */
const badBodies: readonly (readonly [param: string, members: Members])[] = [
  ...[undefined, null, 'arm', {}, [], [arm('arm-a', 1)], arms(11), [null, null], ['arm-a', 'arm-b'], [[], []]].map(
    (value) => ['arms', { arms: value }] as const,
  ),
  ['arms', { arms: [arm('arm-a'), arm('arm-a')] }],
  ...[undefined, null, '0.5', 0, -0.5, 1.5, true].map(
    (weight) => ['weight', { arms: [arm('arm-a', weight ?? undefined), { ...arm('arm-b'), weight }] }] as const,
  ),
  ['weight', { arms: [arm('arm-a', 0.5), arm('arm-b', 0.5 + 2e-9)] }],
  ['weight', { arms: [arm('arm-a', 50), arm('arm-b', 50)] }],
  ['weight', { arms: [arm('arm-a', 0.9991), arm('arm-b', 0.0009)] }],
  ...[undefined, null, 7, '', 'ab', 'Arm-B', 'arm b', 'ä-arm', 'x'.repeat(65), echoMarker.toUpperCase()].map(
    (tag) => ['referrer_tag', { arms: [arm('arm-a'), { ...arm('arm-b'), referrer_tag: tag }] }] as const,
  ),
  ...[7, {}, 'x'.repeat(65), 'line\nbreak', ...hiddenTexts].map(
    (label) => ['label', { arms: [arm('arm-a'), arm('arm-b', 0.5, { label })] }] as const,
  ),
  ...[undefined, null, 7, 'arm-c', 'Arm-A', ''].map((control) => ['control', { control }] as const),
  ...[undefined, null, 'sessions', 'user', 1].map((unit) => ['unit', { unit }] as const),
  ...[null, 'random', 1].map((assignment) => ['assignment', { assignment }] as const),
  ['assignment', { assignment: 'hash', unit: 'session' }],
  ...[undefined, null, 20_260_520, '', '2026-02-30', '2026-5-20', `${today}T00:00:00Z`, '0000-01-01', echoMarker].map(
    (date) => ['starts_on', { starts_on: date }] as const,
  ),
  ['starts_on', { starts_on: daysAfter(experimentDaysMax + 1) }],
  ['starts_on', { starts_on: daysAfter(-experimentDaysMax - 1) }],
  ...['', '2027-02-29', 7, today, daysAfter(-1), daysAfter(12), daysAfter(experimentDaysMax + 1)].map(
    (date) => ['ends_on', { ends_on: date }] as const,
  ),
  ...[0, -1, 1_000.1, '10', true].map((percent) => ['min_effect_percent', { min_effect_percent: percent }] as const),
  ...[0, -1, 100_000.01, 0.0000001, 1.2345678, '1', true].map((usd) => ['cap_usd', { cap_usd: usd }] as const),
  ...[7, {}, longText, ...hiddenTexts].map((hypothesis) => ['hypothesis', { hypothesis }] as const),
  ...[null, 'page', {}, [7], [''], ['a', 'a'], ['a', 'b', 'c', 'd'], ['x'.repeat(257)]].map(
    (dimensions) => ['dimensions', { dimensions }] as const,
  ),
  ...personalLoansFixture.vertical.fields.map(({ name }) => ['dimensions', { dimensions: ['page', name] }] as const),
];

const badPlanMembers: readonly (readonly [param: string, value: unknown])[] = [
  ...['', 'ab', 'Arm-A', 7, echoMarker.toUpperCase()].map((tag) => ['based_on', tag] as const),
  ...[0, -1, 100_000_001, '10', true].map((rate) => ['expected_sessions_per_day', rate] as const),
];

const goodBodies: readonly Members[] = [
  {},
  { arms: arms(10), control: 'arm-9' },
  { arms: [arm('arm-a', 0.1), arm('arm-b', 0.2), arm('arm-c', 0.7)] },
  { arms: [arm('arm-a', 0.5), arm('arm-b', 0.5 + 5e-10)] },
  { arms: [arm('arm-a', 0.999), arm('arm-b', 0.001, { label: null })] },
  { arms: [arm('arm-a', 0.5, { label: '\u{1f600}'.repeat(64) }), arm('arm-b', 0.5, { label: '' })] },
  { unit: 'visitor', assignment: 'hash' },
  { unit: 'visitor', assignment: 'own' },
  { starts_on: daysAfter(experimentDaysMax) },
  { starts_on: daysAfter(-experimentDaysMax) },
  { ends_on: daysAfter(13) },
  { ends_on: daysAfter(experimentDaysMax) },
  { ends_on: null, min_effect_percent: null, cap_usd: null, hypothesis: null },
  { min_effect_percent: 1_000, cap_usd: 100_000, hypothesis: longestText },
  {
    min_effect_percent: 0.01,
    cap_usd: 0.000001,
    hypothesis: 'two lines,\r\n\tone of them indented, and \u05e2\u05d1\u05e8\u05d9\u05ea',
  },
  { dimensions: ['page', '\u{1f600}'.repeat(256), 'constructor'] },
];

for (const engine of ['uws', 'node'] as const satisfies readonly Engine[]) {
  describe(`experiments on ${engine}`, () => {
    const start = async (t: TestContext) => {
      const market = await RunningMarketplace.start(engine);
      runAfterTest(t, () => market.close());
      return market;
    };
    const limits = { requestsPerMinute: 10_000, analyticsPerMinute: 10_000 };

    test('PUT and its plan reject each invalid member with INVALID_REQUEST, and define nothing', async (t) => {
      const caller = (await start(t)).caller(personalLoansFixture, { limits });
      for (const [param, members] of badBodies) {
        const answer = await define(caller, 'bad-body', bodyOf('arm', members));
        assert.equal(answer.status, 400, JSON.stringify(members));
        const { message } = assertError(answer, 'INVALID_REQUEST', param);
        assert.ok(!message.includes(echoMarker));
        const planned = await plan(caller, 'bad-body', bodyOf('arm', members));
        assert.equal(assertError(planned, 'INVALID_REQUEST', param).message, message);
      }
      for (const [param, value] of badPlanMembers) {
        assertError(await plan(caller, 'bad-body', bodyOf('arm', { [param]: value })), 'INVALID_REQUEST', param);
      }
      for (const name of ['ab', 'Name', 'x'.repeat(65), 'a%20b', 'na%C3%A4me', 'a%2Fb']) {
        for (const answer of [
          await define(caller, name, bodyOf('arm')),
          await caller.send('GET', `experiments/${name}`),
          await caller.send('DELETE', `experiments/${name}`),
        ])
          assertError(answer, 'INVALID_REQUEST', 'name');
      }
      assert.deepEqual(await listed(caller), { data: [], has_more: false, next_cursor: null });
      await defined(caller, 'open-test', bodyOf('arm'));
      for (const [param, body] of badClosings) {
        assertError(await caller.send('POST', 'experiments/open-test/close', body), 'INVALID_REQUEST', param);
      }
      assert.equal((await found(caller, 'open-test')).closing, null);
    });

    test('PUT accepts the limits of each member, and GET returns the same experiment', async (t) => {
      const market = await start(t);
      for (const members of goodBodies) {
        const caller = market.caller(personalLoansFixture);
        const body: Members = bodyOf('arm', members);
        const planned: ExperimentPlanResponse = assertOk(await plan(caller, 'good-body', body));
        assertError(await caller.send('GET', 'experiments/good-body'), 'NOT_FOUND');
        const experiment = await defined(caller, 'good-body', body);
        assert.deepEqual(await found(caller, 'good-body'), experiment);
        const { planned_day, retrospective, control } = experiment;
        assert.deepEqual([planned.planned_day, planned.retrospective], [planned_day, retrospective]);
        assert.equal(planned.basis.referrer_tag, control);
        assert.equal(planned.exists, false);
        const plannedAgain: ExperimentPlanResponse = assertOk(
          await plan(caller, 'good-body', { ...body, based_on: null, expected_sessions_per_day: null }),
        );
        assert.deepEqual(plannedAgain, { ...planned, exists: true });
        for (const [name, value] of Object.entries(body)) {
          const answered = experiment[name as keyof ExperimentResponse];
          const expected = name === 'arms' ? (value as Members[]).map((each) => ({ label: null, ...each })) : value;
          assert.deepEqual(answered, expected, name);
        }
      }
    });
  });
}

const declareVerticalTests = ({ running }: { readonly running: () => RunningMarketplace }) => {
  for (const vertical of builtInVerticals.verticals)
    describe(vertical.segment, () => {
      const callerOf = (wanted?: ApiKeyOptions) => running().caller({ vertical }, wanted);
      for (const mode of ['live', 'test'] as const satisfies readonly ApiKeyMode[]) {
        test(`a ${mode} key defines, reads, lists, changes and deletes an experiment that no other tenant sees`, async () => {
          const market = running();
          const account = `experiments ${vertical.segment} ${mode}`;
          const caller = callerOf({ account, mode });
          const startsOn = isoDate(market.clock.wallMs());
          const createdAt = new Date(market.clock.wallMs()).toISOString();
          const endsOn = isoDate(market.clock.wallMs() + 20 * dayMs);
          const body = bodyOf('page', { starts_on: startsOn, ends_on: endsOn });
          const revenueDays = vertical.clicksConfirmRevenue ? 7 : 45;
          const experiment = {
            name: 'page-test',
            state: 'running',
            arms: body.arms.map((each) => ({ ...each, label: null })),
            control: 'page-a',
            unit: 'session',
            assignment: 'own',
            starts_on: startsOn,
            ends_on: endsOn,
            min_effect_percent: null,
            cap_usd: null,
            hypothesis: null,
            dimensions: [],
            planned_day: isoDate(market.clock.wallMs() + (20 + revenueDays + 7 + 1) * dayMs),
            retrospective: false,
            revenue_days: revenueDays,
            grace_days: 7,
            created_at: createdAt,
            deleted: false,
            closing: null,
          };
          assert.deepEqual(await defined(caller, 'page-test', body), experiment);
          market.clock.advance(60_000);
          // A retry with another key of the tenant changes nothing.
          const colleague = callerOf({ account, mode });
          assert.deepEqual(await defined(colleague, 'page-test', body), experiment);
          assert.deepEqual(await found(colleague, 'page-test'), experiment);
          assert.deepEqual(await listed(colleague), { data: [experiment], has_more: false, next_cursor: null });

          const otherMode = mode === 'live' ? 'test' : 'live';
          const verticals = builtInVerticals.verticals;
          const sibling = { vertical: verticals[(verticals.indexOf(vertical) + 1) % verticals.length]! };
          const strangers = [
            callerOf({ account, mode: otherMode }),
            callerOf({ mode }),
            running().caller(sibling, { account, mode }),
          ];
          for (const stranger of strangers) {
            assertError(await stranger.send('GET', 'experiments/page-test'), 'NOT_FOUND');
            assertError(await stranger.send('DELETE', 'experiments/page-test'), 'NOT_FOUND');
            assert.deepEqual((await listed(stranger)).data, []);
          }
          // The same name and the same tags are free for another tenant.
          const theirs = {
            ...experiment,
            hypothesis: 'theirs',
            created_at: new Date(market.clock.wallMs()).toISOString(),
          };
          assert.deepEqual(await defined(strangers[1]!, 'page-test', { ...body, hypothesis: 'theirs' }), theirs);

          const changed = { ...experiment, unit: 'visitor', hypothesis: 'ours' };
          assert.deepEqual(
            await defined(caller, 'page-test', { ...body, unit: 'visitor', hypothesis: 'ours' }),
            changed,
          );
          assert.deepEqual(await found(strangers[1]!, 'page-test'), theirs);

          const hidden = { ...changed, deleted: true };
          assert.deepEqual(await deleted(caller, 'page-test'), hidden);
          assert.deepEqual(await deleted(caller, 'page-test'), hidden);
          assert.deepEqual(await found(caller, 'page-test'), hidden);
          assert.deepEqual((await listed(caller)).data, []);
          assertError(await define(caller, 'page-test', body), 'INVALID_REQUEST', 'name');
          assertError(await caller.send('DELETE', 'experiments/no-such-test'), 'NOT_FOUND');
          assertError(await caller.send('GET', 'experiments/no-such-test'), 'NOT_FOUND');
        });
      }

      test('a pocket field of the vertical is no dimension', async () => {
        const caller = callerOf();
        const startsOn = isoDate(running().clock.wallMs());
        for (const { name } of vertical.fields.slice(0, 3)) {
          const body = bodyOf('field', { starts_on: startsOn, dimensions: [name] });
          assertError(await define(caller, 'field-test', body), 'INVALID_REQUEST', 'dimensions');
        }
      });
    });
};

describeService('experiments of a vertical', declareVerticalTests, {
  catalogs: builtInVerticals.listExampleCatalogs(),
});

describePersonalLoans('changes of an experiment', (door) => {
  const currentDay = () => isoDate(door.market.clock.wallMs());
  const daysLater = (days: number) => isoDate(door.market.clock.wallMs() + days * dayMs);
  const currentBody = (prefix: string, more: Members = {}) => bodyOf(prefix, { starts_on: currentDay(), ...more });

  /** Changes of one member each, and the parameter of the error after the first session; null if the change stays allowed. */
  const changes = (): readonly (readonly [param: string | null, members: Members])[] => [
    [null, { arms: [arm('rule-a', 0.5, { label: 'A' }), arm('rule-b')] }],
    [null, { hypothesis: 'changed' }],
    [null, { dimensions: ['page'] }],
    ['arms', { arms: [arm('rule-a', 0.4), arm('rule-b', 0.6)] }],
    ['arms', { arms: [arm('rule-b'), arm('rule-a')] }],
    ['arms', { arms: [arm('rule-a'), arm('rule-c')] }],
    ['arms', { arms: [arm('rule-a'), arm('rule-b', 0.25), arm('rule-c', 0.25)] }],
    ['control', { control: 'rule-b' }],
    ['unit', { unit: 'visitor' }],
    ['unit', { unit: 'visitor', assignment: 'hash' }],
    ['starts_on', { starts_on: daysLater(1) }],
    ['ends_on', { ends_on: daysLater(30) }],
    ['min_effect_percent', { min_effect_percent: 5 }],
    ['cap_usd', { cap_usd: 500 }],
  ];

  test('any member may change before the first session, and afterwards only label, hypothesis and dimensions', async () => {
    const caller = door.caller({ limits: { analyticsPerMinute: 1_000 } });
    // Sessions before the creation, and sessions with other tags, do not count.
    await caller.createSession('rule-b');
    const stranger = door.caller();
    const created = await defined(caller, 'rule-test', currentBody('rule'));
    await caller.createSession('rule-d');
    await stranger.createSession('rule-a');
    for (const [, members] of changes()) {
      const body = currentBody('rule', members);
      const { created_at, ...changed } = await defined(caller, 'rule-test', body);
      assert.equal(created_at, created.created_at);
      assert.deepEqual({ ...changed, created_at }, await found(caller, 'rule-test'));
      assert.notDeepEqual(changed, created);
    }
    await defined(caller, 'rule-test', currentBody('rule'));
    await caller.createSession('rule-b');
    for (const days of [0, 1]) {
      door.market.clock.advance(days * dayMs);
      const startsOn = created.starts_on;
      for (const [param, members] of changes()) {
        const body = currentBody('rule', { starts_on: startsOn, ...members });
        const answer = await define(caller, 'rule-test', body);
        if (param === null) assert.equal(assertOk<ExperimentResponse>(answer).name, 'rule-test');
        else
          assert.match(assertError(answer, 'INVALID_REQUEST', param).message, /cannot change after the first session/);
      }
    }
    assert.equal((await found(caller, 'rule-test')).control, 'rule-a');
  });

  test('the days of a session decide also on later days', async () => {
    const caller = door.caller();
    const body = currentBody('later');
    await defined(caller, 'later-test', body);
    door.market.clock.advance(3 * dayMs);
    await defined(caller, 'later-test', { ...body, unit: 'visitor' });
    await caller.createSession('later-b');
    assertError(await define(caller, 'later-test', body), 'INVALID_REQUEST', 'unit');
  });

  test('retrospective, grace_days and revenue_days follow the creation and the first day', async () => {
    const caller = door.caller();
    await caller.createSession('past-a');
    const past = await defined(caller, 'past-test', currentBody('past', { starts_on: daysLater(-1) }));
    assert.equal(past.retrospective, true);
    assert.equal((await defined(caller, 'past-test', currentBody('past'))).retrospective, false);
    assert.equal(
      (await defined(caller, 'past-test', currentBody('past', { starts_on: daysLater(-7) }))).retrospective,
      true,
    );
    await caller.createSession('past-a');
    assertError(await define(caller, 'past-test', currentBody('past')), 'INVALID_REQUEST', 'starts_on');
  });

  test('states follow the UTC days until the planned day has closed', async () => {
    const caller = door.caller();
    const experiment = await defined(
      caller,
      'state-test',
      currentBody('state', { starts_on: daysLater(2), ends_on: daysLater(20) }),
    );
    const endlessBody = currentBody('endless');
    await defined(caller, 'endless-test', endlessBody);
    assert.equal(experiment.planned_day, daysLater(20 + 45 + 7 + 1));
    // The first and the last millisecond of each day.
    for (const [day, state] of [
      [0, 'running'],
      [20, 'running'],
      [21, 'maturing'],
      [73, 'maturing'],
      [74, 'final'],
    ] as const) {
      door.market.clock.setWall(Date.parse(experiment.starts_on) + (day - 2) * dayMs);
      assert.equal((await found(caller, 'state-test')).state, state, String(day));
      door.market.clock.advance(dayMs - 1);
      assert.equal((await found(caller, 'state-test')).state, state, String(day));
      assert.equal((await found(caller, 'endless-test')).state, 'running');
    }
  });

  test('a tag belongs to at most one running experiment of a tenant, even after a deletion', async () => {
    const caller = door.caller();
    const other = door.caller();
    await defined(caller, 'first-test', currentBody('shared', { ends_on: daysLater(13) }));
    const second = currentBody('second', { arms: [arm('second-a'), arm('shared-b')] });
    const assertInUse = async (name: string, body: unknown) => {
      const { message } = assertError(await define(caller, name, body), 'INVALID_REQUEST', 'referrer_tag');
      assert.match(message, /running experiment/);
      assert.equal(assertError(await plan(caller, name, body), 'INVALID_REQUEST', 'referrer_tag').message, message);
    };
    await assertInUse('second-test', second);
    await defined(other, 'second-test', second);
    await deleted(caller, 'first-test');
    await assertInUse('second-test', second);
    await defined(caller, 'third-test', currentBody('third'));
    await assertInUse('third-test', currentBody('third', { arms: [arm('third-a'), arm('shared-a')] }));
    // An experiment that is over does not run.
    const over = { ...second, starts_on: daysLater(-30), ends_on: daysLater(-10) };
    assert.equal((await defined(caller, 'over-test', over)).state, 'maturing');
    await assertInUse('over-test', { ...over, ends_on: null });
    door.market.clock.advance(14 * dayMs);
    await defined(caller, 'second-test', { ...second, starts_on: currentDay() });
  });

  test('concurrent requests define a tag once', async () => {
    const { marketplace } = door.market;
    const caller = door.caller();
    // The embedded API sends all requests in the same turn of the event loop.
    const partner = marketplace.partnerApi(caller.key);
    const body = currentBody('race') as unknown as Omit<ExperimentInput, 'name'>;
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, at) => partner.defineExperiment({ name: `race-${at}`, ...body })),
    );
    const errors = results.map((result) => (result.ok ? 'ok' : (result.error.param ?? result.error.error)));
    assert.deepEqual(errors, ['ok', ...Array(7).fill('referrer_tag')]);
    assert.equal((await listed(caller)).data.length, 1);
  });

  test('lists all experiments on pages, each once, and rejects invalid parameters', async () => {
    const account = 'many experiments';
    const limits = { requestsPerMinute: 10_000, analyticsPerMinute: 10_000 };
    const caller = door.caller({ account, limits });
    const names = Array.from({ length: 205 }, (_, at) => `test-${(at * 7) % 205}`);
    for (const group of [0, 1, 2, 3, 4, 5, 6].map((at) => names.slice(30 * at, 30 * at + 30))) {
      await Promise.all(group.map((name) => defined(caller, name, currentBody(name))));
      door.market.clock.advance(bounds.rateLimitWindowMs);
    }
    await deleted(caller, 'test-100');
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: ExperimentsResponse = await listed(caller, cursor === '' ? '' : `cursor=${cursor}`);
      pages.push(page.data.map(({ name }) => name));
      assert.equal(page.has_more, page.next_cursor !== null);
      cursor = page.next_cursor;
    }
    assert.deepEqual(pages.flat(), names.filter((name) => name !== 'test-100').sort());
    assert.deepEqual(
      pages.map(({ length }) => length),
      [100, 100, 4],
    );
    const { next_cursor: cursor } = await listed(caller, 'limit=1');
    assertError(await door.caller().send('GET', `experiments?cursor=${cursor}`), 'INVALID_REQUEST', 'cursor');
    assertError(await caller.get('tags', { cursor: cursor! }), 'INVALID_REQUEST', 'cursor');
    for (const limit of ['0', '101', 'x'])
      assertError(await caller.send('GET', `experiments?limit=${limit}`), 'INVALID_REQUEST', 'limit');
  });

  test('recent_days leaves out experiments whose results became final before', async () => {
    const caller = door.caller();
    const names = async (recentDays: number) =>
      (await listed(caller, `recent_days=${recentDays}`)).data.map(({ name }) => name);
    await defined(caller, 'endless-test', currentBody('endless'));
    await defined(caller, 'planned-test', currentBody('planned', { ends_on: daysLater(13) }));
    await defined(caller, 'ended-test', currentBody('ended'));
    const closing = await caller.send('POST', 'experiments/ended-test/close', { outcome: 'no_decision' });
    assert.equal(closing.status, 200);
    door.market.clock.advance(3 * dayMs);
    assert.deepEqual(await names(4), ['ended-test', 'endless-test', 'planned-test']);
    assert.deepEqual(await names(3), ['endless-test', 'planned-test']);
    // The planned day is 54 days after the last day.
    door.market.clock.advance((13 + 53 - 3 + 4) * dayMs);
    assert.deepEqual(await names(5), ['endless-test', 'planned-test']);
    assert.deepEqual(await names(4), ['endless-test']);
    for (const recentDays of ['0', '93'])
      assertError(await caller.send('GET', `experiments?recent_days=${recentDays}`), 'INVALID_REQUEST', 'recent_days');
  });

  test('counts toward the limit of analytics queries', async () => {
    const caller = door.caller({ limits: { analyticsPerMinute: 4 } });
    await defined(caller, 'limit-test', currentBody('limit'));
    await found(caller, 'limit-test');
    await listed(caller);
    await deleted(caller, 'limit-test');
    assertError(await caller.send('GET', 'experiments/limit-test'), 'RATE_LIMIT_EXCEEDED');
    assertError(await define(caller, 'limit-test', currentBody('limit')), 'RATE_LIMIT_EXCEEDED');
    assertError(await plan(caller, 'limit-test', currentBody('limit')), 'RATE_LIMIT_EXCEEDED');
  });

  test('limits the changes of a tenant per minute, by its keys, its logins at the console and the embedding program', async () => {
    const { clock, http, marketplace } = door.market;
    const account = 'changes';
    const { key } = door.market.issueKey(personalLoansFixture, { account });
    const caller = door.market.callerWithKey(personalLoansFixture, key);
    const otherKey = door.caller({ account });
    const cookie = await logIn(http, { key });
    const byLogin = (method: string, path: string, json?: unknown) =>
      sendAsPage(http, { method, path: `/console/api/v1/personal-loans/experiments/${path}`, json }, cookie);
    const program = marketplace.partnerApi(key);
    const body = (label: number, tag = 'changed') => currentBody(tag, { hypothesis: `hypothesis ${label}` });
    const newestEntry = async () => (await askOperator(door.market, { path: '/audit?limit=1' })).text;

    // Each round changes the experiment once, and repeats the request once.
    const doors = [
      (sent: unknown) => define(caller, 'changed', sent),
      (sent: unknown) => define(otherKey, 'changed', sent),
      (sent: unknown) => byLogin('PUT', 'changed', sent),
    ];
    for (let change = 0; change < bounds.experimentChangesPerMinute - 2; change++) {
      clock.advance(10);
      for (const send of [doors[change % 3]!, doors[(change + 1) % 3]!]) assertOk(await send(body(change)));
    }
    assertOk(await byLogin('DELETE', 'changed'));
    await deleted(caller, 'changed');
    assertOk(await byLogin('POST', 'changed/close', { outcome: 'keep_control' }));
    assertOk(await caller.send('POST', 'experiments/changed/close', { outcome: 'keep_control' }));

    // The oldest change was the first round.
    const waitMs = bounds.rateLimitWindowMs - 10 * (bounds.experimentChangesPerMinute - 3);
    const waitSeconds = Math.ceil(waitMs / 1000);
    const lastEntry = await newestEntry();
    const refused = [
      await define(caller, 'refused', body(0, 'refused')),
      await define(otherKey, 'refused', body(0, 'refused')),
      await byLogin('PUT', 'refused', body(0, 'refused')),
    ];
    for (const answer of refused) {
      assertError(answer, 'RATE_LIMIT_EXCEEDED');
      assert.equal(answer.headers.get('retry-after'), String(waitSeconds));
      assert.equal(answer.headers.get('x-ratelimit-limit'), String(bounds.experimentChangesPerMinute));
      assert.equal(answer.headers.get('x-ratelimit-reset'), String(Math.ceil((clock.wallMs() + waitMs) / 1000)));
    }
    const byProgram = await program.defineExperiment({ name: 'refused', ...body(0, 'refused') } as never);
    assert.ok(!byProgram.ok);
    assert.deepEqual([byProgram.error.error, byProgram.error.retry_after], ['RATE_LIMIT_EXCEEDED', waitSeconds]);
    assert.equal(await newestEntry(), lastEntry);
    assertOk(await caller.send('GET', 'experiments/changed'));
    assertOk(await plan(caller, 'refused', body(0, 'refused')));
    await defined(door.caller({ account, mode: 'test' }), 'other-mode', body(0, 'other-mode'));
    await defined(door.caller(), 'other-account', body(0, 'other-account'));

    clock.advance(waitSeconds * 1000);
    await defined(caller, 'refused', body(0, 'refused'));
  });

  test('answers to test keys list unknown members as ignored', async () => {
    const caller = door.caller({ mode: 'test' });
    const body = { ...currentBody('known'), name: 'another-name', weights: [1], state: 'final' };
    assert.deepEqual((await defined(caller, 'known-test', body)).ignored, ['weights', 'state']);
  });
});

describeService(
  'closing an experiment',
  ({ running }) => {
    for (const vertical of builtInVerticals.verticals) {
      for (const mode of ['live', 'test'] as const satisfies readonly ApiKeyMode[]) {
        test(`stores the outcome and the results of a ${mode} experiment in ${vertical.segment}`, async () => {
          const { clock, marketplace } = running();
          const account = `closing ${vertical.segment} ${mode}`;
          const { key, id } = running().issueKey({ vertical }, { account, mode });
          const caller = running().callerWithKey({ vertical }, key);
          const body = bodyOf('close', { starts_on: isoDate(clock.wallMs()) });
          const open = await defined(caller, 'close-test', body);
          await caller.createSession('close-a');
          clock.advance(dayMs);
          const path = 'experiments/close-test';
          const resultsOf = async () =>
            assertOk<ExperimentResultsResponse>(await caller.send('GET', `${path}/results`));
          const before = await resultsOf();
          assert.equal(before.arms[0]!.sessions, 1);
          const wanted = { outcome: 'ship', arm: 'close-b', note: 'it was better' };
          const closedAt = new Date(clock.wallMs()).toISOString();
          const closed = { ...open, state: 'closed', closing: { ...wanted, closed_at: closedAt, closed_by: id } };
          assert.deepEqual(assertOk(await caller.send('POST', `${path}/close`, wanted)), closed);

          clock.advance(dayMs);
          // Sessions after the closing do not count.
          await caller.createSession('close-a');
          clock.advance(2 * dayMs);
          const colleague = running().caller({ vertical }, { account, mode });
          assert.deepEqual(assertOk(await colleague.send('POST', `${path}/close`, wanted)), closed);
          assert.deepEqual(await found(colleague, 'close-test'), closed);
          const { sentence, state, ...results } = await resultsOf();
          const { sentence: sentenceBefore, state: _, ...resultsBefore } = before;
          assert.deepEqual([results, state], [resultsBefore, 'closed']);
          assert.ok(sentence.endsWith(sentenceBefore) && /^Closed on .* to ship close-b\. /.test(sentence), sentence);

          for (const other of [{ outcome: 'broken' }, { ...wanted, arm: 'close-a' }, { ...wanted, note: null }]) {
            assertError(await caller.send('POST', `${path}/close`, other), 'INVALID_REQUEST', 'outcome');
          }
          assertError(await define(caller, 'close-test', { ...body, hypothesis: 'late' }), 'INVALID_REQUEST', 'name');
          assert.deepEqual(await defined(caller, 'close-test', body), closed);
          // The tags are free, and a closed experiment can be deleted.
          await defined(caller, 'next-test', { ...body, starts_on: isoDate(clock.wallMs()) });
          assert.equal((await deleted(caller, 'close-test')).state, 'closed');
          const otherMode = mode === 'live' ? 'test' : 'live';
          const strangers = [
            running().caller({ vertical }, { account, mode: otherMode }),
            running().caller({ vertical }, { mode }),
          ];
          for (const stranger of strangers) {
            assertError(await stranger.send('POST', `${path}/close`, wanted), 'NOT_FOUND');
          }
          assert.notEqual(
            marketplace.keys.list().find((each) => each.id === id),
            undefined,
          );
        });
      }
    }

    test('a deleted experiment with the most arms and the longest texts can be closed', async () => {
      const [vertical] = builtInVerticals.verticals;
      const caller = running().caller({ vertical: vertical! });
      const label = '\u{1f600}'.repeat(64);
      const body = bodyOf('arm', {
        arms: arms(10).map((each) => ({ ...each, label })),
        control: 'arm-0',
        starts_on: isoDate(running().clock.wallMs()),
        hypothesis: longestText,
      });
      await defined(caller, 'large-test', body);
      await deleted(caller, 'large-test');
      const note = '\u{1f600}'.repeat(bounds.experimentTextCharactersMax);
      const closing = { outcome: 'no_decision', note };
      const closed = assertOk<ExperimentResponse>(await caller.send('POST', 'experiments/large-test/close', closing));
      assert.deepEqual([closed.closing!.note, closed.closing!.arm, closed.deleted], [note, null, true]);
    });
  },
  { catalogs: builtInVerticals.listExampleCatalogs() },
);

describePersonalLoans('assignment by hash', (door) => {
  /** Vectors of docs/contract.md#assignment-by-hash, for arms with the weights 0.5, 0.3 and 0.2. */
  const vectors = { u0: 'hash-b', u1: 'hash-b', u2: 'hash-a', 'visitor-1': 'hash-c' };
  const hashBody = () => ({
    arms: [arm('hash-a', 0.5), arm('hash-b', 0.3), arm('hash-c', 0.2)],
    control: 'hash-a',
    unit: 'visitor',
    assignment: 'hash',
    starts_on: isoDate(door.market.clock.wallMs()),
  });
  const armOf = async (caller: ApiCaller, unitId: string) =>
    assertOk<Members>(await caller.send('GET', `experiments/hero-test/arm?unit_id=${encodeURIComponent(unitId)}`));

  test('GET .../arm returns the arm of the current definition in every state', async () => {
    const caller = door.caller();
    const path = 'experiments/hero-test/arm';
    assertError(await caller.send('GET', `${path}?unit_id=u0`), 'NOT_FOUND');
    await defined(caller, 'hero-test', hashBody());
    for (let round = 0; round < 2; round++) {
      for (const [unitId, tag] of Object.entries(vectors)) {
        assert.deepEqual(await armOf(caller, unitId), { referrer_tag: tag });
      }
    }
    for (const query of [
      '',
      'unit_id=',
      'unit_id=a%20b',
      `unit_id=${'x'.repeat(65)}`,
      'unit_id=%C3%A4',
      'unit_id=a+b',
    ]) {
      assertError(await caller.send('GET', `${path}?${query}`), 'INVALID_REQUEST', 'unit_id');
    }
    assert.equal((await armOf(caller, '+'.repeat(64))).referrer_tag !== undefined, true);
    assertError(await door.caller().send('GET', `${path}?unit_id=u0`), 'NOT_FOUND');

    const [one, ...rest] = hashBody().arms;
    await defined(caller, 'hero-test', { ...hashBody(), arms: [...rest, one] });
    assert.deepEqual(await armOf(caller, 'u2'), { referrer_tag: 'hash-b' });
    await deleted(caller, 'hero-test');
    assert.deepEqual(await armOf(caller, 'u2'), { referrer_tag: 'hash-b' });
    await defined(caller, 'own-test', {
      ...hashBody(),
      arms: [arm('own-a'), arm('own-b')],
      control: 'own-a',
      assignment: 'own',
    });
    assertError(await caller.send('GET', 'experiments/own-test/arm?unit_id=u0'), 'INVALID_REQUEST', 'name');
  });

  test('GET .../arm counts only toward the limit of requests', async () => {
    const caller = door.caller({ limits: { analyticsPerMinute: 1, requestsPerMinute: 4 } });
    await defined(caller, 'hero-test', hashBody());
    for (let request = 0; request < 3; request++) await armOf(caller, 'u0');
    assertError(await caller.send('GET', 'experiments/hero-test/arm?unit_id=u0'), 'RATE_LIMIT_EXCEEDED');
  });
});

/** Returns the labels of the sessions in the ledger of a stopped service that are marked as misassigned. */
async function readMisassigned(market: RunningMarketplace): Promise<string[]> {
  const misassigned: string[] = [];
  const recovery = {
    replayStartTimeMs: 0,
    applyLedgerRecord(record: LedgerRecord) {
      if (record[0] === 1 && record[10] === true) misassigned.push(JSON.parse(record[6]!).label);
    },
  };
  const { ledgerFolder: folder } = dataPaths(market.folder);
  const ledger = await openLedger({ folder, durability: 'write', recoveries: [recovery], subscribers: [] });
  await ledger.close();
  return misassigned;
}

test('POST /session compares the tag with the arm of the visitor while an experiment with assignment by hash runs', async (t) => {
  const market = await RunningMarketplace.start('uws');
  runAfterTest(t, () => market.close());
  const keys = [market.issueKey(personalLoansFixture).key, market.issueKey(personalLoansFixture).key] as const;
  const ours = () => market.callerWithKey(personalLoansFixture, keys[0]);
  const theirs = () => market.callerWithKey(personalLoansFixture, keys[1]);
  // In docs/contract.md#assignment-by-hash, `u2` is in the first arm of `hero-test`.
  const unit_id = 'u2';
  const hashBody = (prefix: string, more: Members = {}) =>
    bodyOf(prefix, { unit: 'visitor', assignment: 'hash', ...more });
  const expected: string[] = [];
  const visit = (label: string, tag: string, { caller = ours(), ...more }: Members & { caller?: ApiCaller } = {}) =>
    caller.createSession(tag, { unit_id, ...more, metadata: { label } });
  const visitWrongly: typeof visit = (label, ...rest) => {
    expected.push(label);
    return visit(label, ...rest);
  };

  await visit('before the definition', 'hero-b');
  await defined(ours(), 'hero-test', hashBody('hero'));
  await visit('right arm', 'hero-a');
  await visit('no arm', 'other');
  await visit('no visitor', 'hero-b', { unit_id: undefined });
  await visit('other tenant', 'hero-b', { caller: theirs() });
  await visitWrongly('wrong arm', 'hero-b');
  await visitWrongly('bot', 'hero-b', { user_agent: 'Googlebot/2.1' });
  const { partnerApi } = market.marketplace;
  expected.push('embedded');
  const body = { referrer_tag: 'hero-b', unit_id, metadata: { label: 'embedded' } };
  assert.ok((await partnerApi(keys[0]).createSession(body)).ok);

  await defined(theirs(), 'hero-test', hashBody('hero', { assignment: 'own' }));
  await visit('own assignment', 'hero-b', { caller: theirs() });
  await defined(theirs(), 'hero-test-2', hashBody('page'));
  await defined(theirs(), 'hero-test-2', hashBody('page', { arms: [arm('page-b'), arm('page-a')] }));
  // `u2` is in the second arm of `hero-test-2`.
  await visit('right arm after a change', 'page-a', { caller: theirs() });
  await visitWrongly('wrong arm after a change', 'page-b', { caller: theirs() });

  const { analyticsStoreFile } = dataPaths(market.folder);
  await market.restart();
  await visitWrongly('after a restart', 'hero-b');
  await market.restart(() => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(analyticsStoreFile + suffix, { force: true });
  });
  await visitWrongly('after a rebuild', 'hero-b');
  await visit('other tenant after a rebuild', 'hero-b', { caller: theirs() });
  await deleted(ours(), 'hero-test');
  await visitWrongly('after a deletion', 'hero-b');

  // `u2` is in the first arm of `hero-test-3`.
  const planned = { starts_on: daysAfter(1), ends_on: daysAfter(14) };
  await defined(ours(), 'hero-test-3', hashBody('plan', planned));
  const visitAll = async (when: string, isRunning: boolean) => {
    for (const tag of ['plan-a', 'plan-b']) {
      const isWrong = isRunning && tag === 'plan-b';
      await (isWrong ? visitWrongly : visit)(`${when} ${tag}`, tag);
    }
  };
  await visitAll('before the first day', false);
  market.clock.advance(dayMs);
  await visitAll('on the first day', true);
  market.clock.advance(13 * dayMs);
  await visitAll('on the last day', true);
  market.clock.advance(dayMs);
  await visitAll('after the last day', false);

  const mismatchesOf = async (caller: ApiCaller, name: string): Promise<number | null> => {
    const results = await caller.send('GET', `experiments/${name}/results`);
    return assertOk<ExperimentResultsResponse>(results).split_check.assignment_mismatches;
  };
  // All marked sessions except the one of a bot, which is in no arm.
  assert.equal(await mismatchesOf(ours(), 'hero-test'), 5);
  assert.equal(await mismatchesOf(ours(), 'hero-test-3'), 2);
  assert.equal(await mismatchesOf(theirs(), 'hero-test'), null);
  assert.equal(await mismatchesOf(theirs(), 'hero-test-2'), 1);

  assertOk(await ours().send('POST', 'experiments/hero-test/close', { outcome: 'broken' }));
  await visit('after the closing', 'hero-b');
  await market.close();
  assert.deepEqual(await readMisassigned(market), expected);
});

describe('experiments after a restart', () => {
  test('survive a restart and a rebuild of the analytics store, and their rules stay', async (t) => {
    const market = await RunningMarketplace.start('uws');
    runAfterTest(t, () => market.close());
    const key = market.issueKey(personalLoansFixture).key;
    const caller = () => market.callerWithKey(personalLoansFixture, key);
    await defined(caller(), 'kept-test', bodyOf('kept'));
    await defined(caller(), 'kept-test', bodyOf('kept', { hypothesis: 'second' }));
    await defined(caller(), 'used-test', bodyOf('used'));
    await caller().createSession('used-a');
    await deleted(caller(), 'kept-test');
    await defined(caller(), 'closed-test', bodyOf('closed'));
    assertOk(await caller().send('POST', 'experiments/closed-test/close', { outcome: 'broken' }));
    const read = async () => [
      await found(caller(), 'kept-test'),
      await found(caller(), 'used-test'),
      await listed(caller()),
    ];
    const before = await read();
    const { analyticsStoreFile } = dataPaths(market.folder);
    const deleteStore = () => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(analyticsStoreFile + suffix, { force: true });
    };
    for (const whileClosed of [() => {}, deleteStore]) {
      await market.restart(whileClosed);
      assert.deepEqual(await read(), before);
      assertError(await define(caller(), 'used-test', bodyOf('used', { unit: 'visitor' })), 'INVALID_REQUEST', 'unit');
      assertError(await define(caller(), 'kept-test', bodyOf('kept')), 'INVALID_REQUEST', 'name');
    }
  });

  test('grace_days is the setting of the creation', async (t) => {
    const market = await RunningMarketplace.start('uws', { confirmationGraceDays: 0 });
    runAfterTest(t, () => market.close());
    const caller = market.caller(personalLoansFixture);
    const experiment = await defined(caller, 'grace-test', bodyOf('grace', { ends_on: daysAfter(20) }));
    assert.deepEqual([experiment.grace_days, experiment.planned_day], [0, daysAfter(66)]);
  });
});
