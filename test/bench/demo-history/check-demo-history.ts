import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { demoExperiments } from '../../../bench/demo-history/demo-experiments.ts';
import { type DemoHistory, historyDays } from '../../../bench/demo-history/write-demo-history.ts';
import { daysSinceEpoch, formatIsoDate } from '../../../src/domain/calendar.ts';
import type { Marketplace } from '../../../src/index.ts';
import { ok, startEmbedded } from '../../embedded/embedded-marketplace.ts';
import { ManualClock } from '../../support/manual-clock.ts';

interface WrittenHistory {
  readonly dataDir: string;
  readonly endMs: number;
  readonly history: DemoHistory;
}

/** Serves a demo history, and checks that in each vertical every experiment has the decision of its true effect. */
export async function checkDemoHistory(t: TestContext, { dataDir, endMs, history }: WrittenHistory): Promise<void> {
  const clock = new ManualClock(endMs);
  const marketplace = await startEmbedded(t, { dataDir, clock, testClock: true, matcherThreads: 0 });
  for (const { vertical, key } of history.keys.filter(({ mode, scope }) => mode === 'live' && scope === 'full')) {
    await checkDemoVertical(marketplace.partnerApi(key, vertical), vertical, endMs);
  }
}

/** Checks the experiments and the tags of a vertical whose demo history ends at `endMs`. */
export async function checkDemoVertical(
  partner: ReturnType<Marketplace['partnerApi']>,
  vertical: string,
  endMs: number,
): Promise<void> {
  const today = daysSinceEpoch(endMs);
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
    assert.equal(results.as_of, formatIsoDate(today - 1));
    assert.equal(results.fill_progress, null);
    assert.equal(results.split_check.assignment_mismatches, unit === 'visitor' ? 0 : null);
    assert.ok(results.left_out.bots > 0);
  }
  for (const tag of tags) {
    assert.equal(tag.first_session_at.slice(0, 10), formatIsoDate(today - historyDays));
    assert.equal(tag.last_session_at.slice(0, 10), formatIsoDate(today));
    assert.ok(tag.rev_confirmed > 0);
  }
  const days = { date_from: formatIsoDate(today), date_to: formatIsoDate(today) };
  const reached = { cap: 0, budget: 0 };
  for (const { referrer_tag } of tags) {
    const { clicks_not_booked } = ok(await partner.queryAnalytics({ referrer_tag, ...days }));
    reached.cap += clicks_not_booked.cap;
    reached.budget += clicks_not_booked.budget;
  }
  assert.ok(reached.cap > 0 && reached.budget > 0, `${vertical}: ${JSON.stringify(reached)}`);
  // The service accepts a sub_id only if its secrets signed it.
  const { data: rows } = ok(await partner.queryAnalytics({ referrer_tag: 'home-a', granularity: 'row', limit: 1 }));
  const own = ok(await partner.queryAnalytics({ sub_id_list: [rows[0]!.sub_id] }));
  assert.equal(own.sessions_total, 1);
}
