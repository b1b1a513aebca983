import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page, Response } from 'playwright-core';
import { demoCatalogFolder } from '../../bench/demo-history/demo-catalog.ts';
import { writeDemoHistory } from '../../bench/demo-history/write-demo-history.ts';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import {
  type AnalyticsSummary,
  createMarketplace,
  type ExperimentPlanResponse,
  type ExperimentResultsResponse,
  type TagsResponse,
} from '../../src/index.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import {
  formatCount,
  formatPercent,
  formatPValue,
  formatRange,
  formatRelative,
  formatShare,
  formatUsdPerUnit,
  formatUtcDay,
} from '../../src/web/console/common/format.ts';
import { findBusiestTag } from '../../src/web/console/partner/day-filter.ts';
import { findBestLender } from '../../src/web/console/partner/sort-offers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { readTable, saveScreenshot, useConsoles, visit } from './console-browser.ts';
import { findUnknownFigures } from './shown-figures.ts';

const vertical = builtInVerticals.verticals[0]!;
/** Noon of the day on which the history ends. */
const endMs = Date.UTC(2026, 10, 27, 12);
const dataDir = join(temporaryFolder(), 'demo');

let key = '';
const { partner, operator } = useConsoles(async () => {
  const signal = new AbortController().signal;
  const history = await writeDemoHistory({ dataDir, verticals: [vertical], endMs, onProgress: () => {}, signal });
  key = history.keys[0]!.key;
  const clock = new ManualClock(endMs);
  const marketplace = await createMarketplace({
    dataDir,
    clock,
    testClock: true,
    durability: 'write',
    matcherThreads: 0,
    catalogs: builtInVerticals.createCatalogSources(
      vertical,
      join(demoCatalogFolder(dataDir), `${vertical.segment}.json`),
    ),
    listen: { engine: 'uws' },
  });
  return { marketplace, clock, close: () => marketplace.close() };
});
const operatorToken = () => readOperatorToken(operatorTokenPath(dataDir));

interface CatalogOffersPage {
  readonly data: readonly { readonly svc_offer_id: string; readonly reasons: readonly string[] }[];
}

interface UploadsPage {
  readonly data: readonly {
    readonly rejected: number;
    readonly rejected_by_reason: Readonly<Record<string, number>>;
  }[];
}

/** Returns the answer of a listener to a request, which is a POST request if it has a body. */
async function ask<Answer>(url: string, secret: string, body: unknown = null): Promise<Answer> {
  const response = await fetch(url, {
    method: body === null ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: body === null ? null : JSON.stringify(body),
  });
  assert.equal(response.status, 200, url);
  return (await response.json()) as Answer;
}

const askOperator = <Answer>(path: string) => ask<Answer>(new URL(`../${path}`, operator.url).href, operatorToken());
const askPartner = <Answer>(path: string, body: unknown = null) =>
  ask<Answer>(new URL(`../v1/${vertical.segment}/${path}`, partner.url).href, key, body);

const resultsOf = (name: string) => askPartner<ExperimentResultsResponse>(`experiments/${name}/results`);
/** The tag that pages choose at first. */
const usualTag = async () => findBusiestTag((await askPartner<TagsResponse>('tags')).data);
const usualSummary = async () =>
  askPartner<AnalyticsSummary>(`analytics?referrer_tag=${await usualTag()}&date_from=2026-08-30`);

/** Returns the text of an entry of a list of figures. */
async function figureOf(page: Page, label: string): Promise<string | undefined> {
  const entry = page.locator('dl > div').filter({ has: page.locator('dt', { hasText: label }) });
  await entry.first().waitFor();
  return (await entry.locator('dd').allInnerTexts())[0];
}

interface Question {
  readonly question: string;
  /** What the user clicks, beginning on the first page. */
  readonly links: readonly (string | RegExp)[];
  /** Whether the answer is in the operator console. */
  readonly isOperators?: boolean;
  /** Finds the answer in what the page shows, and compares it with the API. */
  readonly check: (page: Page) => Promise<void>;
}

const questions: readonly Question[] = [
  {
    question: 'Which page is ahead?',
    links: ['short-form'],
    async check(page) {
      const { sentence, decision } = await resultsOf('short-form');
      assert.equal(decision, 'better');
      await page.locator('.notice').getByText(sentence, { exact: true }).waitFor();
      await page.locator('.notice').getByText('Better', { exact: true }).waitFor();
    },
  },
  {
    question: 'How sure is that?',
    links: ['short-form'],
    async check(page) {
      const [{ relative, p_value: pValue }] = (await resultsOf('short-form')).comparisons as [
        ExperimentResultsResponse['comparisons'][number],
      ];
      const table = await readTable(page, /^Mature revenue/);
      const row = table.find(([arm]) => arm!.startsWith('Form on one page'))!.join();
      assert.ok(row.includes(formatRange(relative!.low, relative!.high, formatRelative)), row);
      assert.ok(row.includes(formatPValue(pValue)), row);
    },
  },
  {
    question: 'When will it be decided?',
    links: ['rate-headline'],
    async check(page) {
      const { planned_day: plannedDay, as_of: asOf } = await resultsOf('rate-headline');
      assert.equal(await figureOf(page, 'Planned day'), formatUtcDay(plannedDay));
      const days = (Date.parse(plannedDay!) - Date.parse(asOf)) / 86_400_000;
      assert.equal(await figureOf(page, 'Days to the planned day'), String(days));
    },
  },
  {
    question: 'Is the split right?',
    links: ['lost-redirect'],
    async check(page) {
      const { split_check: split, arms } = await resultsOf('lost-redirect');
      assert.equal(split.invalid, true);
      await page.getByRole('heading', { name: 'Split check Split is wrong' }).waitFor();
      const rows = await readTable(page, 'Units of each arm');
      const total = arms.reduce((sum, { units }) => sum + units, 0);
      for (const [index, { weight, units }] of arms.entries()) {
        assert.deepEqual(rows[index]!.slice(1), [formatShare(weight), formatShare(units / total), formatCount(units)]);
      }
    },
  },
  {
    question: 'Which lender pays most per click?',
    links: ['Offers'],
    async check(page) {
      const best = findBestLender((await usualSummary()).top_lenders)!;
      const sentence = `${best.lender} pays most per click: ${formatUsdPerUnit(best.rev_confirmed_per_click)} confirmed per click`;
      await page.getByText(sentence).waitFor();
    },
  },
  {
    question: 'Do visitors with phones earn as much as those with computers?',
    links: ['Offers'],
    async check(page) {
      const { by_device: devices } = await usualSummary();
      const rows = await readTable(page, 'Figures by device');
      for (const device of ['mobile', 'desktop'] as const) {
        assert.equal(
          rows.find(([name]) => name === device)!.at(-1),
          formatUsdPerUnit(devices[device]!.rev_per_session),
        );
      }
    },
  },
  {
    question: 'How many clicks earned nothing, because a budget was used up?',
    links: ['Offers'],
    async check(page) {
      const { budget } = (await usualSummary()).clicks_not_booked;
      assert.ok(budget > 0);
      assert.equal(await figureOf(page, 'Budget'), formatCount(budget));
    },
  },
  {
    question: 'Which difference will a new experiment find, and by when?',
    links: ['New experiment'],
    async check(page) {
      const arms = ['one', 'two'].map((name) => ({ referrer_tag: `page-${name}`, weight: 0.5 }));
      const days = { starts_on: '2026-11-28', ends_on: '2027-01-08' };
      const body = { arms, control: 'page-one', unit: 'visitor', ...days, min_effect_percent: 10 };
      const plan = await askPartner<ExperimentPlanResponse>('experiments/some-page/plan', {
        ...body,
        based_on: await usualTag(),
      });
      const [arm] = plan.arms as [ExperimentPlanResponse['arms'][number]];
      await page
        .getByText(
          `By ${formatUtcDay(plan.planned_day)}, the experiment will likely find a difference of ${formatPercent(arm.smallest_effect_percent)} or more.`,
        )
        .waitFor();
    },
  },
  {
    question: 'Which offer ran out of budget?',
    isOperators: true,
    links: ['Catalogs', /^personal-loans,? live/],
    async check(page) {
      const { data } = await askOperator<CatalogOffersPage>('catalogs/personal-loans/live/offers');
      const spent = data.filter(({ reasons }) => reasons.includes('budget')).map(({ svc_offer_id: id }) => id);
      assert.ok(spent.length > 0);
      const rows = (await readTable(page, 'Offers')).filter(([, state]) => state!.includes('budget used up'));
      assert.deepEqual(
        rows.map(([offer]) => offer!.split(' ')[0]),
        spent,
      );
    },
  },
  {
    question: "What is wrong with today's confirmations?",
    isOperators: true,
    links: ['Confirmations'],
    async check(page) {
      const { data } = await askOperator<UploadsPage>('confirmations?limit=1');
      const [{ rejected, rejected_by_reason: reasons }] = data as [UploadsPage['data'][number]];
      assert.ok(rejected > 0);
      const [latest] = (await readTable(page, 'History of confirmations')) as [string[]];
      for (const [reason, count] of Object.entries(reasons)) {
        assert.ok(latest.at(-1)!.includes(`${formatCount(count)} ${reason}`), latest.join());
      }
    },
  },
];

test('answers on the demo history', async (t) => {
  const partnerPage = await partner.open(t, key, '');
  const operatorPage = await operator.open(t, operatorToken(), '');
  for (const { question, links, isOperators = false, check } of questions) {
    const [{ url }, page] = isOperators ? [operator, operatorPage] : [partner, partnerPage];
    await t.test(question, async () => {
      await visit(page, `${url}#/`);
      for (const link of links) await page.getByRole('link', { name: link, exact: true }).first().click();
      await check(page);
    });
  }
});

/** An answer of the API that a page has shown. */
interface SeenAnswer {
  /** Path below `./api/`. */
  readonly path: string;
  readonly sent: string | null;
  readonly value: unknown;
}

/** Collects the JSON answers that a page gets while `use` runs. */
async function collectAnswers(page: Page, use: () => Promise<void>): Promise<SeenAnswer[]> {
  const responses: Response[] = [];
  const listener = (response: Response) => void responses.push(response);
  page.on('response', listener);
  await use();
  page.off('response', listener);
  const answers = responses.filter((response) => response.ok() && response.url().includes('/console/api/'));
  return Promise.all(
    answers.map(async (response) => ({
      path: response.url().split('/console/api/')[1]!,
      sent: response.request().postData(),
      value: (await response.json()) as unknown,
    })),
  );
}

/** Pages of the partner console, by the name of their screenshot. */
const places: Readonly<Record<string, string>> = {
  overview: '#/',
  ...Object.fromEntries(
    ['short-form', 'rate-headline', 'same-page', 'lost-redirect'].map((name) => [name, `#/experiments/${name}`]),
  ),
  breakdown: '#/experiments/short-form?group_by=device',
  offers: '#/offers',
  'offers-of-a-week': '#/offers?tag=home-a&days=7&sort=click_rate&offer=clearwater-consolidate',
  sessions: '#/sessions',
  session: '#/sessions',
  plan: '#/new-experiment',
};

test('every figure of the partner console is one of the API', async (t) => {
  const page = await partner.open(t, key, '#/no-page');
  const unknown: string[] = [];
  for (const [name, place] of Object.entries(places)) {
    await page.goto(`${partner.url}#/no-page`);
    const answers = await collectAnswers(page, async () => {
      await visit(page, partner.url + place);
      if (name === 'session') {
        await page.locator('tbody a').first().click();
        await page.getByRole('heading', { name: 'Metadata' }).waitFor();
      }
      if (name === 'plan') await page.getByText('the experiment will likely find a difference').waitFor();
    });
    const figures = answers.filter(({ path }) => path !== 'login');
    assert.ok(figures.length > 0, name);
    for (const { path, sent, value } of figures) {
      const body: unknown = sent === null ? null : JSON.parse(sent);
      assert.deepEqual(value, await askPartner(path.replace(`v1/${vertical.segment}/`, ''), body), path);
    }
    for (const summary of await page.getByText('Show as a table').all()) await summary.click();
    const [text] = (await page.locator('main').allInnerTexts()) as [string];
    // A page also shows what the user entered in its form.
    const values = answers.flatMap(({ value, sent }) => (sent === null ? [value] : [value, JSON.parse(sent)]));
    unknown.push(...findUnknownFigures(text, values).map((figure) => `${name}: ${figure}`));
    await saveScreenshot(page, `demo-${name}`);
  }
  assert.deepEqual(unknown, []);
});
