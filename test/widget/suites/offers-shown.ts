import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { WidgetCaller } from '../../support/api-caller.ts';
import { personalLoansFixture as fixture } from '../../support/vertical-fixtures.ts';
import type { WidgetSuite } from '../widget-test-pages.ts';

declare const getComputedStyle: (element: unknown) => { readonly backgroundColor: string };

export const offersShown: WidgetSuite = (pages) =>
  describe('offers in the widget', () => {
    const firstCard = (page: Page) => page.locator('.card:not(.placeholder)').first();

    test('a card shows an offer with its payment, amount, term and APR range', async () => {
      const { html, subId, token } = await pages().widget({ maxOffers: 4 });
      const page = await pages().open(html);
      await firstCard(page).waitFor();
      const { offers } = await new WidgetCaller(pages().market.http, subId, token).offers('00000000000000aa', {
        max_offers: 4,
      });
      const cards = page.locator('.card');
      assert.equal(await cards.count(), 4);
      for (const [place, offer] of offers.entries()) {
        const card = cards.nth(place);
        assert.equal(await card.getByRole('heading').textContent(), offer.lender_name);
        assert.equal(await card.getByRole('heading').evaluate((node) => node.tagName), 'H3');
        const text = (await card.textContent()) ?? '';
        const { min, max } = offer.apr_range;
        const rates = `${min.toFixed(2)}% to ${max.toFixed(2)}%`;
        const payment = offer.monthly_payment_estimate.toFixed(2);
        const { payment_term_months: term } = offer as unknown as { payment_term_months: number };
        assert.ok(text.includes(`$${payment}/month for $10,000 over ${term} months, APR from ${rates}`), text);
        assert.ok(text.includes(`${offer.svc_star_rating.toFixed(1)} out of 5`), text);
        assert.ok(text.includes(`$${offer.loan_amount_range.min.toLocaleString('en-US')}–`), text);
        assert.equal(text.includes('Checking your rate will not affect your credit score'), offer.prequalification);
        assert.equal(await card.locator('.logo img').getAttribute('src'), offer.logo_url);
        assert.equal(await card.locator('.logo img').getAttribute('alt'), `${offer.lender_name} logo`);
        const link = card.getByRole('link');
        assert.match((await link.textContent()) ?? '', new RegExp(`at ${offer.lender_name} \\(opens in a new tab\\)$`));
        assert.equal(await link.getAttribute('target'), '_blank');
        assert.equal(await link.getAttribute('rel'), 'noopener sponsored');
        const address = new URL((await link.getAttribute('href')) ?? '');
        assert.equal(address.searchParams.get('offer'), offer.svc_offer_id);
        assert.equal(address.searchParams.get('sub'), subId);
      }
      await page.context().close();
    });

    test('the link of a card leads to the redirect host, which counts the click', async () => {
      const { caller, tag, html } = await pages().widget();
      const page = await pages().open(html);
      const tab = page.context().waitForEvent('page');
      await firstCard(page).getByRole('link').click();
      await (await tab).getByRole('heading', { name: 'Sandbox landing page' }).waitFor();
      const { offer_clicks: clicks, marketplace_views: views } = await caller.summary({ referrer_tag: tag });
      assert.deepEqual([clicks, views], [1, 1]);
      await page.context().close();
    });

    test('only an offer with prequalification mentions credit scores', async () => {
      const { caller, subId, html } = await pages().widget({ maxOffers: 20 });
      const page = await pages().open(html);
      await firstCard(page).waitFor();
      const { offers } = await caller.offers(subId, { max_offers: 20 });
      const without = offers.filter(({ prequalification }) => !prequalification).length;
      assert.ok(without > 0 && without < offers.length);
      assert.equal(await page.locator('.no-credit-impact').count(), offers.length - without);
      await page.context().close();
    });

    test('the title shows the number of offers, and the disclosure of the catalog is above the offers', async () => {
      const { caller, subId, html } = await pages().widget({ maxOffers: 3 });
      const page = await pages().open(html, { viewport: { width: 375, height: 680 } });
      await firstCard(page).waitFor();
      const { total_offers: total, disclosure } = await caller.offers(subId);
      assert.equal(await page.locator('.count').textContent(), `3 of ${total} offers for $10,000`);
      const summary = page.getByText('How offers are chosen');
      const box = await summary.boundingBox();
      assert.ok(box !== null && box.y + box.height < 400, 'above the fold');
      await summary.click();
      const text = (await page.locator('.disclosure-text').textContent()) ?? '';
      for (const phrase of [
        'APR',
        'likely the lender is',
        'star rating',
        'What a lender pays us plays no part in it',
        disclosure,
      ]) {
        assert.ok(text.includes(phrase), phrase);
      }
      await page.context().close();
    });

    test('a change of the sort order keeps the keyboard focus and is announced to screen readers', async () => {
      const { html } = await pages().widget();
      const page = await pages().open(html);
      await firstCard(page).waitFor();
      const order = page.getByLabel('Sort by');
      assert.deepEqual(await order.locator('option').allTextContents(), [
        'Recommended',
        'Lowest APR',
        'Highest amount',
      ]);
      await order.focus();
      await order.selectOption('lowest_apr');
      await page.getByRole('status').filter({ hasText: 'sorted by: Lowest APR' }).waitFor();
      const lowest = (await page.locator('.apr .value').allTextContents()).map((text) => Number.parseFloat(text));
      assert.deepEqual(
        lowest,
        [...lowest].sort((a, b) => a - b),
      );
      assert.equal(await order.evaluate((select) => select.getRootNode().activeElement === select), true);
      await page.context().close();
    });

    test('the revenue sort is available only if the page starts with it, under the name “Sponsored first”', async () => {
      const { html } = await pages().widget({ sort: 'svc_revenue' });
      const page = await pages().open(html);
      await firstCard(page).waitFor();
      assert.equal(await page.getByLabel('Sort by').inputValue(), 'svc_revenue');
      assert.ok((await page.getByLabel('Sort by').locator('option').allTextContents()).includes('Sponsored first'));
      await page.getByText('How offers are chosen').click();
      assert.match(
        (await page.locator('.disclosure-text').textContent()) ?? '',
        /“Sponsored first” goes by what we expect to be paid/,
      );
      await page.context().close();
    });

    test('the widget shows the last of two quickly selected sort orders', async () => {
      const { html } = await pages().widget();
      const page = await pages().open(html);
      await firstCard(page).waitFor();
      let held: (() => Promise<void>) | undefined;
      await page.route('**/w/offers?*sort=lowest_apr*', (route) => {
        held = () => route.continue();
      });
      const order = page.getByLabel('Sort by');
      const asked = page.waitForRequest(/sort=lowest_apr/);
      await order.selectOption('lowest_apr');
      await asked;
      await order.selectOption('highest_amount');
      await page.getByRole('status').filter({ hasText: 'Highest amount' }).waitFor();
      await held?.().catch(() => {});
      assert.equal(await page.getByRole('status').filter({ hasText: 'Highest amount' }).count(), 1);
      assert.equal(await order.inputValue(), 'highest_amount');
      await page.context().close();
    });

    test('URLs with other schemes are removed, and markup in a response is shown as text', async () => {
      const { html } = await pages().widget({ maxOffers: 3 });
      const page = await (await pages().context()).newPage();
      await page.route('**/w/offers?*', async (route) => {
        const answer = await route.fetch();
        const envelope = await answer.json();
        envelope.offers[0].click_url = 'javascript:document.title="followed"';
        envelope.offers[1].logo_url = 'data:image/svg+xml,<svg/>';
        envelope.offers[1].lender_name = '<img src=x onerror="document.title=1">';
        await route.fulfill({ response: answer, json: envelope });
      });
      await page.goto(pages().page(html));
      await firstCard(page).waitFor();
      assert.equal(await page.locator('.card').count(), 2);
      assert.equal(await firstCard(page).getByRole('heading').textContent(), '<img src=x onerror="document.title=1">');
      assert.equal(await firstCard(page).locator('img').count(), 0);
      assert.equal(await page.locator('a[href^="javascript"]').count(), 0);
      await page.context().close();
    });

    test('the widget fills the page of an iframe and uses its title as the heading', async () => {
      const { caller, subId } = await pages().widget();
      const { html } = await caller.embed(subId, 'iframe');
      const page = await pages().open(html, { viewport: { width: 800, height: 900 } });
      const frame = page.frameLocator('iframe');
      await frame.locator('.card .go').first().waitFor();
      assert.equal(await frame.getByRole('heading', { level: 1 }).textContent(), 'Your loan offers');
      assert.ok((await frame.getByRole('heading', { level: 2 }).count()) > 1);
      const panel = await frame.locator('.panel').evaluate((node) => {
        const { left, top, width } = node.getBoundingClientRect();
        return [left, top, width - node.ownerDocument.documentElement.clientWidth];
      });
      assert.deepEqual(panel, [0, 0, 0]);
      await page.context().close();
    });

    test('data-theme selects a light or dark widget', async () => {
      for (const [theme, colorScheme, ground] of [
        ['light', 'dark', 'rgb(255, 255, 255)'],
        ['dark', 'light', 'rgb(18, 23, 30)'],
        ['auto', 'dark', 'rgb(18, 23, 30)'],
        ['auto', 'light', 'rgb(255, 255, 255)'],
      ] as const) {
        const { html } = await pages().widget();
        const page = await pages().open(html.replace('data-sub', `data-theme="${theme}" data-sub`), { colorScheme });
        await firstCard(page).waitFor();
        assert.equal(
          await page.locator('.panel').evaluate((node) => getComputedStyle(node).backgroundColor),
          ground,
          `${theme} ${colorScheme}`,
        );
        await page.context().close();
      }
    });

    test('a logo that fails to load is replaced with the initial of the lender', async () => {
      const { html } = await pages().widget({ fields: fixture.complete });
      const page = await (await pages().context()).newPage();
      await page.route('**/cdn/**', (route) => route.abort());
      await page.goto(pages().page(html));
      await firstCard(page).locator('.logo').getByText('S', { exact: true }).waitFor();
      await page.context().close();
    });
  });
