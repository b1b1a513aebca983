import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { bounds } from '../../../src/bounds.ts';
import type { TestWidget, WidgetSuite } from '../widget-test-pages.ts';

const dayMs = 86_400_000;

export const expiry: WidgetSuite = (pages) =>
  describe('offers on an open page', () => {
    const offer = (page: Page) => page.locator('.card .go').first();
    const expired = (page: Page) =>
      page.locator('.message').getByRole('heading', { name: 'These offers have expired' });

    /** Opens a page with offers. The test controls the clock of the page. */
    async function openPage({ html }: TestWidget, time?: string): Promise<Page> {
      const page = await (await pages().context()).newPage();
      await page.clock.install(time === undefined ? {} : { time });
      await page.goto(pages().page(html));
      await offer(page).waitFor();
      return page;
    }

    test('offers expire with the session, whatever the time on the visitor’s device', async () => {
      for (const time of ['2001-01-01', '2049-12-31']) {
        const widget = await pages().widget();
        const page = await openPage(widget, time);
        const consoleLines: string[] = [];
        page.on('console', (message) => consoleLines.push(message.text()));
        await page.clock.runFor(bounds.sessionTtlMs - 60_000);
        assert.equal(await expired(page).count(), 0, time);
        await offer(page).focus();
        await page.clock.runFor(60_000);
        await expired(page).waitFor();
        assert.equal(await page.locator('.card').count(), 0);
        assert.match((await page.getByRole('status').textContent()) ?? '', /^These offers have expired/);
        // The focused link was removed. Expiry is not an integration error, so the widget logs nothing.
        assert.equal(
          await page.locator('.title').evaluate((title) => title.getRootNode().activeElement === title),
          true,
        );
        assert.deepEqual(consoleLines, []);
        const { marketplace_views: views } = await widget.caller.summary({ referrer_tag: widget.tag });
        assert.equal(views, 1);
        await page.context().close();
      }
    });

    test('offers are checked for expiry when the visitor returns to the page, because timers may not have run', async () => {
      for (const comingBack of [
        'document.dispatchEvent(new Event("visibilitychange"))',
        'dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))',
      ]) {
        const page = await openPage(await pages().widget());
        const now = await page.evaluate<number>('Date.now()');
        for (const [passedMs, isOver] of [
          [bounds.sessionTtlMs - 60_000, false],
          [bounds.sessionTtlMs, true],
        ] as const) {
          await page.clock.setSystemTime(now + passedMs);
          assert.equal(await expired(page).count(), 0);
          await page.evaluate(comingBack);
          assert.equal(await expired(page).count(), isOver ? 1 : 0, comingBack);
        }
        await page.context().close();
      }
    });

    test('offers expire correctly after more than the maximum delay of setTimeout', async () => {
      const { html } = await pages().widget();
      const page = await (await pages().context()).newPage();
      await page.clock.install();
      await page.route('**/w/offers?*', async (route) => {
        const answer = await route.fetch();
        const envelope = await answer.json();
        const expires_at = new Date(Date.parse(envelope.generated_at) + 40 * dayMs).toISOString();
        await route.fulfill({ response: answer, json: { ...envelope, expires_at } });
      });
      await page.goto(pages().page(html));
      await offer(page).waitFor();
      await page.clock.runFor(39 * dayMs);
      assert.equal(await expired(page).count(), 0);
      await page.clock.runFor(dayMs);
      await expired(page).waitFor();
      await page.context().close();
    });

    test('offers expire one session lifetime after the creation of the session, also after a later response', async () => {
      const page = await openPage(await pages().widget());
      const halfMs = bounds.sessionTtlMs / 2;
      await page.clock.runFor(halfMs);
      pages().market.clock.advance(halfMs);
      await page.getByLabel('Sort by').selectOption('lowest_apr');
      await page.getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
      await page.clock.runFor(halfMs - 60_000);
      assert.equal(await expired(page).count(), 0);
      await page.clock.runFor(60_000);
      await expired(page).waitFor();
      await page.context().close();
    });
  });
