import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { WidgetSuite } from '../widget-test-pages.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Folder of screenshots for manual review. */
const artefacts = fileURLToPath(new URL('../../../test-artefacts/widget/', import.meta.url));
const widths = [280, 1200];

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: unknown; readonly failureSummary: string }[];
}

export const accessibility: WidgetSuite = (pages) =>
  describe('accessibility of the widget', () => {
    /** Returns the violations that axe-core finds on the whole page, including the rule for target sizes (WCAG 2.2). */
    async function violations(page: Page): Promise<string[]> {
      const found = await page.evaluate<Violation[]>(
        `${axe}; axe.run(document, { rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations)`,
      );
      return found.map(
        ({ id, nodes }) =>
          `${id}: ${JSON.stringify(nodes.map(({ target, failureSummary }) => [target, failureSummary]))}`,
      );
    }

    async function assertAccessible(page: Page, state: string, schemes: readonly ('light' | 'dark')[] = ['light']) {
      mkdirSync(artefacts, { recursive: true });
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme });
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 });
          await page.screenshot({ path: `${artefacts}${state}-${colorScheme}-${width}.png`, fullPage: true });
          assert.deepEqual(await violations(page), [], `${state}, ${colorScheme}, ${width}`);
        }
      }
      await page.context().close();
    }

    test('offers have no violations, with all details open', async () => {
      const { html } = await pages().widget({ maxOffers: 3 });
      const page = await pages().open(html);
      await page.locator('.card .go').first().waitFor();
      for (const summary of await page.locator('summary').all()) await summary.click();
      await assertAccessible(page, 'offers', ['light', 'dark']);
    });

    test('placeholders of offers have no violations', async () => {
      const { html } = await pages().widget({ maxOffers: 3 });
      const page = await (await pages().context()).newPage();
      await page.route('**/w/offers?*', () => {});
      await page.goto(pages().page(html));
      await page.locator('.placeholder').first().waitFor();
      await assertAccessible(page, 'placeholders');
    });

    test('an error with a button has no violations', async () => {
      const { html } = await pages().widget();
      const page = await (await pages().context()).newPage();
      await page.route('**/w/offers?*', (route) => route.abort());
      await page.goto(pages().page(html));
      await page.locator('.message').waitFor();
      await assertAccessible(page, 'error');
    });

    test('the page of an iframe has no violations', async () => {
      const { caller, subId } = await pages().widget();
      const { src } = await caller.embed(subId, 'iframe', { max_offers: 3 });
      const page = await (await pages().context({ bypassCSP: true })).newPage();
      await page.goto(src);
      await page.locator('.card .go').first().waitFor();
      await assertAccessible(page, 'iframe');
    });

    test('all controls can be used by keyboard in reading order', async () => {
      const { html } = await pages().widget({ maxOffers: 2 });
      const page = await pages().open(html);
      await page.locator('.card .go').first().waitFor();
      const focused = () =>
        page.locator('.panel').evaluate((panel) => {
          const { tagName, className, textContent } = panel.getRootNode().activeElement;
          return tagName === 'A' ? `A ${className}` : tagName === 'SUMMARY' ? `SUMMARY ${textContent}` : tagName;
        });
      const path: string[] = [];
      for (let step = 0; step < 6; step++) {
        await page.keyboard.press('Tab');
        path.push(await focused());
      }
      const names = await page.locator('.card .name').allTextContents();
      assert.deepEqual(path, [
        'SELECT',
        'SUMMARY How offers are chosen',
        'A go',
        `SUMMARY Details of the offer from ${names[0]}`,
        'A go',
        `SUMMARY Details of the offer from ${names[1]}`,
      ]);
      await page.keyboard.press('Enter');
      await page.locator('.details-text').nth(1).waitFor();
      await page.context().close();
    });

    test('the widget respects reduced motion and forced colors', async () => {
      const { html } = await pages().widget({ maxOffers: 1 });
      const page = await (await pages().context({ reducedMotion: 'reduce', forcedColors: 'active' })).newPage();
      await page.route('**/w/offers?*', () => {});
      await page.goto(pages().page(html));
      await page.locator('.placeholder-part').first().waitFor({ state: 'attached' });
      assert.equal(await page.locator('.panel').evaluate((panel) => panel.getAnimations({ subtree: true }).length), 0);
      await page.unroute('**/w/offers?*');
      await page.reload();
      await page.locator('.card .go').waitFor();
      assert.equal(await page.locator('.stars').isVisible(), false);
      assert.match((await page.locator('.rating').textContent()) ?? '', /\d\.\d out of 5/);
      await page.screenshot({ path: `${artefacts}forced-colors.png` });
      await page.context().close();
    });
  });
