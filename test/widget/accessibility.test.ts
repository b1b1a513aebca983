import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { bounds } from '../../src/bounds.ts';
import { personalLoansFixture as fixture } from '../support/personal-loans-fixture.ts';
import { onStage } from './on-stage.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** For people to look at. */
const artefacts = fileURLToPath(new URL('../../test-artefacts/widget/', import.meta.url));
const widths = [280, 680, 1200];
const schemes = ['light', 'dark'] as const;

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: unknown; readonly failureSummary: string }[];
}

onStage('accessibility of the widget', (stage) => {
  /** What axe-core finds wrong on the whole page, the rule for the size of targets (WCAG 2.2) included. */
  async function violations(page: Page): Promise<string[]> {
    const found = await page.evaluate<Violation[]>(
      `${axe}; axe.run(document, { rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations)`,
    );
    return found.map(
      ({ id, nodes }) =>
        `${id}: ${JSON.stringify(nodes.map(({ target, failureSummary }) => [target, failureSummary]))}`,
    );
  }

  async function assertAccessible(page: Page, state: string): Promise<void> {
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

  test('offers, with all that can be opened open', async () => {
    const { html } = await stage().widget({ maxOffers: 3 });
    const page = await stage().open(html);
    await page.locator('.card .go').first().waitFor();
    for (const summary of await page.locator('summary').all()) await summary.click();
    await assertAccessible(page, 'offers');
  });

  test('offers of the live catalog', async () => {
    const { html } = await stage().widget({ mode: 'live', allowed: true, maxOffers: 8 });
    const page = await stage().open(html);
    await page.locator('.card .go').first().waitFor();
    await page.waitForLoadState('networkidle');
    await assertAccessible(page, 'live');
  });

  test('offers to come', async () => {
    const { html } = await stage().widget({ maxOffers: 3 });
    const page = await (await stage().context()).newPage();
    await page.route('**/w/offers?*', () => {});
    await page.goto(stage().page(html));
    await page.locator('.coming').first().waitFor();
    await assertAccessible(page, 'coming');
  });

  test('no offers', async () => {
    const { html } = await stage().widget({ mode: 'live', allowed: true, fields: fixture.unmatched });
    const page = await stage().open(html);
    await page.locator('.message').waitFor();
    await assertAccessible(page, 'empty');
  });

  test('an error', async () => {
    const { html } = await stage().widget();
    const page = await (await stage().context()).newPage();
    await page.route('**/w/offers?*', (route) => route.abort());
    await page.goto(stage().page(html));
    await page.locator('.message').waitFor();
    await assertAccessible(page, 'error');
  });

  test('a session that is over', async () => {
    const { html } = await stage().widget();
    stage().market.clock.advance(bounds.sessionTtlMs);
    const page = await stage().open(html);
    await page.locator('.message').waitFor();
    await assertAccessible(page, 'expired');
  });

  test('the page of an iframe', async () => {
    const { caller, subId } = await stage().widget();
    const { src } = await caller.embed(subId, 'iframe', { max_offers: 3 });
    const page = await (await stage().context({ bypassCSP: true })).newPage();
    await page.goto(src);
    await page.locator('.card .go').first().waitFor();
    await assertAccessible(page, 'iframe');
  });

  test('everything can be reached and used by keyboard, in the order in which it is read', async () => {
    const { html } = await stage().widget({ maxOffers: 2 });
    const page = await stage().open(html);
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

  test('nothing moves by itself for whoever wants it so, and colours may be the reader’s own', async () => {
    const { html } = await stage().widget({ maxOffers: 1 });
    const page = await (await stage().context({ reducedMotion: 'reduce', forcedColors: 'active' })).newPage();
    await page.route('**/w/offers?*', () => {});
    await page.goto(stage().page(html));
    await page.locator('.bone').first().waitFor({ state: 'attached' });
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
