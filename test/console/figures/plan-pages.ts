import type { ExperimentPlanResponse } from '../../../src/index.ts';
import {
  formatCount,
  formatDay,
  formatDecimal,
  formatPercent,
  formatUsdPerUnit,
  formatUtcDay,
} from '../../../src/web/console/common/format.ts';
import { type Api, column, type ExpectedColumn, type ExpectedPage, type FigurePage, table } from './expected-page.ts';
import { findUsualTag } from './partner-pages.ts';

type Outlook = ExperimentPlanResponse['outlook'][number];

/** Days that the form suggests on the last day of the history: six weeks from tomorrow. */
const days = { starts_on: '2026-11-28', ends_on: '2027-01-08' };
const minEffect = 10;

const outlookColumns: readonly ExpectedColumn<Outlook>[] = [
  column('Days of sessions', (row) => row.days, formatCount, 'days'),
  column('Last day (UTC)', (row) => row.ends_on, formatDay, 'ends_on'),
  column('Planned day (UTC)', (row) => row.planned_day, formatDay, 'planned_day'),
  column('Smallest difference', (row) => row.smallest_effect_percent, formatPercent, 'smallest_effect_percent'),
];

/** Returns what the page shows of the plan of an experiment with two pages. */
async function expectPlan(api: Api): Promise<Required<Pick<ExpectedPage, 'texts' | 'figures' | 'tables'>>> {
  const arms = ['page-one', 'page-two'].map((referrer_tag) => ({ referrer_tag, weight: 0.5 }));
  const body = { arms, control: 'page-one', unit: 'visitor', ...days, min_effect_percent: minEffect };
  const basedOn = await findUsualTag(api);
  const plan = await api.partner<ExperimentPlanResponse>('experiments/some-page/plan', { ...body, based_on: basedOn });
  const { basis, planned_day: plannedDay, first_comparison_on: firstDay } = plan;
  const [arm] = plan.arms as [ExperimentPlanResponse['arms'][number]];
  const need = `${formatCount(arm.units_per_arm)} visitors of this page`;
  const foundText =
    arm.found_on === null
      ? `A difference of ${formatPercent(minEffect)} needs ${need}, and is not likely to be found by the planned day.`
      : `A difference of ${formatPercent(minEffect)} is likely to be found by ${formatUtcDay(arm.found_on)} (it needs ${need}).`;
  return {
    texts: [
      `By ${formatUtcDay(plannedDay)}, the experiment will likely find a difference of ${formatPercent(arm.smallest_effect_percent)} or more. ${foundText}`,
      `Estimated from ${basedOn}: ${formatCount(basis.sessions)} matured sessions, ${formatCount(basis.sessions_with_revenue)} with revenue, ${formatUsdPerUnit(basis.rev_per_session)} per session, ${formatDecimal(basis.sessions_per_day)} sessions per day for all pages together. “Likely” means in 80 of 100 experiments.`,
    ],
    figures: { 'First comparison': formatUtcDay(firstDay), 'Planned day': formatUtcDay(plannedDay) },
    tables: { 'Other last days': table(plan.outlook, outlookColumns) },
  };
}

export const planPage: FigurePage = {
  name: 'plan',
  place: '#/new-experiment',
  async prepare(page) {
    await page.getByText('the experiment will likely find a difference').waitFor();
  },
  async expect(api) {
    const plan = await expectPlan(api);
    return {
      ...plan,
      fields: [
        'Share in %: 50',
        'Share in %: 50',
        `First day (UTC): ${days.starts_on}`,
        `Last day (UTC), optional: ${days.ends_on}`,
        `Smallest difference that matters, in %, optional: ${minEffect}`,
      ],
      texts: [
        'Page 1, control',
        'Page 2',
        'Expected sessions of all pages together on each day, for the estimate only. By default, the sessions of the page above in the last 28 days.',
        ...plan.texts,
      ],
    };
  },
};

/** Preview of the form, after the user has entered what it does not suggest. */
export const planPreview: FigurePage = {
  name: 'plan-preview',
  place: '#/new-experiment',
  async prepare(page) {
    await page.getByRole('textbox', { name: 'Name of the experiment' }).fill('two-pages');
    for (const [index, tag] of ['page-one', 'page-two'].entries()) await page.getByLabel('Tag').nth(index).fill(tag);
    await page.getByText('More settings').click();
    await page.getByLabel('Cap in USD, optional').fill('12.5');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('heading', { name: 'Preview' }).waitFor();
    await page.getByText('updating…').waitFor({ state: 'detached' });
  },
  async expect(api) {
    const { figures, ...plan } = await expectPlan(api);
    return {
      ...plan,
      figures: {
        ...figures,
        Name: 'two-pages',
        'Page 1, control': 'page-one, 50.0 %',
        'Page 2': 'page-two, 50.0 %',
        'Assigned to a page': 'each visitor',
        'Assigned by': 'the service, by a hash',
        'Days of sessions': `${formatUtcDay(days.starts_on)} to ${formatUtcDay(days.ends_on)}`,
        'Smallest difference': '10 %',
        Cap: '12.5 USD of a session',
        Dimensions: 'none',
        Hypothesis: 'none',
      },
      texts: ['This experiment compares the revenue per session of 1 other page with that of page-one.', ...plan.texts],
    };
  },
};
