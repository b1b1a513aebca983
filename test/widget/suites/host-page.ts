import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { WidgetSuite } from '../widget-test-pages.ts';

declare const getComputedStyle: (element: unknown) => Readonly<Record<string, string>>;

/** Styles of a page that would break a widget without style isolation. */
const hostileStyle = `
html { font-size: 60px !important; line-height: 9 }
body { color: red; font: 900 40px/3 cursive; text-align: right; text-transform: uppercase; letter-spacing: 9px; direction: rtl }
#stage > * > * { all: unset !important; display: none !important; position: fixed !important; opacity: 0 !important }
#stage > * div, #stage > * section, #stage > * ol, #stage > * li { font-size: 60px !important; color: red !important; width: 10px !important }
a, button, select, h2, h3, details, summary { display: none !important; transform: rotate(20deg) !important }
* { box-sizing: content-box !important; animation: none !important; --accent: red !important; --ink: red !important }
`;

export const hostPage: WidgetSuite = (pages) =>
  describe('a widget on a partner’s page', () => {
    const cards = (page: Page) => page.locator('.card:not(.placeholder)');
    const inStage = (html: string) => `<div id="stage">${html}</div>`;

    /** Returns position and computed style of every element in the first card. */
    const looks = (page: Page) =>
      cards(page)
        .first()
        .evaluate((card) => {
          const host = card.getBoundingClientRect();
          return [card, ...card.querySelectorAll('*')].map((node) => {
            const { left, top, width, height } = node.getBoundingClientRect();
            const style = getComputedStyle(node);
            const look = [
              'fontSize',
              'fontFamily',
              'color',
              'backgroundColor',
              'textTransform',
              'opacity',
              'direction',
            ];
            return [
              node.className,
              left - host.left,
              top - host.top,
              width,
              height,
              ...look.map((name) => style[name]),
            ];
          });
        });

    /** Collects exceptions, console errors and console warnings, including CSP violations. */
    function collectErrors(page: Page): string[] {
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
      });
      return errors;
    }

    test('a widget looks the same under hostile page styles', async () => {
      const { html } = await pages().widget({ maxOffers: 2 });
      const plain = await pages().open(inStage(html));
      const hostile = await pages().open(inStage(html), {}, `<style>${hostileStyle}</style>`);
      for (const page of [plain, hostile]) await cards(page).first().waitFor();
      assert.deepEqual(await looks(hostile), await looks(plain));
      for (const page of [plain, hostile]) await page.context().close();
    });

    test('a widget does not change the styles of the page', async () => {
      const { html } = await pages().widget();
      const around = `<div class="card" style="width: 300px"><h3 class="name">Ours</h3><a class="go" href="#">Go</a></div>`;
      const look = (page: Page) =>
        page
          .locator('main > .card')
          .evaluate((node) =>
            [node, ...node.children].map((part) => [part.offsetHeight, getComputedStyle(part).color]),
          );
      const alone = await pages().open(around);
      const beside = await pages().open(around + html);
      await cards(beside).last().waitFor();
      assert.deepEqual(await look(beside), await look(alone));
      for (const page of [alone, beside]) await page.context().close();
    });

    test('a widget works under a strict CSP that allows only its own host', async () => {
      const { html, src } = await pages().widget();
      const { origin } = new URL(src);
      const policy = `default-src 'none'; script-src ${origin}; connect-src ${origin}; img-src ${origin}; require-trusted-types-for 'script'`;
      const page = await (await pages().context()).newPage();
      const errors = collectErrors(page);
      const body = `<!doctype html><html lang="en"><title>Strict</title><main>${html}</main></html>`;
      await page.goto(pages().pages.add(body, { 'Content-Security-Policy': policy }));
      await cards(page).first().waitFor();
      await page.getByLabel('Sort by').selectOption('lowest_apr');
      await page.getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
      const style = await cards(page)
        .first()
        .evaluate((card) => [getComputedStyle(card).display, getComputedStyle(card).borderTopLeftRadius]);
      assert.deepEqual(style, ['grid', '12px']);
      assert.deepEqual(errors, []);
      await page.context().close();
    });

    test('two widgets on a page count as two widget loads', async () => {
      const { caller, tag, html } = await pages().widget({ maxOffers: 2 });
      const page = await pages().open(html + html.replaceAll(/svc-offers-[0-9a-f]+/g, 'another-place'));
      await page.locator('#another-place .card .go').first().waitFor();
      await page.locator('[id^=svc-offers] .card .go').first().waitFor();
      assert.equal(await page.getByText('How offers are chosen').count(), 2);
      await page.locator('#another-place').getByLabel('Sort by').selectOption('lowest_apr');
      await page.locator('#another-place').getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
      assert.equal(await page.locator('[id^=svc-offers]').getByLabel('Sort by').inputValue(), 'recommended');
      assert.equal((await caller.summary({ referrer_tag: tag })).marketplace_views, 2);
      await page.context().close();
    });

    test('a widget mounts in any container, also in a container after its script', async () => {
      const { html } = await pages().widget();
      const script = html
        .slice(html.indexOf('<script'))
        .replace('async ', '')
        .replace(/data-mount="[^"]+"/, 'data-mount="section.offers"');
      const page = await pages().open('<section class="offers">Loading</section>', {}, script);
      await page.locator('section.offers .card .go').first().waitFor();
      assert.equal(await page.getByText('Loading', { exact: true }).count(), 0);
      await page.context().close();
    });

    test('a widget logs how to fix a missing container or attribute, and throws no exception', async () => {
      const { html } = await pages().widget();
      for (const [wrong, named] of [
        [html.replace(/<div.*<\/div>/, ''), /data-mount="#offers"/],
        [html.replace(/data-mount="[^"]+"/, 'data-mount="..."'), /data-mount="#offers"/],
        [html.replace(/data-mount="[^"]+"/, ''), /data-sub, data-token and data-mount/],
        [html.replace('<script async', '<script type="module"'), /classic/],
      ] as const) {
        const page = await (await pages().context()).newPage();
        const errors = collectErrors(page);
        await page.goto(pages().page(wrong));
        await page.waitForLoadState('load');
        assert.equal(errors.length, 1, wrong);
        assert.match(errors[0]!, named);
        await page.context().close();
      }
    });

    test('a widget fits widths from 280 to 1200 pixels and a shrink-to-fit container', async () => {
      const { html } = await pages().widget();
      const page = await pages().open(html, { viewport: { width: 280, height: 700 } });
      await cards(page).first().waitFor();
      for (const width of [280, 320, 375, 414, 560, 680, 768, 900, 1024, 1200]) {
        await page.setViewportSize({ width, height: 700 });
        const beyond = await page.locator('.panel').evaluate((panel) => panel.scrollWidth - panel.clientWidth);
        assert.equal(beyond, 0, `${width}`);
        assert.equal(await page.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth), 0, `${width}`);
      }
      await page.context().close();
      const shrunk = await pages().open(`<div style="display: flex">${html}</div>`, {
        viewport: { width: 900, height: 700 },
      });
      await cards(shrunk).first().waitFor();
      assert.ok(((await shrunk.locator('.panel').boundingBox())?.width ?? 0) >= 280);
      await shrunk.context().close();
    });
  });
