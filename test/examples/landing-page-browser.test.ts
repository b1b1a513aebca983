import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import type { Variant } from '../../examples/landing-page/experiment/variants.ts';
import { findAccessibilityViolations } from '../support/accessibility.ts';
import { browsers } from '../support/browsers.ts';
import { startChromium } from '../support/chromium.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { type StartedLandingPage, startLandingPage, useMarketplace, visitorAnswers } from './landing-page-fixture.ts';

useMarketplace();
let browser: Browser;
before(async () => {
  browser = await startChromium();
});
after(() => browser.close());

interface Visit {
  readonly site: StartedLandingPage;
  readonly page: Page;
  /** Redirect locations of the clicks. The lenders do not exist. */
  readonly landings: string[];
  /** Errors on the browser's console: scripts, policies, missing files. */
  readonly complaints: string[];
}

async function visitPage(t: TestContext, variant: Variant, segment = 'personal-loans'): Promise<Visit> {
  const site = await startLandingPage(t, { segment });
  // The default user agent of Playwright identifies a bot, whose clicks do not count.
  const { userAgent } = browsers[0]!;
  const context = await browser.newContext({ userAgent, viewport: { width: 1000, height: 800 } });
  runAfterTest(t, () => context.close());
  await context.addCookies([{ name: 'visitor', value: site.visitorIdOf(variant), url: site.origin }]);
  const landings: string[] = [];
  const complaints: string[] = [];
  // Requests the redirect without following it.
  await context.route('**/c?sub=*', async (route) => {
    const answer = await route.fetch({ maxRedirects: 0 });
    assert.equal(answer.status(), 302);
    landings.push(answer.headers().location!);
    await route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>A lender</title>' });
  });
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (fault) => complaints.push(String(fault)));
  return { site, page, landings, complaints };
}

/** Returns the radio buttons that are not in the middle of their box, and the boxes that are not as tall as the others in their row. */
const unevenChoices = `[...document.querySelectorAll('.choice')].flatMap((choice) => {
  const box = choice.querySelector('span').getBoundingClientRect();
  const mark = choice.querySelector('input').getBoundingClientRect();
  const row = [...choice.parentElement.children].filter((other) => other.getBoundingClientRect().top === choice.getBoundingClientRect().top);
  const isEven = row.every((other) => other.querySelector('span').getBoundingClientRect().height === box.height);
  const isCentred = Math.abs(mark.top + mark.bottom - box.top - box.bottom) <= 2;
  return isEven && isCentred ? [] : [choice.textContent.trim()];
})`;

/**
 * Returns the cards of offers whose parts have another place than those of the first card, or overlap: on a wide screen, the lender is at
 * the left, the figures are in the middle, and the button is at the right.
 */
const unevenOffers = `[...document.querySelectorAll('.offer')].flatMap((offer, index, offers) => {
  const placesOf = (card) => ['.lender', 'dl', '.button'].map((part) => {
    const { left, right } = card.querySelector(part).getBoundingClientRect();
    return [Math.round(left), Math.round(right)];
  });
  const [lender, figures, button] = placesOf(offer);
  const isEven = JSON.stringify(placesOf(offer)) === JSON.stringify(placesOf(offers[0]));
  return isEven && (innerWidth < 1200 || (lender[1] < figures[0] && figures[1] < button[0])) ? [] : [offer.textContent.trim()];
})`;

/** Asserts that a page has no accessibility violations and fits narrow and wide screens. */
async function assertGoodPage(page: Page, colorSchemes: readonly ('light' | 'dark')[] = ['light']): Promise<void> {
  assert.deepEqual(await findAccessibilityViolations(page, colorSchemes), []);
  await page.emulateMedia({ colorScheme: null });
  for (const width of [280, 360, 768, 1200]) {
    await page.setViewportSize({ width, height: 800 });
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    assert.ok(wide <= width, `${page.url()} is ${wide} px wide on a screen of ${width}`);
    assert.deepEqual(await page.evaluate(unevenChoices), [], `${page.url()} on a screen of ${width} px`);
    assert.deepEqual(await page.evaluate(unevenOffers), [], `${page.url()} on a screen of ${width} px`);
  }
  await page.setViewportSize({ width: 1000, height: 800 });
}

/** Asserts that a page and its frames have no accessibility violations and no horizontal scroll bar on any screen. */
async function assertGoodOnAllScreens(page: Page): Promise<void> {
  for (const width of [320, 768, 1200]) {
    await page.setViewportSize({ width, height: 800 });
    assert.deepEqual(await findAccessibilityViolations(page), [], `${width} px`);
    for (const frame of page.frames()) {
      const excess = await frame.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.equal(excess, 0, `${frame.url()} on a screen of ${width} px`);
    }
  }
}

/** Asserts that all content of a frame is visible without a scroll bar in the frame. */
async function assertNoInnerScrolling(page: Page): Promise<void> {
  const excess = () =>
    page.frames()[1]!.evaluate<number>('document.documentElement.scrollHeight - document.documentElement.clientHeight');
  // The page sets the height of the frame after a message of the frame.
  while ((await excess()) > 0) await pause(50);
}

/** Presses Tab until the control with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement.name || document.activeElement.type')) === name) return;
  }
  assert.fail(`the keyboard does not get to ${name}`);
}

async function typeInto(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.type(text);
}

async function pressOn(page: Page, name: string, key: 'Enter' | 'Space'): Promise<void> {
  await tabTo(page, name);
  await Promise.all([page.waitForEvent('load'), page.keyboard.press(key)]);
}

async function assertEarned({ site, landings, complaints }: Visit, tag: string, views: number): Promise<void> {
  assert.equal(landings.length, 1);
  assert.match(landings[0]!, /\/c\/example\?click_id=/);
  const { sessions_total, marketplace_views, offer_clicks } = await site.caller.summary({ referrer_tag: tag });
  assert.deepEqual([sessions_total, marketplace_views, offer_clicks], [1, views, 1]);
  assert.deepEqual(complaints, []);
  assert.equal(site.log(), '');
}

test('variant A of the landing page can be used by keyboard, with the iframe widget and with the script widget', async (t) => {
  const visit = await visitPage(t, 'a');
  const { site, page } = visit;
  await page.goto(site.url);
  await assertGoodPage(page);
  await typeInto(page, 'loan_amount', '10,000');
  await typeInto(page, 'loan_purpose', 'Paying');
  // The element does not exist before the page loads the widget script.
  await typeInto(page, 'monthly_debt_payments', '500');
  await typeInto(page, 'credit_score_range', '750');
  await typeInto(page, 'annual_income', '120000');
  await typeInto(page, 'employment_status', 'Empl');
  await typeInto(page, 'state', 'Calif');
  await pressOn(page, 'submit', 'Enter');
  assert.equal(new URL(page.url()).pathname, '/personal-loans/offers');
  const firstOffer = (widget: Page | FrameLocator) =>
    widget.getByRole('link', { name: / at .*\(opens in a new tab\)/ }).first();
  const link = firstOffer(page.frameLocator('iframe'));
  await link.waitFor();
  await assertGoodPage(page, ['light', 'dark']);
  await link.focus();
  const [tab] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Enter')]);
  await tab.waitForLoadState();
  assert.equal(await tab.title(), 'A lender');

  await page.goto(`${site.url}/offers?embed=js`);
  await firstOffer(page).waitFor();
  await assertGoodPage(page);
  await assertEarned(visit, 'lp-calm-form', 2);
});

test('variant B of the landing page (one question per page, offers as cards) can be used by keyboard', async (t) => {
  const visit = await visitPage(t, 'b');
  const { site, page } = visit;
  await page.goto(site.url);
  await assertGoodPage(page);
  await tabTo(page, 'loan_purpose');
  await page.keyboard.press('Space');
  await pressOn(page, 'submit', 'Enter');
  await assertGoodPage(page);
  // Enter in a text field submits its form.
  await typeInto(page, 'loan_amount', '10000');
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  await assertGoodPage(page);
  await tabTo(page, 'credit_score_range');
  await page.keyboard.press('ArrowDown');
  await pressOn(page, 'submit', 'Enter');
  await assertGoodPage(page);
  await typeInto(page, 'annual_income', '120000');
  await tabTo(page, 'employment_status');
  await page.keyboard.press('Space');
  await typeInto(page, 'state', 'Calif');
  await pressOn(page, 'submit', 'Enter');
  await assertGoodPage(page);
  await pressOn(page, 'skip', 'Enter');

  assert.equal(new URL(page.url()).pathname, '/personal-loans/offers');
  await assertGoodPage(page, ['light', 'dark']);
  const cards = page.getByRole('article');
  assert.ok((await cards.count()) > 1);
  // The console would report images that failed to load.
  await cards
    .first()
    .getByRole('link', { name: /^See the offer of / })
    .focus();
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
  assert.equal(await page.title(), 'A lender');
  await assertEarned(visit, 'lp-quick-quiz', 1);
});

/** Conditional fields that the answers of `visitorAnswers` show, and fields of another purpose; null for none. */
const conditionalFields = [
  ['credit-cards', 'transfer_amount', 'monthly_spend'],
  ['mortgage', 'down_payment', 'mortgage_balance'],
  ['banking', 'cd_term_months', null],
  ['find-advisor', null, null],
] as const;

for (const [segment, shownField, hiddenField] of conditionalFields) {
  test(`${segment}: a visitor fills in the form, sees offers in the widget and clicks one`, async (t) => {
    const visit = await visitPage(t, 'a', segment);
    const { site, page } = visit;
    await page.goto(site.origin);
    await assertGoodOnAllScreens(page);
    assert.equal(await page.locator(`main a[href="/${segment}"]`).isVisible(), true);
    await page.goto(`${site.url}?variant=b`);
    await assertGoodPage(page);
    await page.goto(site.url);
    if (shownField !== null) assert.equal(await page.locator(`#${shownField}`).isVisible(), false);
    for (const [name, value] of Object.entries(visitorAnswers[segment]!)) {
      const control = page.locator(`#${name}`);
      if ((await control.getAttribute('type')) === 'text') await control.fill(value);
      else await control.selectOption(value);
    }
    if (hiddenField !== null) assert.equal(await page.locator(`#${hiddenField}`).isVisible(), false);
    await assertGoodOnAllScreens(page);
    await page.getByRole('button', { name: 'See my offers' }).click();
    const widget = page.frameLocator('iframe');
    await widget.locator('.card .go').first().waitFor();
    for (const summary of await widget.locator('summary').all()) await summary.click();
    await assertGoodOnAllScreens(page);
    for (const [colorScheme, ground] of [
      ['dark', 'rgb(18, 23, 30)'],
      ['light', 'rgb(255, 255, 255)'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const colors = await widget.locator('body').evaluate((body) =>
        ['.panel', '.go'].map((selector) => {
          const { shadowRoot } = body.querySelector('svc-offers-host');
          return body.ownerDocument.defaultView.getComputedStyle(shadowRoot.querySelector(selector)).backgroundColor;
        }),
      );
      assert.deepEqual(colors, [ground, 'rgb(13, 107, 85)'], `the widget has the colors of the ${colorScheme} page`);
    }
    for (const width of [320, 768, 1200]) {
      await page.setViewportSize({ width, height: 800 });
      await assertNoInnerScrolling(page);
    }
    const [tab] = await Promise.all([page.context().waitForEvent('page'), widget.locator('.card .go').first().click()]);
    await tab.waitForLoadState();
    assert.equal(await tab.title(), 'A lender');
    await assertEarned(visit, 'lp-calm-form', 1);
  });
}

test('a form with errors moves the keyboard focus to the summary of errors', async (t) => {
  const { site, page } = await visitPage(t, 'a');
  await page.goto(site.url);
  await typeInto(page, 'loan_amount', '12');
  await pressOn(page, 'submit', 'Enter');
  assert.match(await page.title(), /^Error: /);
  assert.equal(await page.evaluate('document.activeElement.className'), 'problems');
  await assertGoodPage(page, ['light', 'dark']);
  // The first link of the summary leads to the first invalid field.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate('document.activeElement.id'), 'loan_amount');
  const amount = page.getByRole('textbox', { name: 'How much would you like to borrow?' });
  assert.equal(await amount.inputValue(), '12');
});

test('the results page and the error page are accessible', async (t) => {
  const { site, page } = await visitPage(t, 'a');
  for (const path of ['/results', '/nowhere']) {
    await page.goto(site.url + path);
    await assertGoodPage(page);
  }
});
