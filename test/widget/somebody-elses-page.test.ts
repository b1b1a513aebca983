import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { onStage } from './on-stage.ts';

declare const getComputedStyle: (element: unknown) => Readonly<Record<string, string>>;

/** What stylesheets of real pages do to elements they never heard of, and worse. */
const hostileStyle = `
html { font-size: 60px !important; line-height: 9 }
body { color: red; font: 900 40px/3 cursive; text-align: right; text-transform: uppercase; letter-spacing: 9px; direction: rtl }
#stage > * > * { all: unset !important; display: none !important; position: fixed !important; opacity: 0 !important }
#stage > * div, #stage > * section, #stage > * ol, #stage > * li { font-size: 60px !important; color: red !important; width: 10px !important }
a, button, select, h2, h3, details, summary { display: none !important; transform: rotate(20deg) !important }
* { box-sizing: content-box !important; animation: none !important; --accent: red !important; --ink: red !important }
`;

onStage("a widget on somebody else's page", (stage) => {
  const cards = (page: Page) => page.locator('.card:not(.coming)');
  const inStage = (html: string) => `<div id="stage">${html}</div>`;

  /** Where everything of the first card is, and how it looks. */
  const looks = (page: Page) =>
    cards(page)
      .first()
      .evaluate((card) => {
        const host = card.getBoundingClientRect();
        return [card, ...card.querySelectorAll('*')].map((node) => {
          const { left, top, width, height } = node.getBoundingClientRect();
          const style = getComputedStyle(node);
          const look = ['fontSize', 'fontFamily', 'color', 'backgroundColor', 'textTransform', 'opacity', 'direction'];
          return [node.className, left - host.left, top - host.top, width, height, ...look.map((name) => style[name])];
        });
      });

  /** Errors the page has seen: thrown, told by the console, or by its policy. */
  function troubles(page: Page): string[] {
    const seen: string[] = [];
    page.on('pageerror', (fault) => seen.push(String(fault)));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') seen.push(message.text());
    });
    return seen;
  }

  test('looks the same whatever the page says of every element', async () => {
    const { html } = await stage().widget({ maxOffers: 2 });
    const plain = await stage().open(inStage(html));
    const hostile = await stage().open(inStage(html), {}, `<style>${hostileStyle}</style>`);
    for (const page of [plain, hostile]) await cards(page).first().waitFor();
    assert.deepEqual(await looks(hostile), await looks(plain));
    for (const page of [plain, hostile]) await page.context().close();
  });

  test('changes nothing of the page around it', async () => {
    const { html } = await stage().widget();
    const around = `<div class="card" style="width: 300px"><h3 class="name">Ours</h3><a class="go" href="#">Go</a></div>`;
    const look = (page: Page) =>
      page
        .locator('main > .card')
        .evaluate((node) => [node, ...node.children].map((part) => [part.offsetHeight, getComputedStyle(part).color]));
    const alone = await stage().open(around);
    const beside = await stage().open(around + html);
    await cards(beside).last().waitFor();
    assert.deepEqual(await look(beside), await look(alone));
    for (const page of [alone, beside]) await page.context().close();
  });

  test('needs of a strict policy no more than its own host', async () => {
    const { html, src } = await stage().widget();
    const { origin } = new URL(src);
    const policy = `default-src 'none'; script-src ${origin}; connect-src ${origin}; img-src ${origin}; require-trusted-types-for 'script'`;
    const page = await (await stage().context()).newPage();
    const seen = troubles(page);
    const body = `<!doctype html><html lang="en"><title>Strict</title><main>${html}</main></html>`;
    await page.goto(stage().pages.add(body, { 'Content-Security-Policy': policy }));
    await cards(page).first().waitFor();
    await page.getByLabel('Sort by').selectOption('lowest_apr');
    await page.getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
    const style = await cards(page)
      .first()
      .evaluate((card) => [getComputedStyle(card).display, getComputedStyle(card).borderTopLeftRadius]);
    assert.deepEqual(style, ['grid', '12px']);
    assert.deepEqual(seen, []);
    await page.context().close();
  });

  test('stands twice on one page, each a load of its own', async () => {
    const { caller, tag, html } = await stage().widget({ maxOffers: 2 });
    const page = await stage().open(html + html.replaceAll(/svc-offers-[0-9a-f]+/g, 'another-place'));
    await page.locator('#another-place .card .go').first().waitFor();
    await page.locator('[id^=svc-offers] .card .go').first().waitFor();
    assert.equal(await page.getByText('How offers are chosen').count(), 2);
    await page.locator('#another-place').getByLabel('Sort by').selectOption('lowest_apr');
    await page.locator('#another-place').getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
    assert.equal(await page.locator('[id^=svc-offers]').getByLabel('Sort by').inputValue(), 'recommended');
    assert.equal((await caller.summary({ referrer_tag: tag })).marketplace_views, 2);
    await page.context().close();
  });

  test('mounts in any container, also one that comes behind its script', async () => {
    const { html } = await stage().widget();
    const script = html
      .slice(html.indexOf('<script'))
      .replace('async ', '')
      .replace(/data-mount="[^"]+"/, 'data-mount="section.offers"');
    const page = await stage().open('<section class="offers">Loading</section>', {}, script);
    await page.locator('section.offers .card .go').first().waitFor();
    assert.equal(await page.getByText('Loading', { exact: true }).count(), 0);
    await page.context().close();
  });

  test('says what to write where its container or an attribute is missing, and throws nothing', async () => {
    const { html } = await stage().widget();
    for (const [wrong, named] of [
      [html.replace(/<div.*<\/div>/, ''), /data-mount="#offers"/],
      [html.replace(/data-mount="[^"]+"/, 'data-mount="..."'), /data-mount="#offers"/],
      [html.replace(/data-mount="[^"]+"/, ''), /data-sub, data-token and data-mount/],
      [html.replace('<script async', '<script type="module"'), /classic/],
    ] as const) {
      const page = await (await stage().context()).newPage();
      const seen = troubles(page);
      await page.goto(stage().page(wrong));
      await page.waitForLoadState('load');
      assert.equal(seen.length, 1, wrong);
      assert.match(seen[0]!, named);
      await page.context().close();
    }
  });

  test('fits from 280 to 1200 pixels, and in a container that is as wide as its contents', async () => {
    const { html } = await stage().widget();
    const page = await stage().open(html, { viewport: { width: 280, height: 700 } });
    await cards(page).first().waitFor();
    for (const width of [280, 320, 375, 414, 560, 680, 768, 900, 1024, 1200]) {
      await page.setViewportSize({ width, height: 700 });
      const beyond = await page.locator('.panel').evaluate((panel) => panel.scrollWidth - panel.clientWidth);
      assert.equal(beyond, 0, `${width}`);
      assert.equal(await page.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth), 0, `${width}`);
    }
    await page.context().close();
    const shrunk = await stage().open(`<div style="display: flex">${html}</div>`, {
      viewport: { width: 900, height: 700 },
    });
    await cards(shrunk).first().waitFor();
    assert.ok(((await shrunk.locator('.panel').boundingBox())?.width ?? 0) >= 280);
    await shrunk.context().close();
  });
});
