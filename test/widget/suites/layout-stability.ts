import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startChromium } from '../../support/chromium.ts';
import type { WidgetSuite } from '../widget-test-pages.ts';
import { partnerPage } from '../widget-test-pages.ts';

/** Computes the sum of the browser's layout shift scores. */
const scoreShifts = `
  globalThis.totalShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.totalShift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** Waits for two frames, so that the browser has painted and scored earlier changes. */
const painted = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

export const layoutStability: WidgetSuite = (pages) =>
  describe('a loading widget', () => {
    const offer = (page: Page) => page.locator('.card .go').first();

    /** Returns the total layout shift score of a page whose widget script loads last. */
    async function totalShift(address: string, viewport: { width: number; height: number }): Promise<number> {
      const page = await (await pages().context({ viewport })).newPage();
      await page.addInitScript(scoreShifts);
      let come: (() => Promise<void>) | undefined;
      await page.route('**/w/widget.js?*', (route) => {
        come = () => route.continue();
      });
      const asked = page.waitForRequest(/widget\.js/);
      await page.goto(address, { waitUntil: 'commit' });
      await asked;
      await page.getByText('What stands below it.').first().waitFor();
      await page.evaluate(painted);
      await come?.();
      await offer(page).waitFor();
      await page.waitForLoadState('networkidle');
      await page.evaluate(painted);
      const shift = await page.evaluate<number>('globalThis.totalShift');
      await page.context().close();
      return shift;
    }

    test('does not shift the layout if its script loads late', async () => {
      const below = '<p>What stands below it.</p>'.repeat(20);
      for (const viewport of [
        { width: 375, height: 700 },
        { width: 1200, height: 800 },
      ]) {
        for (const [maxOffers, limit] of [
          [5, 0.01],
          // A single offer is much higher on a phone than on a desktop, so the layout shifts slightly on one of them.
          [1, 0.05],
        ] as const) {
          const { html, src } = await pages().widget({ mode: 'live', allowed: true, maxOffers });
          const { origin } = new URL(src);
          const strict = `default-src 'none'; script-src ${origin}; connect-src ${origin}; img-src ${origin}`;
          for (const headers of maxOffers === 1 ? [{}] : [{ 'Content-Security-Policy': strict }]) {
            const address = pages().pages.add(partnerPage(html + below), headers);
            const shift = await totalShift(address, viewport);
            assert.ok(shift < limit, `${shift} at ${viewport.width} with ${maxOffers} and ${JSON.stringify(headers)}`);
          }
        }
      }
    });

    test('does not shift the layout when offers replace the placeholders', async () => {
      for (const width of [280, 1200]) {
        const { html } = await pages().widget({ mode: 'live', allowed: true });
        const page = await (await pages().context({ viewport: { width, height: 3_000 } })).newPage();
        await page.addInitScript(scoreShifts);
        let answer: (() => Promise<void>) | undefined;
        await page.route('**/w/offers?*', (route) => {
          answer = () => route.continue();
        });
        const asked = page.waitForRequest(/\/w\/offers/);
        await page.goto(pages().page(`${html}<p style="height: 800px">What stands below it.</p>`));
        await asked;
        await page.locator('.placeholder').first().waitFor();
        await page.evaluate(painted);
        await page.evaluate('globalThis.totalShift = 0');
        await answer?.();
        await offer(page).waitFor();
        await page.waitForLoadState('networkidle');
        await page.evaluate(painted);
        const shift = await page.evaluate<number>('globalThis.totalShift');
        assert.ok(shift < 0.01, `${shift} at ${width}`);
        await page.context().close();
      }
    });

    test('sends requests only to its own host, and stores no data in the browser', async () => {
      const { html, src } = await pages().widget({ mode: 'live', allowed: true });
      const context = await pages().context();
      const page = await context.newPage();
      const hosts = new Set<string>();
      context.on('request', (request) => {
        if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).origin);
      });
      await page.goto(pages().page(html));
      await offer(page).waitFor();
      await page.getByText('How offers are chosen').click();
      await page.waitForRequest(/\/w\/events/);
      await page.waitForLoadState('networkidle');
      assert.deepEqual(hosts, new Set([pages().pages.origin, new URL(src).origin]));
      assert.deepEqual(await context.cookies(), []);
      assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0);
      await page.context().close();
    });

    test('sends no request while its page is prerendered', async () => {
      const { caller, tag, html } = await pages().widget();
      const page = await (await pages().context()).newPage();
      await page.addInitScript('Object.defineProperty(document, "prerendering", { configurable: true, value: true })');
      const script = page.waitForResponse(/widget\.js/);
      await page.goto(pages().page(html));
      await (await script).finished();
      await page.waitForLoadState('networkidle');
      assert.equal(await page.locator('.panel').count(), 0);
      await page.evaluate('document.dispatchEvent(new Event("prerenderingchange"))');
      await offer(page).waitFor();
      assert.equal((await caller.summary({ referrer_tag: tag })).marketplace_views, 1);
      await page.context().close();
    });

    test('does not change or count a view when its page is restored from the back-forward cache', async () => {
      const { caller, tag, html } = await pages().widget();
      const browser = await startChromium({ keepsPagesInMemory: true });
      try {
        const page = await browser.newPage();
        await page.addInitScript(
          'addEventListener("pageshow", ({ persisted }) => { globalThis.fromMemory = persisted; })',
        );
        await page.goto(pages().page(html));
        await offer(page).waitFor();
        await page.getByLabel('Sort by').selectOption('lowest_apr');
        await page.getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
        const before = await page.locator('.card .name').allTextContents();
        await page.goto(pages().page(''));
        let asked = 0;
        page.on('request', (request) => {
          if (request.url().includes('/w/offers')) asked++;
        });
        await page.goBack({ waitUntil: 'commit' });
        await offer(page).waitFor();
        assert.equal(await page.evaluate('globalThis.fromMemory'), true);
        assert.deepEqual(await page.locator('.card .name').allTextContents(), before);
        assert.equal(await page.getByLabel('Sort by').inputValue(), 'lowest_apr');
        assert.equal(asked, 0);
        assert.equal((await caller.summary({ referrer_tag: tag })).marketplace_views, 1);
      } finally {
        await browser.close();
      }
    });
  });
