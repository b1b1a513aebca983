import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { AnalyticsSummary, ExperimentPlanResponse, ExperimentResultsResponse } from '../../src/index.ts';
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
import { findBestLender } from '../../src/web/console/partner/sort-offers.ts';
import { checkDemoVertical } from '../bench/demo-history/check-demo-history.ts';
import { readTable, visit } from './console-browser.ts';
import { endMs, useDemoConsoles, vertical } from './demo-consoles.ts';
import { compareAllFigures } from './figures/all-pages.ts';
import { findUsualTag } from './figures/partner-pages.ts';

const demo = useDemoConsoles();
const { partner, operator, api } = demo;

interface CatalogOffersPage {
  readonly data: readonly { readonly svc_offer_id: string; readonly reasons: readonly string[] }[];
}

interface UploadsPage {
  readonly data: readonly {
    readonly rejected: number;
    readonly rejected_by_reason: Readonly<Record<string, number>>;
  }[];
}

const resultsOf = (name: string) => api.partner<ExperimentResultsResponse>(`experiments/${name}/results`);
/** The tag that pages choose at first. */
const usualTag = () => findUsualTag(api);
const usualSummary = async () =>
  api.partner<AnalyticsSummary>(`analytics?referrer_tag=${await usualTag()}&date_from=2026-08-30`);

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
      const plan = await api.partner<ExperimentPlanResponse>('experiments/some-page/plan', {
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
      const { data } = await api.operator<CatalogOffersPage>('catalogs/personal-loans/live/offers');
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
      const { data } = await api.operator<UploadsPage>('confirmations?limit=1');
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
  const partnerPage = await partner.open(t, demo.partnerKey(), '');
  const operatorPage = await operator.open(t, demo.operatorToken(), '');
  for (const { question, links, isOperators = false, check } of questions) {
    const [{ url }, page] = isOperators ? [operator, operatorPage] : [partner, partnerPage];
    await t.test(question, async () => {
      await visit(page, `${url}#/`);
      for (const link of links) await page.getByRole('link', { name: link, exact: true }).first().click();
      await check(page);
    });
  }
});

// Checked here, because this test has already written the history.
test('each experiment of the demo history has the decision of its true effect', () =>
  checkDemoVertical(partner.market.marketplace.partnerApi(demo.partnerKey()), vertical.segment, endMs));

// The questions come first, because the comparison adds experiments, origins and an upload.
test('every figure of both consoles equals the figure of the API at its label', (t) => compareAllFigures(t, demo));
