import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FrameLocator, Page, Request } from 'playwright-core';
import { startChromium } from '../support/chromium.ts';
import { checkAgainstDocuments } from '../support/document-check.ts';
import {
  assertSortedByApr,
  collectErrors,
  countedViews,
  countOfferRequests,
  eventually,
  iframeHeightScript,
  offerCards,
  offerLink,
  partnerPage,
  sortByApr,
  useWidgetTestPages,
} from './widget-test-pages.ts';

declare const getComputedStyle: (element: unknown) => Readonly<Record<string, string>>;

const pages = useWidgetTestPages();

describe('a widget in an iframe', () => {
  test('an iframe on a page of an origin that is not allowed shows a sentence, also to live keys without origins', async (t) => {
    for (const allowed of ['https://www.example.com', false]) {
      const widget = await pages.widget({ mode: 'live', allowed });
      const { html, src } = await widget.caller.getEmbedCode(widget.subId, 'iframe');
      const page = await pages.newPage(t);
      const response = page.waitForResponse(src);
      await page.goto(pages.url(html));
      assert.equal((await response).status(), 403);
      await page.frameLocator('iframe').getByRole('heading', { name: 'Offers cannot be shown on this page' }).waitFor();
      assert.equal(await countedViews(widget), 0);
    }
  });

  test('the browser blocks an iframe on a page without referrer if the account does not allow the origin', async (t) => {
    const widget = await pages.widget({ mode: 'live', allowed: 'https://www.example.com' });
    const { html, src } = await widget.caller.getEmbedCode(widget.subId, 'iframe');
    const page = await pages.newPage(t);
    const errors = collectErrors(page);
    let requests = 0;
    page.on('request', (request) => {
      if (/\/w\/(widget\.js|offers|events)/.test(request.url())) requests++;
    });
    const response = page.waitForResponse(src);
    await page.goto(pages.partner.add(partnerPage(html), { 'Referrer-Policy': 'no-referrer' }));
    assert.equal((await response).status(), 200);
    await page.waitForLoadState('networkidle');
    const [, frame] = page.frames();
    assert.equal(frame?.url(), 'chrome-error://chromewebdata/');
    assert.equal(requests, 0);
    assert.equal(errors.length, 1, errors.join('\n'));
    assert.match(errors[0]!, /frame-ancestors/);
    assert.equal(await countedViews(widget), 0);
  });

  test('a widget fills its iframe, can be sorted and counts one view', async (t) => {
    const widget = await pages.widget({ mode: 'live', allowed: true });
    const { html } = await widget.caller.getEmbedCode(widget.subId, 'iframe');
    const page = await pages.newPage(t, { viewport: { width: 800, height: 900 } });
    await page.goto(pages.url(html));
    const frame = page.frameLocator('iframe');
    await offerLink(frame).waitFor();
    assert.equal(await frame.getByRole('heading', { level: 1 }).textContent(), 'Your loan offers');
    assert.ok((await frame.getByRole('heading', { level: 2 }).count()) > 1);
    const panel = await frame.locator('.panel').evaluate((node) => {
      const { left, top, width } = node.getBoundingClientRect();
      return [left, top, width - node.ownerDocument.documentElement.clientWidth];
    });
    assert.deepEqual(panel, [0, 0, 0]);
    await sortByApr(frame);
    await assertSortedByApr(frame);
    assert.equal(await countedViews(widget), 1);
  });

  test('an iframe adapts its height to the offers if the page includes the script of docs/widget.md', async (t) => {
    const { caller, subId } = await pages.widget({ mode: 'live', allowed: true });
    const { html } = await caller.getEmbedCode(subId, 'iframe');
    const page = await pages.open(t, html, { viewport: { width: 800, height: 600 } }, iframeHeightScript());
    const frame = page.frameLocator('iframe');
    const outerHeight = (): Promise<number> => page.locator('iframe').evaluate(({ clientHeight }) => clientHeight);
    /** Whether the iframe is as tall as its content, and whether the iframe has a scroll bar. */
    const fits = async () => [
      (await outerHeight()) ===
        (await frame.locator('.frame').evaluate((all) => Math.ceil(all.getBoundingClientRect().height))),
      await frame.locator('html').evaluate((root) => root.scrollHeight > root.clientHeight),
    ];
    await offerLink(frame).waitFor();
    await eventually(fits, [true, false]);
    const before = await outerHeight();
    // The iframe grows when details are opened, and shrinks again.
    await frame.locator('.card').first().getByText('Details').click();
    await eventually(async () => [...(await fits()), (await outerHeight()) > before], [true, false, true]);
    await frame.locator('.card').first().getByText('Details').click();
    await eventually(async () => [...(await fits()), await outerHeight()], [true, false, before]);
    // A message from another source, such as the page itself, changes nothing.
    await page.evaluate(`postMessage({ type: 'svc-offers-height', height: 7 }, '*')`);
    assert.deepEqual(await fits(), [true, false]);
  });
});

describe('a widget on a partner’s page', () => {
  /** Styles of a page that would break a widget without style isolation. */
  const hostileStyle = `<style>
html { font-size: 60px !important; line-height: 9 }
body { color: red; font: 900 40px/3 cursive; text-align: right; text-transform: uppercase; letter-spacing: 9px; direction: rtl }
#around > * > * { all: unset !important; display: none !important; position: fixed !important; opacity: 0 !important }
#around > * div, #around > * section, #around > * ol, #around > * li { font-size: 60px !important; color: red !important; width: 10px !important }
a, button, select, h2, h3, details, summary { display: none !important; transform: rotate(20deg) !important }
* { box-sizing: content-box !important; animation: none !important; --accent: red !important; --ink: red !important }
</style>`;

  /** Returns position and computed style of every element in the first card. */
  const appearance = (page: Page) =>
    offerCards(page)
      .first()
      .evaluate((card) => {
        const host = card.getBoundingClientRect();
        const names = ['fontSize', 'fontFamily', 'color', 'backgroundColor', 'textTransform', 'opacity', 'direction'];
        return [card, ...card.querySelectorAll('*')].map((node) => {
          const { left, top, width, height } = node.getBoundingClientRect();
          const style = getComputedStyle(node);
          const values = names.map((name) => style[name]);
          return [node.className, left - host.left, top - host.top, width, height, ...values];
        });
      });

  test('conflicting styles of the page do not change the appearance of a widget', async (t) => {
    const { html } = await pages.widget({ maxOffers: 2 });
    const around = `<div id="around">${html}</div>`;
    const plain = await pages.open(t, around);
    const hostile = await pages.open(t, around, {}, hostileStyle);
    for (const page of [plain, hostile]) await offerCards(page).first().waitFor();
    assert.deepEqual(await appearance(hostile), await appearance(plain));
  });

  test('a widget does not change the styles of the page', async (t) => {
    const { html } = await pages.widget();
    const around = `<div class="card" style="width: 300px"><h3 class="name">Ours</h3><a class="go" href="#">Go</a></div>`;
    const ownStyles = (page: Page) =>
      page
        .locator('main > .card')
        .evaluate((node) => [node, ...node.children].map((part) => [part.offsetHeight, getComputedStyle(part).color]));
    const alone = await pages.open(t, around);
    const beside = await pages.open(t, around + html);
    await offerCards(beside).last().waitFor();
    assert.deepEqual(await ownStyles(beside), await ownStyles(alone));
  });

  test('a widget works on a page whose strict CSP allows only the widget host', async (t) => {
    const { html, src } = await pages.widget();
    const { origin } = new URL(src);
    const policy = `default-src 'none'; script-src ${origin}; connect-src ${origin}; img-src ${origin}; require-trusted-types-for 'script'`;
    const page = await pages.newPage(t);
    const errors = collectErrors(page);
    const body = `<!doctype html><html lang="en"><title>Strict</title><main>${html}</main></html>`;
    await page.goto(pages.partner.add(body, { 'Content-Security-Policy': policy }));
    await offerCards(page).first().waitFor();
    await sortByApr(page);
    const style = await offerCards(page)
      .first()
      .evaluate((card) => [getComputedStyle(card).display, getComputedStyle(card).borderTopLeftRadius]);
    assert.deepEqual(style, ['grid', '12px']);
    assert.deepEqual(errors, []);
  });

  test('two widgets on a page count as two widget loads', async (t) => {
    const widget = await pages.widget({ maxOffers: 2 });
    const second = widget.html.replaceAll(/svc-offers-[0-9a-f]+/g, 'second-container');
    const page = await pages.open(t, widget.html + second);
    await page.locator('#second-container .card .go').first().waitFor();
    await page.locator('[id^=svc-offers] .card .go').first().waitFor();
    assert.equal(await page.getByText('How offers are chosen').count(), 2);
    await sortByApr(page.locator('#second-container'));
    assert.equal(await page.locator('[id^=svc-offers]').getByLabel('Sort by').inputValue(), 'recommended');
    assert.equal(await countedViews(widget), 2);
  });

  test('the script mounts a widget in any container, even if the container comes after the script in the HTML', async (t) => {
    const { html } = await pages.widget();
    const script = html
      .slice(html.indexOf('<script'))
      .replace('async ', '')
      .replace(/data-mount="[^"]+"/, 'data-mount="section.offers"');
    const page = await pages.open(t, '<section class="offers">Loading</section>', {}, script);
    await page.locator('section.offers .card .go').first().waitFor();
    assert.equal(await page.getByText('Loading', { exact: true }).count(), 0);
  });

  test('a widget logs how to fix a missing container or attribute, and throws no exception', async (t) => {
    const { html } = await pages.widget();
    const page = await pages.newPage(t);
    const errors = collectErrors(page);
    for (const [wrong, hint] of [
      [html.replace(/<div.*<\/div>/, ''), /data-mount="#offers"/],
      [html.replace(/data-mount="[^"]+"/, 'data-mount="..."'), /data-mount="#offers"/],
      [html.replace(/data-mount="[^"]+"/, ''), /data-sub, data-token and data-mount/],
      [html.replace('<script async', '<script type="module"'), /classic/],
    ] as const) {
      errors.length = 0;
      await page.goto(pages.url(wrong));
      assert.equal(errors.length, 1, wrong);
      assert.match(errors[0]!, hint);
    }
  });

  test('a widget fits widths from 280 to 1200 pixels and a shrink-to-fit container', async (t) => {
    const { page, html } = await pages.openOffers(t);
    for (const width of [280, 320, 375, 414, 560, 680, 768, 900, 1024, 1200]) {
      await page.setViewportSize({ width, height: 700 });
      for (const part of ['.panel', 'html']) {
        const excess = await page.locator(part).evaluate((node) => node.scrollWidth - node.clientWidth);
        assert.equal(excess, 0, `${part} at ${width}`);
      }
    }
    const shrunk = await pages.open(t, `<div style="display: flex">${html}</div>`);
    await offerCards(shrunk).first().waitFor();
    assert.ok(((await shrunk.locator('.panel').boundingBox())?.width ?? 0) >= 280);
  });
});

describe('requests of a widget in a browser', () => {
  /** Checks a request and its response against the OpenAPI document. Returns method, path and status. */
  async function checkExchange(request: Request): Promise<string> {
    const response = (await request.response())!;
    const { pathname, search } = new URL(request.url());
    const method = request.method();
    const status = response.status();
    const body = request.postData();
    checkAgainstDocuments(
      { method, path: pathname + search, headers: await request.allHeaders(), ...(body !== null && { body }) },
      {
        status,
        headers: new Map(Object.entries(await response.allHeaders())),
        text: status === 200 ? await response.text() : '',
      },
    );
    return `${method} ${pathname} ${status}`;
  }

  for (const format of ['js', 'iframe'] as const) {
    test(`a widget with format=${format} sends only documented requests, and stores no data in the browser`, async (t) => {
      const { caller, tag, subId } = await pages.widget({ mode: 'test', allowed: true });
      const { html } = await caller.getEmbedCode(subId, format);
      const page = await pages.newPage(t, { viewport: { width: 800, height: 2_000 } });
      const { origin } = new URL(pages.market.marketplace.urls.widget);
      const exchanges: Promise<string>[] = [];
      const origins = new Set<string>();
      const onRequest = (request: Request) => {
        const url = new URL(request.url());
        if (url.protocol !== 'data:') origins.add(url.origin);
        if (url.origin === origin) exchanges.push(checkExchange(request));
      };
      page.context().on('requestfinished', onRequest);
      await page.goto(pages.url(html));
      const widget: Page | FrameLocator = format === 'js' ? page : page.frameLocator('iframe');
      await offerLink(widget).waitFor();
      await sortByApr(widget);
      await offerCards(widget).first().getByText('Details').click();
      const tab = page.context().waitForEvent('page');
      await offerLink(widget).click();
      await (await tab).getByRole('heading', { name: 'Sandbox landing page' }).waitFor();
      const wanted = [
        'GET /w/offers 200',
        'GET /w/widget.js 200',
        'POST /w/events 204',
        'GET /c 302',
        'GET /c/sandbox 200',
      ];
      if (format === 'iframe') wanted.push('GET /w 200');
      await eventually(async () => {
        const seen = new Set(await Promise.all(exchanges));
        return wanted.filter((exchange) => !seen.has(exchange));
      }, []);
      page.context().off('requestfinished', onRequest);
      await Promise.all(exchanges);
      assert.deepEqual(origins, new Set([pages.partner.origin, origin]));
      assert.deepEqual(await page.context().cookies(), []);
      assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0);
      const { offer_clicks: clicks, marketplace_views: views } = await caller.summary({ referrer_tag: tag });
      assert.deepEqual([clicks, views], [1, 1]);
    });
  }
});

describe('a widget while its page, script or offers are loading', () => {
  /** Computes the sum of the browser's layout shift scores. */
  const scoreShifts = `
    globalThis.totalShift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) globalThis.totalShift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
  `;
  /** Waits for two frames, so that the browser has painted and scored earlier changes. */
  const painted = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
  const below = '<p>Content below the widget.</p>'.repeat(20);

  /**
   * Returns the layout shift score of a page from the delayed response to the last offers.
   *
   * @param delayed the request whose response arrives after the page was painted
   * @param waitFor selector of an element that the page shows before the delayed response
   */
  async function shiftAfter(page: Page, address: string, delayed: RegExp, waitFor: string): Promise<number> {
    await page.addInitScript(scoreShifts);
    let respond: (() => Promise<void>) | undefined;
    await page.route(delayed, (route) => {
      respond = () => route.continue();
    });
    const requested = page.waitForRequest(delayed);
    await page.goto(address, { waitUntil: 'commit' });
    await requested;
    await page.locator(waitFor).first().waitFor();
    await page.evaluate(painted);
    await page.evaluate('globalThis.totalShift = 0');
    await respond?.();
    await offerLink(page).waitFor();
    await page.waitForLoadState('networkidle');
    await page.evaluate(painted);
    return page.evaluate<number>('globalThis.totalShift');
  }

  test('a widget does not shift the layout if its script loads late', async (t) => {
    for (const [width, maxOffers, isStrict, limit] of [
      [375, 5, true, 0.01],
      // A single offer is much taller on a phone than on a desktop, so the layout shifts slightly.
      [1200, 1, false, 0.05],
    ] as const) {
      const { html, src } = await pages.widget({ mode: 'live', allowed: true, maxOffers });
      const { origin } = new URL(src);
      const policy = `default-src 'none'; script-src ${origin}; connect-src ${origin}; img-src ${origin}`;
      const headers = isStrict ? { 'Content-Security-Policy': policy } : {};
      const page = await pages.newPage(t, { viewport: { width, height: 700 } });
      const address = pages.partner.add(partnerPage(html + below), headers);
      const shift = await shiftAfter(page, address, /widget\.js\?/, 'p');
      assert.ok(shift < limit, `${shift} at ${width} with ${maxOffers}`);
    }
  });

  test('a widget does not shift the layout when offers replace the placeholders', async (t) => {
    for (const width of [280, 1200]) {
      const { html } = await pages.widget({ mode: 'live', allowed: true });
      const page = await pages.newPage(t, { viewport: { width, height: 3_000 } });
      const shift = await shiftAfter(page, pages.url(html + below), /\/w\/offers\?/, '.placeholder');
      assert.ok(shift < 0.01, `${shift} at ${width}`);
    }
  });

  test('a widget sends no request while its page is prerendered', async (t) => {
    const widget = await pages.widget();
    const page = await pages.newPage(t);
    await page.addInitScript('Object.defineProperty(document, "prerendering", { configurable: true, value: true })');
    const script = page.waitForResponse(/widget\.js/);
    await page.goto(pages.url(widget.html));
    await (await script).finished();
    await page.waitForLoadState('networkidle');
    assert.equal(await page.locator('.panel').count(), 0);
    await page.evaluate('document.dispatchEvent(new Event("prerenderingchange"))');
    await offerLink(page).waitFor();
    assert.equal(await countedViews(widget), 1);
  });

  test('a widget remains unchanged and counts no second view when its page is restored from the back-forward cache', async () => {
    const widget = await pages.widget();
    const browser = await startChromium({ keepsPagesInMemory: true });
    try {
      const page = await browser.newPage();
      await page.addInitScript(
        'addEventListener("pageshow", ({ persisted }) => { globalThis.fromMemory = persisted; })',
      );
      await page.goto(pages.url(widget.html));
      await offerLink(page).waitFor();
      await sortByApr(page);
      const before = await page.locator('.card .name').allTextContents();
      await page.goto(pages.url(''));
      const requests = countOfferRequests(page);
      await page.goBack({ waitUntil: 'commit' });
      await offerLink(page).waitFor();
      assert.equal(await page.evaluate('globalThis.fromMemory'), true);
      assert.deepEqual(await page.locator('.card .name').allTextContents(), before);
      assert.equal(await page.getByLabel('Sort by').inputValue(), 'lowest_apr');
      assert.equal(requests.count, 0);
      assert.equal(await countedViews(widget), 1);
    } finally {
      await browser.close();
    }
  });
});
