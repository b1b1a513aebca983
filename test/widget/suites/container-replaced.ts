import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../eventually.ts';
import type { WidgetSuite } from '../widget-test-pages.ts';

declare const document: {
  querySelector(selector: string): { dataset: Record<string, string> } | null;
};

export const containerReplaced: WidgetSuite = (pages) =>
  describe('a second widget in the same container', () => {
    /** Adds the script element a second time, as single-page applications do. */
    const runAgain = `
    const script = document.querySelector('script[data-sub]');
    const again = document.createElement('script');
    for (const { name, value } of script.attributes) again.setAttribute(name, value);
    document.body.append(again);
  `;
    const firstOffer = (page: Page) => page.locator('[id^=svc-offers] > div:not([data-old]) .card .go').first();

    async function replaceWidget(page: Page): Promise<void> {
      await page.evaluate(() => {
        document.querySelector('[id^=svc-offers] > div')!.dataset.old = '';
      });
      await page.evaluate(runAgain);
      await firstOffer(page).waitFor();
    }

    /** Returns the names of the events for which document or window have listeners. */
    async function listeners(page: Page): Promise<string[]> {
      const session = await page.context().newCDPSession(page);
      const found: string[] = [];
      for (const expression of ['document', 'window']) {
        const { result } = await session.send('Runtime.evaluate', { expression });
        const { listeners: here } = await session.send('DOMDebugger.getEventListeners', { objectId: result.objectId! });
        found.push(...here.map(({ type }) => `${expression} ${type}`));
      }
      await session.detach();
      return found.sort();
    }

    test('removes all event listeners of the first widget', async () => {
      const { html } = await pages().widget();
      const page = await pages().open(html);
      await firstOffer(page).waitFor();
      const before = await listeners(page);
      assert.ok(before.includes('document visibilitychange') && before.includes('window pagehide'), before.join());
      for (let time = 1; time <= 3; time++) await replaceWidget(page);
      assert.deepEqual(await listeners(page), before);
      await page.context().close();
    });

    test('sends the pending events of the first widget before its own first request', async () => {
      const { caller, tag, html } = await pages().widget();
      const page = await (await pages().context()).newPage();
      await page.clock.install();
      // A widget sends nothing by itself while the clock is stopped.
      await page.clock.pauseAt(Date.now() + 3_600_000);
      const asked: string[] = [];
      page.on('request', (request) => {
        const { pathname, searchParams } = new URL(request.url());
        if (pathname === '/w/offers') asked.push(`offers ${searchParams.get('load')}`);
        if (pathname === '/w/events') {
          const { load, events } = JSON.parse(request.postData() ?? '');
          asked.push(`events ${load} ${events.map(({ type }: { type: string }) => type).join(' ')}`);
        }
      });
      await page.goto(pages().page(html));
      await firstOffer(page).waitFor();
      await replaceWidget(page);
      const loads = asked.flatMap((line) => /^offers (.+)$/.exec(line)?.[1] ?? []);
      const [first, second] = loads;
      assert.ok(loads.length === 2 && first !== second, asked.join('\n'));
      const inOrder = [`offers ${first}`, `events ${first} widget_loaded offers_rendered`, `offers ${second}`];
      assert.deepEqual(asked, inOrder);
      await page.goto('about:blank');
      await eventually(async () => {
        const { marketplace_views: views, widget_events: events } = await caller.summary({ referrer_tag: tag });
        return [views, events.widget_loaded, events.offers_rendered];
      }, [2, 2, 2]);
      await page.context().close();
    });

    test('cancels the pending request of the first widget', async () => {
      const { html } = await pages().widget();
      const page = await (await pages().context()).newPage();
      // The request does not time out while the clock is stopped.
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + 3_600_000);
      let asked = 0;
      await page.route('**/w/offers?*', (route) => {
        if (++asked > 1) void route.continue();
      });
      const given = page.waitForEvent('requestfailed', (request) => request.url().includes('/w/offers'));
      await page.goto(pages().page(html));
      await page.locator('.placeholder').first().waitFor();
      await replaceWidget(page);
      await given;
      assert.equal(asked, 2);
      await page.context().close();
    });
  });
