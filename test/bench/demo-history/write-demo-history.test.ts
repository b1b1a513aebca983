import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { demoExperiments, trueEffect } from '../../../bench/demo-history/demo-experiments.ts';
import { type DemoHistory, writeDemoHistory } from '../../../bench/demo-history/write-demo-history.ts';
import { LedgerFollower } from '../../../src/analytics/ledger-follower.ts';
import { emptyRecordCounts } from '../../../src/analytics/projection-state.ts';
import { dayStartMs, parseIsoDate } from '../../../src/domain/calendar.ts';
import { dataPaths } from '../../../src/files/data-paths.ts';
import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import { startEmbedded } from '../../embedded/embedded-marketplace.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { checkDemoHistory } from './check-demo-history.ts';

const lastDay = parseIsoDate('2026-11-26')!;
const endMs = dayStartMs(lastDay + 1) + 12 * 3_600_000;
const dataDir = join(temporaryFolder(), 'demo');
let history: DemoHistory;
let shares = 0;

/**
 * Verticals in which a click confirms its revenue. The test uses them because their histories have the smallest number of sessions.
 * `test/console/answers.test.ts` checks a vertical in which lenders confirm revenue, and `make bench-test` checks all verticals.
 */
const verticals = builtInVerticals.verticals.filter(({ clicksConfirmRevenue }) => clicksConfirmRevenue);

const options = {
  dataDir,
  verticals,
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

test('a server without a test clock refuses the demo history', async (t) => {
  const clock = new ManualClock(endMs);
  await assert.rejects(startEmbedded(t, { dataDir, clock }), { name: 'TestClockMismatchError' });
});

test('each experiment has the decision of its true effect', (t) => checkDemoHistory(t, { dataDir, endMs, history }));

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
  const interrupted = {
    ...options,
    verticals: verticals.slice(0, 1),
    dataDir: folder,
    onProgress,
    signal: interrupt.signal,
  };
  await assert.rejects(writeDemoHistory(interrupted), { message: 'interrupted' });
  assert.equal(existsSync(folder), false);
  assert.equal(days, 2);
});
