import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { ExperimentResponse } from '../../src/index.ts';
import { assertOk } from '../support/api-caller.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { readTable, textOf, useConsoles, visit, waitUntilLoaded } from './console-browser.ts';

/** More than a page of sessions. */
const sessionsCreated = 27;
/** More elements than a page has before the one that a test looks for. */
const tabsMax = 60;
let key = '';
const { partner } = useConsoles(async () => {
  const market = await RunningMarketplace.start('uws');
  const caller = market.caller(fixture, { account: 'keyboard' });
  key = caller.key;
  await caller.createSessionWithClicks('page-one', fixture.complete, 2);
  for (let count = 1; count < sessionsCreated; count++) await caller.createSession('page-one');
  await caller.createSession('page-two');
  return market;
});

async function open(t: TestContext, place: string): Promise<Page> {
  const page = await partner.open(t, key, place);
  await waitUntilLoaded(page);
  return page;
}

/** Presses the tab key until the element with a name in the accessibility tree has the focus. */
async function tabTo(
  page: Page,
  role: 'button' | 'combobox' | 'radio' | 'textbox',
  name: string,
  index = 0,
): Promise<void> {
  const wanted = page.getByRole(role, { name, exact: true }).nth(index);
  for (let count = 0; count < tabsMax; count++) {
    await page.keyboard.press('Tab');
    if ((await wanted.and(page.locator(':focus')).count()) === 1) return;
  }
  assert.fail(`the tab key does not reach the ${role} ${name}`);
}

test('offers are sorted and filtered by keyboard', async (t) => {
  const page = await open(t, '#/offers');
  await tabTo(page, 'combobox', 'Sort by');
  await page.keyboard.type('click rate');
  await page.waitForURL(/sort=click_rate/);
  const rates = (await readTable(page, 'Offers that were shown')).map(([, , , , rate]) => Number.parseFloat(rate!));
  assert.deepEqual(
    rates,
    rates.toSorted((one, other) => other - one),
  );
  assert.ok(rates[0]! > rates.at(-1)!);
  await page.keyboard.press('Shift+Tab');
  await page.reload();
  await waitUntilLoaded(page);
  await tabTo(page, 'combobox', 'Page (tag)');
  await page.keyboard.press('ArrowDown');
  await page.waitForURL(/tag=page-two/);
  await page.getByText('No offers in these days').waitFor();
});

test('sessions are filtered by keyboard, and the focus stays at the button of the next page', async (t) => {
  const page = await open(t, '#/sessions');
  const idsOf = async () => (await readTable(page, /^Sessions of/)).map(([, id]) => id);
  const first = await idsOf();
  await tabTo(page, 'button', 'Next page');
  await page.keyboard.press('Enter');
  await page.getByText('Page 2').waitFor();
  await waitUntilLoaded(page);
  const second = await idsOf();
  assert.equal(second.length, sessionsCreated - first.length);
  assert.deepEqual(
    first.filter((id) => second.includes(id)),
    [],
  );
  await page.getByRole('button', { name: 'Next page' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Space');
  await page.getByText(first[0]!).waitFor();
  await page.reload();
  await waitUntilLoaded(page);
  await tabTo(page, 'combobox', 'Sessions of');
  await page.keyboard.type('today');
  await page.waitForURL(/days=1$/);
  assert.equal((await idsOf()).length, first.length);
});

test('an experiment is defined, previewed and created by keyboard', async (t) => {
  const page = await open(t, '#/new-experiment');
  await tabTo(page, 'textbox', 'Name of the experiment');
  await page.keyboard.type('by-keyboard');
  for (const [index, tag] of ['keys-old', 'keys-new'].entries()) {
    await tabTo(page, 'textbox', 'Tag', index);
    await page.keyboard.type(tag);
  }
  await tabTo(
    page,
    'radio',
    'Each visitor A visitor who comes back sees the same page. Your web server sends your own id of the visitor as unit_id with each session.',
  );
  await page.keyboard.press('ArrowDown');
  await tabTo(page, 'textbox', 'Smallest difference that matters, in %, optional');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('12.5');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Preview' }).waitFor();
  await tabTo(page, 'button', 'Create the experiment');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'by-keyboard is defined' }).waitFor();
  const caller = partner.market.callerWithKey(fixture, key);
  const {
    arms,
    unit,
    min_effect_percent: effect,
  } = assertOk<ExperimentResponse>(await caller.send('GET', 'experiments/by-keyboard'));
  assert.deepEqual(
    [arms.map(({ referrer_tag }) => referrer_tag), unit, effect],
    [['keys-old', 'keys-new'], 'session', 12.5],
  );
});

test('nothing moves with reduced motion, and forced colors keep borders, focus and bars visible', async (t) => {
  const page = await open(t, '#/offers');
  const motions = () => page.evaluate<number>('document.getAnimations().length');
  await page.route('**/console/api/v1/*/analytics?*', () => {});
  for (const [reducedMotion, expected] of [
    ['no-preference', true],
    ['reduce', false],
  ] as const) {
    await page.emulateMedia({ reducedMotion });
    await page.reload();
    await page.locator('.loading-bar').first().waitFor();
    assert.equal((await motions()) > 0, expected);
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.emulateMedia({ reducedMotion: null, forcedColors: 'active' });
  await visit(page, `${partner.url}#/new-experiment`);
  await page.getByRole('textbox', { name: 'Name of the experiment' }).focus();
  const borders = await page.evaluate<string>(
    'getComputedStyle(document.querySelector("button[type=submit]")).borderTop',
  );
  assert.match(borders, /^1px solid/);
  const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
  assert.equal(outline, 'solid');
  assert.match(await textOf(page), /Pages to compare/);
  await page.emulateMedia({ forcedColors: null });
});
