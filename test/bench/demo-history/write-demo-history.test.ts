import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { demoExperiments, trueEffect } from '../../../bench/demo-history/demo-experiments.ts';
import { type DemoHistory, historyDays, writeDemoHistory } from '../../../bench/demo-history/write-demo-history.ts';
import { LedgerFollower } from '../../../src/analytics/ledger-follower.ts';
import { emptyRecordCounts } from '../../../src/analytics/projection-state.ts';
import { dayStartMs, formatIsoDate, parseIsoDate } from '../../../src/domain/calendar.ts';
import { dataPaths } from '../../../src/files/data-paths.ts';
import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import { ok, startEmbedded } from '../../embedded/embedded-marketplace.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const lastDay = parseIsoDate('2026-11-26')!;
const endMs = dayStartMs(lastDay + 1) + 12 * 3_600_000;
const dataDir = join(temporaryFolder(), 'demo');
let history: DemoHistory;
let shares = 0;

const options = {
  dataDir,
  verticals: builtInVerticals.verticals,
  endMs,
  onProgress: (share: number) => {
    shares += share;
  },
  signal: new AbortController().signal,
};

before(async () => {
  history = await writeDemoHistory(options);
});

test('the progress adds up to the whole work', () => {
  assert.ok(Math.abs(shares - 1) < 1e-9, String(shares));
});

test('the analytics count every record of the demo history', () => {
  const follower = new LedgerFollower(dataPaths(dataDir), assert.fail);
  const { records, ...skipped } = follower.execute({ name: 'getTotals', parameter: undefined });
  assert.equal(records, follower.appliedPosition);
  assert.ok(records > 2 * history.sessions);
  const { records: _, ...none } = emptyRecordCounts;
  assert.deepEqual(skipped, none);
  follower.close();
});

test('a server with a test clock serves the demo history, in which each experiment has the decision of its true effect', async (t) => {
  const clock = new ManualClock(endMs);
  await assert.rejects(startEmbedded(t, { dataDir, clock }), { name: 'TestClockMismatchError' });
  const marketplace = await startEmbedded(t, { dataDir, clock, testClock: true, matcherThreads: 0 });
  for (const { vertical, key } of history.keys.filter(({ mode, scope }) => mode === 'live' && scope === 'full')) {
    const partner = marketplace.partnerApi(key, vertical);
    const { data: tags } = ok(await partner.listTags());
    const expected = demoExperiments.flatMap(({ arms }) => arms.map(({ tag }) => tag)).sort();
    assert.deepEqual(
      tags.map(({ referrer_tag }) => referrer_tag),
      expected,
    );
    const { data: experiments } = ok(await partner.listExperiments());
    assert.deepEqual(
      experiments.map(({ name, state, retrospective }) => [name, state, retrospective]),
      demoExperiments.map(({ name }) => [name, 'running', false]).sort(),
    );
    for (const { name, decision, unit } of demoExperiments) {
      const results = ok(await partner.getExperimentResults({ name }));
      assert.equal(results.decision, decision, `${vertical}: ${results.sentence}`);
      assert.equal(results.as_of, formatIsoDate(lastDay));
      assert.equal(results.fill_progress, null);
      assert.equal(results.split_check.assignment_mismatches, unit === 'visitor' ? 0 : null);
      assert.ok(results.left_out.bots > 0);
    }
    for (const tag of tags) {
      assert.equal(tag.first_session_at.slice(0, 10), formatIsoDate(lastDay - historyDays + 1));
      assert.equal(tag.last_session_at.slice(0, 10), formatIsoDate(lastDay + 1));
      assert.ok(tag.rev_confirmed > 0);
    }
    const today = { date_from: formatIsoDate(lastDay + 1), date_to: formatIsoDate(lastDay + 1) };
    const reached = { cap: 0, budget: 0 };
    for (const { referrer_tag } of tags) {
      const { clicks_not_booked } = ok(await partner.queryAnalytics({ referrer_tag, ...today }));
      reached.cap += clicks_not_booked.cap;
      reached.budget += clicks_not_booked.budget;
    }
    assert.ok(reached.cap > 0 && reached.budget > 0, `${vertical}: ${JSON.stringify(reached)}`);
    // The service accepts a sub_id only if its secrets signed it.
    const page = { referrer_tag: 'home-a', granularity: 'row', limit: 1 } as const;
    const { data: rows } = ok(await partner.queryAnalytics(page));
    const own = ok(await partner.queryAnalytics({ sub_id_list: [rows[0]!.sub_id] }));
    assert.equal(own.sessions_total, 1);
  }
});

test('the tour lists the true effects of the experiments', () => {
  const tour = readFileSync(new URL('../../../docs/tour.md', import.meta.url), 'utf8');
  const rows = tour.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  for (const experiment of demoExperiments) {
    const { name, arms, decision } = experiment;
    const [, , tags, effect, share, decisionCell] = rows.find(([, cell]) => cell === `\`${name}\``) ?? [];
    assert.equal(tags, arms.map(({ tag }) => `\`${tag}\``).join(', '));
    assert.equal(Number.parseFloat(effect!), Math.round(trueEffect(experiment) * 100));
    assert.equal(Number.parseFloat(share!), arms[1].drawn * 100);
    assert.equal(decisionCell, `\`${decision}\``);
  }
});

test('rejects a folder that exists and does not change it', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'empty'));
  await assert.rejects(writeDemoHistory({ ...options, dataDir: folder }), /exists/);
  assert.deepEqual(readdirSync(folder), ['empty']);
});

test('deletes the folder of an interrupted write', async (t) => {
  const folder = join(temporaryFolder(t), 'demo');
  const interrupt = new AbortController();
  let days = 0;
  const onProgress = () => {
    assert.ok(existsSync(folder));
    if (++days === 2) interrupt.abort(new Error('interrupted'));
  };
  await assert.rejects(writeDemoHistory({ ...options, dataDir: folder, onProgress, signal: interrupt.signal }), {
    message: 'interrupted',
  });
  assert.equal(existsSync(folder), false);
  assert.equal(days, 2);
});
