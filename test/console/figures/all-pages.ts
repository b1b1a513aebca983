import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { visit } from '../console-browser.ts';
import type { useDemoConsoles } from '../demo-consoles.ts';
import type { Results } from './arm-names.ts';
import { catalogPage, catalogsPage, changesPage } from './catalog-pages.ts';
import { type Api, checkPage, type FigurePage } from './expected-page.ts';
import { experimentPage } from './experiment-pages.ts';
import { auditPage, confirmationsPage } from './history-pages.ts';
import { healthPage, keyPage, keysPage, originsPage } from './operator-pages.ts';
import { overviewPage } from './overview-page.ts';
import { recordPlotTexts } from './page-content.ts';
import { offersPage, sessionPage, sessionsPage } from './partner-pages.ts';
import { planPage, planPreview } from './plan-pages.ts';
import { uploadPage } from './upload-page.ts';

/** UTC day of the test, on which the history ends. */
const today = '2026-11-27';

/** Pause between requests that wait for the service. */
const pollMs = 500;

const partnerPages: readonly FigurePage[] = [
  overviewPage,
  ...['short-form', 'rate-headline', 'same-page', 'lost-redirect', 'maturing', 'final', 'closed', 'empty'].map((name) =>
    experimentPage(name),
  ),
  experimentPage('short-form', 'device'),
  experimentPage('same-page', 'campaign'),
  offersPage({ from: '2026-08-30', days: 90 }),
  offersPage({ tag: 'home-a', from: '2026-11-21', days: 7, sort: 'click_rate', offer: 'clearwater-consolidate' }),
  sessionsPage({ from: '2026-11-21', to: null, page: 1 }),
  sessionsPage({ from: '2026-11-02', to: '2026-11-03', page: 2 }),
  sessionPage,
  planPage,
  planPreview,
];

const operatorPages: readonly FigurePage[] = [
  healthPage,
  catalogsPage,
  catalogPage(),
  catalogPage({ curve: 'asap' }),
  catalogPage({ curve: 'even' }),
  catalogPage({ state: 'budget' }),
  changesPage,
  keysPage,
  keyPage,
  originsPage,
  confirmationsPage,
  auditPage(null),
  auditPage(today),
  uploadPage,
];

/** Adds experiments in the states that the demo history lacks, and an origin. */
async function addMoreStates({ partner, operator }: Api, renewRateLimits: () => void): Promise<void> {
  const define = (name: string, tags: readonly string[], more: object) => {
    const arms = tags.map((tag, index) => ({
      referrer_tag: tag,
      weight: 1 / tags.length,
      label: index === 0 ? null : `Page ${index}`,
    }));
    return partner(`experiments/${name}`, { arms, control: tags[0], unit: 'session', ...more }, 'PUT');
  };
  const past = { starts_on: '2026-08-29', ends_on: '2026-09-11' };
  await define('final', ['home-a', 'home-b', 'photo-house'], { ...past, cap_usd: 250.5 });
  await define('maturing', ['headline-plain', 'headline-rate'], { starts_on: '2026-09-01', ends_on: '2026-11-20' });
  await define('closed', ['form-three-pages', 'form-one-page'], { starts_on: '2026-08-30', ends_on: '2026-11-10' });
  await define('empty', ['new-a', 'new-b'], { starts_on: today, min_effect_percent: 5 });
  for (const name of ['final', 'maturing', 'closed']) {
    // The service counts the earlier sessions in the background.
    for (;;) {
      renewRateLimits();
      if ((await partner<Results>(`experiments/${name}/results`)).fill_progress === null) break;
      await setTimeout(pollMs);
    }
  }
  const closing = { outcome: 'ship', arm: 'form-one-page', note: 'Shipped on day 73.' };
  await partner('experiments/closed/close', closing);
  await operator('origins', { account: 'demo', origins: ['https://www.example.com', 'http://localhost:3000'] });
}

/** Compares each page of both consoles with the answers of the API. */
export async function compareAllFigures(t: TestContext, demo: ReturnType<typeof useDemoConsoles>): Promise<void> {
  const { partner, operator, api } = demo;
  const renewRateLimits = () => partner.market.clock.advance(60_000);
  await addMoreStates(api, renewRateLimits);
  const compare = async (page: Page, url: string, { place, prepare, expect }: FigurePage) => {
    renewRateLimits();
    await page.goto(`${url}#/no-page`);
    await visit(page, url + (typeof place === 'string' ? place : await place(api)));
    await prepare?.(page, api);
    await checkPage(page, await expect(api));
  };
  const consoles = [
    { console: partner, secret: demo.partnerKey(), pages: partnerPages },
    { console: operator, secret: demo.operatorToken(), pages: operatorPages },
  ];
  for (const { console, secret, pages } of consoles) {
    const page = await console.open(t, secret, '');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await recordPlotTexts(page);
    await page.reload();
    for (const each of pages) await t.test(each.name, () => compare(page, console.url, each));
  }
}
