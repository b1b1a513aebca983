import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { startChromium } from '../support/chromium.ts';
import { onStage } from './on-stage.ts';
import { partnerPage } from './widget-stage.ts';

/** Adds up how far what is in sight was moved about, as browsers score it. */
const scoreShifts = `
  globalThis.shifted = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.shifted += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** Two frames, so that what was there before them has been painted and scored. */
const painted = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

onStage('a widget that loads', (stage) => {
  const offer = (page: Page) => page.locator('.card .go').first();

  /** How far a page is moved about from the first thing it shows on, when its script comes after everything else. */
  async function shiftedInAll(address: string, viewport: { width: number; height: number }): Promise<number> {
    const page = await (await stage().context({ viewport })).newPage();
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
    const shifted = await page.evaluate<number>('globalThis.shifted');
    await page.context().close();
    return shifted;
  }

  test('moves nothing from the first thing the page shows on, however late its script comes', async () => {
    const below = '<p>What stands below it.</p>'.repeat(20);
    for (const viewport of [
      { width: 375, height: 700 },
      { width: 1200, height: 800 },
    ]) {
      for (const [maxOffers, limit] of [
        [5, 0.01],
        // One alone needs so much more room on a phone that either there or on a desk something moves.
        [1, 0.05],
      ] as const) {
        const { html, src } = await stage().widget({ mode: 'live', allowed: true, maxOffers });
        const { origin } = new URL(src);
        const strict = `default-src 'none'; script-src ${origin}; connect-src ${origin}; img-src ${origin}`;
        for (const headers of [{}, { 'Content-Security-Policy': strict }]) {
          const address = stage().pages.add(partnerPage(html + below), headers);
          const shifted = await shiftedInAll(address, viewport);
          assert.ok(
            shifted < limit,
            `${shifted} at ${viewport.width} with ${maxOffers} and ${JSON.stringify(headers)}`,
          );
        }
      }
    }
  });

  test('moves nothing when offers take the place of what stood for them', async () => {
    for (const width of [280, 375, 680, 1200]) {
      const { html } = await stage().widget({ mode: 'live', allowed: true });
      const page = await (await stage().context({ viewport: { width, height: 3_000 } })).newPage();
      await page.addInitScript(scoreShifts);
      let answer: (() => Promise<void>) | undefined;
      await page.route('**/w/offers?*', (route) => {
        answer = () => route.continue();
      });
      const asked = page.waitForRequest(/\/w\/offers/);
      await page.goto(stage().page(`${html}<p style="height: 800px">What stands below it.</p>`));
      await asked;
      await page.locator('.coming').first().waitFor();
      await page.evaluate(painted);
      await page.evaluate('globalThis.shifted = 0');
      await answer?.();
      await offer(page).waitFor();
      await page.waitForLoadState('networkidle');
      await page.evaluate(painted);
      const shifted = await page.evaluate<number>('globalThis.shifted');
      assert.ok(shifted < 0.01, `${shifted} at ${width}`);
      await page.context().close();
    }
  });

  test('asks nobody but its own host, and keeps nothing on the page', async () => {
    const { html, src } = await stage().widget({ mode: 'live', allowed: true });
    const context = await stage().context();
    const page = await context.newPage();
    const hosts = new Set<string>();
    context.on('request', (request) => {
      if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).origin);
    });
    await page.goto(stage().page(html));
    await offer(page).waitFor();
    await page.getByText('How offers are chosen').click();
    await page.waitForRequest(/\/w\/events/);
    await page.waitForLoadState('networkidle');
    assert.deepEqual(hosts, new Set([stage().pages.origin, new URL(src).origin]));
    assert.deepEqual(await context.cookies(), []);
    assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0);
    await page.context().close();
  });

  test('asks for nothing on a page that is only being prepared', async () => {
    const { caller, tag, html } = await stage().widget();
    const page = await (await stage().context()).newPage();
    await page.addInitScript('Object.defineProperty(document, "prerendering", { configurable: true, value: true })');
    const script = page.waitForResponse(/widget\.js/);
    await page.goto(stage().page(html));
    await (await script).finished();
    await page.waitForLoadState('networkidle');
    assert.equal(await page.locator('.panel').count(), 0);
    await page.evaluate('document.dispatchEvent(new Event("prerenderingchange"))');
    await offer(page).waitFor();
    assert.equal((await caller.summary({ referrer_tag: tag })).marketplace_views, 1);
    await page.context().close();
  });

  test('is as it was, and no view more, when its page comes back from memory', async () => {
    const { caller, tag, html } = await stage().widget();
    const browser = await startChromium({ keepsPagesInMemory: true });
    try {
      const page = await browser.newPage();
      await page.addInitScript(
        'addEventListener("pageshow", ({ persisted }) => { globalThis.fromMemory = persisted; })',
      );
      await page.goto(stage().page(html));
      await offer(page).waitFor();
      await page.getByLabel('Sort by').selectOption('lowest_apr');
      await page.getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
      const before = await page.locator('.card .name').allTextContents();
      await page.goto(stage().page(''));
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
