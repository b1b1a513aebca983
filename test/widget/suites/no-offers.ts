import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { bounds } from '../../../src/bounds.ts';
import { loadId, WidgetCaller } from '../../support/api-caller.ts';
import { personalLoansFixture as fixture } from '../../support/vertical-fixtures.ts';
import type { WidgetSuite } from '../widget-test-pages.ts';

export const noOffers: WidgetSuite = (pages) =>
  describe('a widget without offers', () => {
    const titled = (page: Page, title: string) => page.locator('.message').getByRole('heading', { name: title });
    const offer = (page: Page) => page.locator('.card .go').first();
    const retry = (page: Page) => page.getByRole('button', { name: /^Try again/ });
    const offersAddress = '**/w/offers?*';

    /** Collects the errors that the widget writes to the console. */
    function collectConsoleErrors(page: Page): string[] {
      const consoleErrors: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' && message.text().startsWith('Offers widget:'))
          consoleErrors.push(message.text());
      });
      return consoleErrors;
    }

    async function blank(): Promise<Page> {
      return (await pages().context()).newPage();
    }

    test('tells the borrower what to do if no offer matches', async () => {
      const { html } = await pages().widget({ mode: 'live', allowed: true, fields: fixture.unmatched });
      const page = await pages().open(html);
      await titled(page, 'No offers match right now').waitFor();
      assert.match((await page.locator('.message').textContent()) ?? '', /smaller amount/);
      assert.match((await page.getByRole('status').textContent()) ?? '', /^No offers match right now/);
      assert.equal(await page.getByLabel('Sort by').isVisible(), false);
      assert.equal(await retry(page).count(), 0);
      await page.context().close();
    });

    test('shows a message for an expired session, at the start and after a change of the sort order', async () => {
      const { html } = await pages().widget();
      const early = await pages().open(html);
      await offer(early).waitFor();
      pages().market.clock.advance(bounds.sessionTtlMs);
      await early.getByLabel('Sort by').selectOption('lowest_apr');
      const late = await pages().open(html);
      for (const page of [early, late]) {
        await titled(page, 'These offers have expired').waitFor();
        assert.equal(await page.locator('.card').count(), 0);
        assert.equal(await retry(page).count(), 0);
        await page.context().close();
      }
    });

    test('logs the origin to add if its origin is not allowed', async () => {
      const { html } = await pages().widget({ mode: 'live' });
      const page = await blank();
      const consoleErrors = collectConsoleErrors(page);
      await page.goto(pages().page(html));
      await titled(page, 'Offers cannot be shown here').waitFor();
      assert.equal(consoleErrors.length, 1);
      assert.ok(
        consoleErrors[0]!.includes(pages().pages.origin) && consoleErrors[0]!.includes('embedding origins'),
        consoleErrors[0],
      );
      await page.context().close();
    });

    test('logs an error if data-token was not issued for data-sub', async () => {
      const [one, other] = [await pages().widget(), await pages().widget()];
      const page = await blank();
      const consoleErrors = collectConsoleErrors(page);
      await page.goto(pages().page(one.html.replace(one.token, other.token)));
      await titled(page, 'Offers cannot be shown here').waitFor();
      assert.match(consoleErrors.join(), /data-token was not issued/);
      await page.context().close();
    });

    test('shows offers after missing fields were submitted', async () => {
      const { caller, subId, html } = await pages().widget();
      await caller.submit(subId, { [fixture.amount]: null });
      const page = await pages().open(html);
      await titled(page, 'A few answers are missing').waitFor();
      await caller.submit(subId, { [fixture.amount]: 12_000 });
      await retry(page).focus();
      await page.keyboard.press('Enter');
      await offer(page).waitFor();
      // The focused button was removed, so the focus moved to the title.
      assert.equal(await page.locator('.title').evaluate((title) => title.getRootNode().activeElement === title), true);
      await page.context().close();
    });

    test('retries after a rate limit error, and then shows an error', async () => {
      const { subId, token, html } = await pages().widget();
      const widget = new WidgetCaller(pages().market.http, subId, token);
      for (let load = 1; load <= bounds.widgetRequestsPerMinute; load++)
        await widget.get('/offers', { load: loadId(load) });
      const page = await blank();
      let asked = 0;
      page.on('request', (request) => {
        if (request.url().includes('/w/offers')) asked++;
      });
      await page.goto(pages().page(html));
      await titled(page, 'Many people are asking right now').waitFor();
      assert.equal(asked, 3);
      pages().market.clock.advance(60_000);
      await retry(page).click();
      await offer(page).waitFor();
      await page.context().close();
    });

    test('shows a countdown for a long Retry-After before a retry', async () => {
      const { html } = await pages().widget();
      const page = await blank();
      await page.clock.install();
      let asked = 0;
      await page.route(offersAddress, (route) => {
        asked++;
        return asked > 1
          ? route.continue()
          : route.fulfill({
              status: 503,
              headers: {
                'Retry-After': '30',
                'Access-Control-Allow-Origin': '*',
                'Access-Control-Expose-Headers': 'Retry-After',
              },
              json: { error: 'SERVICE_UNAVAILABLE', message: 'busy' },
            });
      });
      await page.goto(pages().page(html));
      await titled(page, 'Many people are asking right now').waitFor();
      assert.equal(await retry(page).isDisabled(), true);
      assert.match((await retry(page).textContent()) ?? '', /in (30|29) s$/);
      await page.clock.runFor(31_000);
      assert.equal(asked, 1);
      assert.equal(await retry(page).isEnabled(), true);
      await retry(page).click();
      await offer(page).waitFor();
      await page.context().close();
    });

    test('a request for offers times out after 10 seconds', async () => {
      const { html } = await pages().widget();
      const page = await blank();
      await page.clock.install();
      await page.route(offersAddress, () => {});
      const asked = page.waitForRequest(/\/w\/offers/);
      await page.goto(pages().page(html));
      await asked;
      assert.equal(await page.locator('.placeholder').count(), 5);
      await page.clock.runFor(10_000);
      await titled(page, 'Offers could not be loaded').waitFor();
      await page.unroute(offersAddress);
      await retry(page).click();
      await offer(page).waitFor();
      await page.context().close();
    });

    test('retries when the network connection is restored, and counts one view', async () => {
      const { caller, tag, html } = await pages().widget();
      const page = await blank();
      await page.route(offersAddress, (route) => route.abort());
      await page.goto(pages().page(html));
      await titled(page, 'Offers could not be loaded').waitFor();
      await page.unroute(offersAddress);
      await page.context().setOffline(true);
      await page.context().setOffline(false);
      await offer(page).waitFor();
      assert.equal((await caller.summary({ referrer_tag: tag })).marketplace_views, 1);
      await page.context().close();
    });

    test('keeps its offers if a change of the sort order fails', async () => {
      const { html } = await pages().widget();
      const page = await pages().open(html);
      await offer(page).waitFor();
      const before = await page.locator('.card .name').allTextContents();
      await page.route(offersAddress, (route) => route.abort());
      await page.getByLabel('Sort by').selectOption('highest_amount');
      await page.getByRole('alert').filter({ hasText: 'The order could not be changed' }).waitFor();
      assert.deepEqual(await page.locator('.card .name').allTextContents(), before);
      assert.equal(await page.getByLabel('Sort by').inputValue(), 'recommended');
      await page.unroute(offersAddress);
      await page.getByLabel('Sort by').selectOption('highest_amount');
      await page.getByRole('status').filter({ hasText: 'Highest amount' }).waitFor();
      assert.equal(await page.getByRole('alert').filter({ hasText: 'order' }).count(), 0);
      await page.context().close();
    });
  });
