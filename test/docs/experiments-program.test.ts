import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { ExperimentResultsResponse } from '../../src/index.ts';
import { type ApiCaller, assertOk } from '../support/api-caller.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { checkout } from './run-commands.ts';

const page = readFileSync(join(checkout, 'docs/experiments.md'), 'utf8');
const [, program = ''] = /```python\n([\s\S]*?)```/.exec(page)!;

const dayMs = 24 * 60 * 60 * 1000;
const firstDay = '2026-05-20';
const sessionDays = 14;
const lastDay = '2026-06-02';
/** Days from the last session to the first day on whose results all sessions are mature. */
const maturityDays = 54;

interface Experiment {
  readonly unit: 'session' | 'visitor';
  readonly arms: number;
  readonly ends_on?: string;
}

const experiments: Readonly<Record<string, Experiment>> = {
  'open-end': { unit: 'visitor', arms: 2 },
  'with-plan': { unit: 'visitor', arms: 3, ends_on: lastDay },
  'not-over': { unit: 'session', arms: 2, ends_on: '2026-06-03' },
};

const tagsOf = (name: string) => Array.from({ length: experiments[name]!.arms }, (_, arm) => `${name}-${arm}`);

async function define(caller: ApiCaller): Promise<void> {
  for (const [name, { unit, ends_on = null, arms }] of Object.entries(experiments)) {
    const tags = tagsOf(name);
    assertOk(
      await caller.send('PUT', `experiments/${name}`, {
        arms: tags.map((tag) => ({ referrer_tag: tag, weight: 1 / arms })),
        control: tags[0],
        unit,
        starts_on: firstDay,
        ends_on,
      }),
    );
  }
}

/** Creates the sessions of one day. Some visitors come again on later days. Two of five sessions have a payout, which depends on the arm. */
async function createSessions(
  caller: ApiCaller,
  { marketplace, clock }: RunningMarketplace,
  day: number,
): Promise<void> {
  const rows = [];
  for (const tag of Object.keys(experiments).flatMap(tagsOf)) {
    const arm = Number(tag.at(-1));
    for (let index = 0; index < 5; index++) {
      const unit_id = `${tag}-${(day * 5 + index) % 57}`;
      if (index > 1) await caller.createSession(tag, { unit_id });
      else {
        const more = { unit_id };
        const { subId, clicked } = await caller.createSessionWithClicks(tag, personalLoansFixture.complete, 1, more);
        const amount = 100 + 35 * arm + ((day * 7 + index * 13) % 60) + 0.25;
        const offer = { sub_id: subId, svc_offer_id: clicked[0]!.svc_offer_id };
        rows.push({ ...offer, txid: 'payout', amount, occurred_at: new Date(clock.wallMs()).toISOString() });
      }
    }
  }
  const submitted = await marketplace.confirmations.submit(rows.map((row) => ({ ...row, status: 'funded' as const })));
  assert.ok(submitted.ok && submitted.value.accepted === rows.length);
}

describe('the Python program of the guide', () => {
  let market: RunningMarketplace;
  let caller: ApiCaller;
  before(async () => {
    market = await RunningMarketplace.start('uws');
    caller = market.caller(personalLoansFixture, { limits: { requestsPerMinute: 100_000 } });
    await define(caller);
    for (let day = 0; day < sessionDays; day++) {
      await createSessions(caller, market, day);
      market.clock.advance(dayMs);
    }
    market.clock.advance((maturityDays - 1) * dayMs);
  });
  after(() => market.close());

  /** Runs the program with Python. Returns the lines that it prints: tag, name, computed figure and figure of the results. */
  async function run(name: string, text: string): Promise<string[][]> {
    const API = `http://127.0.0.1:${market.marketplace.ports!.public}${caller.basePath}`;
    const env = { PATH: process.env.PATH, API, KEY: caller.key, NAME: name };
    const { stdout } = await promisify(execFile)('python3', ['-c', text], { env });
    return stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
  }

  for (const [name, { arms }] of Object.entries(experiments)) {
    test(`computes the results of the experiment ${name}`, async () => {
      const results: ExperimentResultsResponse = assertOk(
        await caller.send('GET', `experiments/${name}/results?series=true`),
      );
      // With one look, the p value of the results is that of the last look.
      assert.equal(results.series!.filter(({ p_value }) => p_value !== null).length, arms - 1);
      assert.equal(results.as_of >= (results.planned_day ?? '9'), name === 'with-plan');
      const printed = await run(name, program);
      const figures = ['value', 'low', 'high', 'p_value'];
      assert.deepEqual(
        printed.map(([tag, figure]) => [tag, figure]),
        [
          ...tagsOf(name).map((tag) => [tag, 'revenue_per_session']),
          ...tagsOf(name)
            .slice(1)
            .flatMap((tag) => figures.map((figure) => [tag, figure])),
        ],
      );
      for (const [tag, figure, computed, answered] of printed) {
        const difference = Math.abs(Number(computed) / Number(answered) - 1);
        assert.ok(difference < 1e-9, `${tag} ${figure}: ${computed} instead of ${answered}`);
      }
      assert.deepEqual(await run(name, program.replace('/units"', '/units?limit=20"')), printed);
    });
  }

  test('prints the sentence of an experiment without a comparison', async () => {
    const arms = ['empty-a', 'empty-b'].map((tag) => ({ referrer_tag: tag, weight: 0.5 }));
    const today = new Date(market.clock.wallMs()).toISOString().slice(0, 10);
    const definition = { arms, control: 'empty-a', unit: 'session', starts_on: today };
    assertOk(await caller.send('PUT', 'experiments/empty', definition));
    const { sentence }: ExperimentResultsResponse = assertOk(await caller.send('GET', 'experiments/empty/results'));
    await assert.rejects(run('empty', program), { code: 1, stderr: `${sentence}\n` });
  });
});
