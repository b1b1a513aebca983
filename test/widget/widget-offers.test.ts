import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page, Route } from 'playwright-core';
import { bounds } from '../../src/bounds.ts';
import type { LoanOfferView } from '../../src/index.ts';
import { findAccessibilityViolations } from '../support/accessibility.ts';
import { WidgetCaller, widgetLoadId } from '../support/api-caller.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import {
  assertSortedByApr,
  changeOffers,
  collectErrors,
  countedEvents,
  countedViews,
  countOfferRequests,
  darkPageHead,
  eventually,
  hasFocus,
  messageTitle,
  offerCards,
  offerLink,
  offersAddress,
  sortByApr,
  type TestWidget,
  useWidgetTestPages,
} from './widget-test-pages.ts';

declare const getComputedStyle: (element: unknown) => { readonly backgroundColor: string; readonly color: string };

const dayMs = 86_400_000;
/** Backgrounds of the light and the dark widget. */
const [white, black] = ['rgb(255, 255, 255)', 'rgb(18, 23, 30)'];
const pages = useWidgetTestPages();

const backgroundOf = (page: Page) => page.locator('.panel').evaluate((node) => getComputedStyle(node).backgroundColor);
const buttonColor = (page: Page) => offerLink(page).evaluate((node) => getComputedStyle(node).backgroundColor);

describe('offers in the widget', () => {
  test('a card shows an offer with its payment, amount, term and APR range', async (t) => {
    const { page, subId, token } = await pages.openOffers(t, { maxOffers: 20 });
    const { offers } = await new WidgetCaller(pages.market.http, subId, token).offers(widgetLoadId(170), {
      max_offers: 20,
    });
    const cards = await offerCards(page).evaluateAll((nodes) =>
      nodes.map((card) => {
        const [heading, logo, link] = ['h3', '.logo img', 'a'].map((selector) => card.querySelector(selector));
        const attributes = (node: typeof card, ...names: string[]) => names.map((name) => node.getAttribute(name));
        return {
          name: heading.textContent as string,
          text: card.textContent as string,
          logo: attributes(logo, 'src', 'alt'),
          linkText: link.textContent as string,
          link: attributes(link, 'target', 'rel'),
          address: link.href as string,
        };
      }),
    );
    assert.equal(cards.length, offers.length);
    for (const [place, offer] of (offers as readonly LoanOfferView[]).entries()) {
      const { name, text, logo, linkText, link, address } = cards[place]!;
      const { lender_name: lender, apr_range: apr } = offer;
      const rates = `${apr.min.toFixed(2)}% to ${apr.max.toFixed(2)}%`;
      const payment = offer.monthly_payment_estimate.toFixed(2);
      const { payment_term_months: term } = offer as unknown as { payment_term_months: number };
      assert.equal(name, lender);
      assert.ok(text.includes(`$${payment}/month for $10,000 over ${term} months, APR from ${rates}`), text);
      assert.ok(text.includes(`${offer.svc_star_rating.toFixed(1)} out of 5`), text);
      assert.ok(text.includes(`$${offer.loan_amount_range.min.toLocaleString('en-US')}–`), text);
      assert.equal(text.includes('Checking your rate will not affect your credit score'), offer.prequalification);
      assert.deepEqual(logo, [offer.logo_url, `${lender} logo`]);
      assert.ok(linkText.endsWith(` at ${lender} (opens in a new tab)`), linkText);
      assert.deepEqual(link, ['_blank', 'noopener sponsored']);
      const { searchParams } = new URL(address);
      assert.deepEqual([searchParams.get('offer'), searchParams.get('sub')], [offer.svc_offer_id, subId]);
    }
    assert.equal(new Set(offers.map(({ prequalification }) => prequalification)).size, 2);
  });

  test('the widget shows the number of offers, and a disclosure text above the offers', async (t) => {
    const { page, caller, subId } = await pages.openOffers(
      t,
      { maxOffers: 3 },
      { viewport: { width: 375, height: 680 } },
    );
    const { total_offers: total, disclosure } = await caller.offers(subId);
    assert.equal(await page.locator('.count').textContent(), `3 of ${total} offers for $10,000`);
    const summary = page.getByText('How offers are chosen');
    const box = await summary.boundingBox();
    assert.ok(box !== null && box.y + box.height < 400, 'above the fold');
    await summary.click();
    const text = (await page.locator('.disclosure-text').textContent()) ?? '';
    const phrases = [
      'APR',
      'likely the lender is',
      'star rating',
      'What a lender pays us plays no part in it',
      disclosure,
    ];
    for (const phrase of phrases) assert.ok(text.includes(phrase), phrase);
  });

  test('a change of the sort order preserves the keyboard focus and is announced to screen readers', async (t) => {
    const { page } = await pages.openOffers(t);
    const order = page.getByLabel('Sort by');
    assert.deepEqual(await order.locator('option').allTextContents(), ['Recommended', 'Lowest APR', 'Highest amount']);
    await order.focus();
    await sortByApr(page);
    await assertSortedByApr(page);
    assert.equal(await hasFocus(order), true);
  });

  test('a button shows the other offers, keeps the focus in place and counts no second view', async (t) => {
    const { page, ...widget } = await pages.openOffers(t, { maxOffers: 3 });
    const { total_offers: total, offers } = await widget.caller.offers(widget.subId, { max_offers: 20 });
    const views = await countedViews(widget);
    const more = page.getByRole('button', { name: /^Show / });
    assert.equal(await more.textContent(), total > 20 ? `Show 20 of ${total} offers` : `Show all ${total} offers`);
    await more.focus();
    await page.keyboard.press('Enter');
    await eventually(() => offerCards(page).count(), offers.length);
    assert.equal(await hasFocus(page.locator('.card .go').nth(3)), true);
    assert.equal(await more.count(), 0);
    const count = total > offers.length ? `${offers.length} of ${total} offers` : `${total} offers`;
    assert.equal(await page.locator('.count').textContent(), `${count} for $10,000`);
    assert.match((await page.getByRole('status').textContent())!, new RegExp(`^${count}`));
    await sortByApr(page);
    assert.equal(await offerCards(page).count(), offers.length);
    await assertSortedByApr(page);
    assert.equal(await countedViews(widget), views);
    // The ledger has the added offers, so clicks on them count.
    const tab = page.context().waitForEvent('page');
    await page.locator('.card .go').last().click();
    await (await tab).waitForLoadState();
    await eventually(async () => (await widget.caller.summary({ referrer_tag: widget.tag })).offer_clicks, 1);
  });

  test('without further offers the widget has no such button, and a failed request for more offers keeps the shown ones', async (t) => {
    let total = 12;
    const change = (view: object) => Object.assign(view, { total_offers: total });
    const { page } = await pages.openOffers(t, { maxOffers: 2, change });
    const more = page.getByRole('button', { name: 'Show all 12 offers' });
    await page.route(offersAddress, (route) => route.abort());
    await more.click();
    await page.getByRole('alert').filter({ hasText: 'More offers could not be loaded' }).waitFor();
    assert.equal(await offerCards(page).count(), 2);
    assert.equal(await hasFocus(more), true);
    await page.unroute(offersAddress);
    total = 2;
    await changeOffers(page, change);
    await sortByApr(page);
    assert.equal(await offerCards(page).count(), 2);
    assert.equal(await page.getByRole('alert').filter({ hasText: 'offers' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: /^Show / }).count(), 0);
  });

  test('visitors can select the sort order “Sponsored first” if the page requests sort=svc_revenue', async (t) => {
    const { page } = await pages.openOffers(t, { sort: 'svc_revenue' });
    assert.equal(await page.getByLabel('Sort by').inputValue(), 'svc_revenue');
    assert.ok((await page.getByLabel('Sort by').locator('option').allTextContents()).includes('Sponsored first'));
    await page.getByText('How offers are chosen').click();
    const text = (await page.locator('.disclosure-text').textContent()) ?? '';
    assert.match(text, /“Sponsored first” goes by what we expect to be paid/);
  });

  test('if the visitor quickly selects two sort orders, the widget shows the offers in the order that was selected last', async (t) => {
    const { page } = await pages.openOffers(t);
    let sendDelayed: (() => Promise<void>) | undefined;
    await page.route('**/w/offers?*sort=lowest_apr*', (route) => {
      sendDelayed = () => route.continue();
    });
    const order = page.getByLabel('Sort by');
    const status = page.getByRole('status').filter({ hasText: 'Highest amount' });
    const requested = page.waitForRequest(/sort=lowest_apr/);
    await order.selectOption('lowest_apr');
    await requested;
    await order.selectOption('highest_amount');
    await status.waitFor();
    await sendDelayed?.().catch(() => {});
    assert.equal(await status.count(), 1);
    assert.equal(await order.inputValue(), 'highest_amount');
  });

  test('URLs that are not http or https are removed, and markup in a response is shown as text', async (t) => {
    const lender_name = '<img src=x onerror="document.title=1">';
    const { page } = await pages.openOffers(t, {
      maxOffers: 3,
      change: ({ offers }) => {
        Object.assign(offers[0], { click_url: 'javascript:document.title="followed"' });
        Object.assign(offers[1], { logo_url: 'data:image/svg+xml,<svg/>', lender_name });
      },
    });
    const card = offerCards(page).first();
    assert.equal(await page.locator('.card').count(), 2);
    assert.equal(await card.getByRole('heading').textContent(), lender_name);
    assert.equal(await card.locator('img').count(), 0);
    assert.equal(await page.locator('a[href^="javascript"]').count(), 0);
  });

  test('data-theme selects a light or dark widget, and auto follows the background behind the container', async (t) => {
    const { html } = await pages.widget();
    for (const [theme, inLight, inDark, head = '', around = ''] of [
      ['light', white, white, darkPageHead],
      ['dark', black, black],
      ['auto', white, white],
      ['auto', white, black, darkPageHead],
      ['auto', white, black, '<meta name="Color-Scheme" content="dark light">'],
      ['auto', black, black, '<meta name="color-scheme" content="dark">'],
      ['auto', white, white, '<meta name="color-scheme" content="light">'],
      ['auto', black, black, '<style>:root { color-scheme: only dark }</style>'],
      ['auto', white, white, `${darkPageHead}<style>:root { color-scheme: light } body { background: #fff }</style>`],
      ['auto', white, white, `${darkPageHead}<style>body { background: #fff }</style>`],
      ['auto', white, white, '<style>body { background: transparent }</style>'],
      ['auto', black, black, '<style>body { background: #101418; color: #eee }</style>'],
      ['auto', black, black, '<style>html { background: oklch(0.2 0.02 250) }</style>'],
      ['auto', black, black, '<style>main { background: #101418 }</style>'],
      ['auto', black, black, '', 'background: color-mix(in srgb, black, transparent 10%)'],
      ['auto', white, white, '', 'background: rgb(0 0 0 / 0.1)'],
      ['auto', white, white, '<style>body { background: #101418 }</style>', 'background: #fff'],
      ['auto', white, white, '<style>body { background: #101418 }</style>', 'background: rgb(255 255 255 / 0.9)'],
      ['auto', black, black, '', 'background: linear-gradient(#111, #222); color: #fff'],
      ['auto', white, white, '', 'background: linear-gradient(#fff, #eee)'],
    ] as const) {
      const code = html.replace('data-sub', `data-theme="${theme}" data-sub`);
      const page = await pages.open(t, around === '' ? code : `<section style="${around}">${code}</section>`, {}, head);
      await offerLink(page).waitFor();
      const colors: string[] = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        colors.push(await backgroundOf(page));
      }
      assert.deepEqual(colors, [inLight, inDark], `${theme} ${head} ${around}`);
      await page.close();
    }
  });

  test('with data-theme="auto", a container in a shadow tree has the theme of the page around it', async (t) => {
    const { html } = await pages.widget();
    const page = await pages.open(t, `<article style="background: #101418"><div id="outer"></div></article>${html}`);
    await offerLink(page).waitFor();
    assert.equal(await backgroundOf(page), white);
    // The page moves the container, and inserts it again, so a new widget starts.
    await page.evaluate(`{
      const container = document.querySelector('[id^=svc-offers]');
      container.remove();
      setTimeout(() => document.querySelector('#outer').attachShadow({ mode: 'open' }).append(container));
    }`);
    await eventually(() => backgroundOf(page), black);
  });

  test('the theme of an iframe is light unless its URL has another theme, and its accent comes from its URL', async (t) => {
    const { caller, subId } = await pages.widget();
    const { src } = await caller.getEmbedCode(subId, 'iframe', { max_offers: 2 });
    const page = await pages.newPage(t);
    const errors = collectErrors(page);
    const hint = ['Offers widget: the accent must be a color such as #0a7d5f.'];
    for (const [query, inLight, inDark, accent, hints] of [
      ['', white, white, 'rgb(10, 91, 181)', []],
      ['&theme=light', white, white, 'rgb(10, 91, 181)', []],
      ['&theme=dark&accent=0a7d5f', black, black, 'rgb(10, 125, 95)', []],
      ['&theme=auto&accent=%23FC0', white, black, 'rgb(255, 204, 0)', []],
      ['&theme=pink', white, white, 'rgb(10, 91, 181)', []],
      ['&theme=%22%3E%3Cscript%3Ealert(1)%3C/script%3E', white, white, 'rgb(10, 91, 181)', []],
      ['&accent=%22%20onload=alert(1)', white, white, 'rgb(10, 91, 181)', hint],
      ['&accent=red;}*{display:none}', white, white, 'rgb(10, 91, 181)', hint],
    ] as const) {
      errors.length = 0;
      await page.emulateMedia({ colorScheme: 'light' });
      const response = await page.goto(src + query);
      await offerLink(page).waitFor();
      assert.equal(await buttonColor(page), accent, query);
      const colors: string[] = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        colors.push(await backgroundOf(page));
      }
      assert.deepEqual(colors, [inLight, inDark], query);
      const own = errors.filter((text) => text.startsWith('Offers widget:'));
      assert.deepEqual(own, hints, query);
      assert.doesNotMatch(await response!.text(), /alert|display:none|pink/);
    }
  });

  test('data-accent colors buttons and links, and an invalid value is reported and has no effect', async (t) => {
    const { html } = await pages.widget({ maxOffers: 2 });
    const page = await pages.newPage(t);
    const errors = collectErrors(page);
    for (const [accent, button, text, link, complaints] of [
      ['#0a7d5f', 'rgb(10, 125, 95)', white, 'rgb(10, 125, 95)', 0],
      ['B00', 'rgb(187, 0, 0)', white, 'rgb(187, 0, 0)', 0],
      // A darker yellow has the contrast of a link.
      ['#ffd400', 'rgb(255, 212, 0)', 'rgb(0, 0, 0)', 'rgb(128, 106, 0)', 0],
      ['red', 'rgb(10, 91, 181)', white, 'rgb(10, 91, 181)', 1],
      ['', 'rgb(10, 91, 181)', white, 'rgb(10, 91, 181)', 1],
      ['#fff; } .panel { display: none', 'rgb(10, 91, 181)', white, 'rgb(10, 91, 181)', 1],
      ['url(https://evil.example/x)', 'rgb(10, 91, 181)', white, 'rgb(10, 91, 181)', 1],
    ] as const) {
      errors.length = 0;
      await page.goto(pages.url(html.replace('data-sub', `data-accent="${accent}" data-sub`)));
      await offerLink(page).waitFor();
      assert.equal(await buttonColor(page), button, accent);
      assert.equal(await offerLink(page).evaluate((node) => getComputedStyle(node).color), text, accent);
      const color = await page
        .locator('summary')
        .first()
        .evaluate((node) => getComputedStyle(node).color);
      assert.equal(color, link, accent);
      assert.equal(errors.length, complaints, errors.join());
      assert.ok(errors.every((text) => text.includes('the accent must be')));
    }
  });

  test('a logo that fails to load is replaced with the initial of the lender', async (t) => {
    const { page, url } = await pages.prepare(t);
    await page.route('**/cdn/**', (route) => route.abort());
    await page.goto(url);
    await offerCards(page).first().locator('.logo').getByText('S', { exact: true }).waitFor();
  });
});

describe('a widget that cannot show offers', () => {
  const retryButton = (page: Page) => page.getByRole('button', { name: /^Try again/ });

  test('the widget tells the borrower what to do if no offer matches', async (t) => {
    const { html } = await pages.widget({ mode: 'live', allowed: true, fields: fixture.unmatched });
    const page = await pages.open(t, html);
    await messageTitle(page, 'No offers match right now').waitFor();
    assert.match((await page.locator('.message').textContent()) ?? '', /smaller amount/);
    assert.match((await page.getByRole('status').textContent()) ?? '', /^No offers match right now/);
    assert.equal(await page.getByLabel('Sort by').isVisible(), false);
    assert.equal(await retryButton(page).count(), 0);
  });

  test('shows a message if the session is expired when the page opens or when the sort order changes', async (t) => {
    const { html } = await pages.widget();
    const early = await pages.open(t, html);
    await offerLink(early).waitFor();
    pages.market.clock.advance(bounds.sessionTtlMs);
    await early.getByLabel('Sort by').selectOption('lowest_apr');
    const late = await pages.open(t, html);
    for (const page of [early, late]) {
      await messageTitle(page, 'These offers have expired').waitFor();
      assert.equal(await page.locator('.card').count(), 0);
      assert.equal(await retryButton(page).count(), 0);
    }
  });

  test('logs an error if the origin of the page is not allowed, or if the widget token was issued for another session', async (t) => {
    const [live, one, other] = [await pages.widget({ mode: 'live' }), await pages.widget(), await pages.widget()];
    const { origin } = pages.partner;
    for (const [html, hint] of [
      [live.html, `${origin} is not allowed to embed it; ask the operator to add it to the embedding origins`],
      [one.html.replace(one.token, other.token), 'data-token was not issued'],
    ] as const) {
      const page = await pages.newPage(t);
      const errors = collectErrors(page);
      await page.goto(pages.url(html));
      await messageTitle(page, 'Offers cannot be shown here').waitFor();
      const own = errors.filter((text) => text.startsWith('Offers widget:'));
      assert.ok(own.length === 1 && own[0]!.includes(hint), own.join('\n'));
    }
  });

  test('if session fields are missing, the widget sends an error event; once the fields are submitted, a retry shows offers', async (t) => {
    const widget = await pages.widget();
    await widget.caller.submitFields(widget.subId, { [fixture.amount]: null });
    const page = await pages.open(t, widget.html);
    await messageTitle(page, 'A few answers are missing').waitFor();
    await eventually(() => countedEvents(widget), { widget_loaded: 1, widget_error: 1 });
    await widget.caller.submitFields(widget.subId, { [fixture.amount]: 12_000 });
    await retryButton(page).focus();
    await page.keyboard.press('Enter');
    await offerLink(page).waitFor();
    // The focused button was removed, so the focus moved to the title.
    assert.equal(await hasFocus(page.locator('.title')), true);
  });

  test('retries after a rate limit error, and shows an error message if the retry fails', async (t) => {
    const { subId, token, html } = await pages.widget();
    const widget = new WidgetCaller(pages.market.http, subId, token);
    for (let load = 1; load <= bounds.widgetRequestsPerMinute; load++) {
      await widget.get('/offers', { load: widgetLoadId(load) });
    }
    const page = await pages.newPage(t);
    const requests = countOfferRequests(page);
    await page.goto(pages.url(html));
    await messageTitle(page, 'Many people are asking right now').waitFor();
    assert.equal(requests.count, 3);
    pages.market.clock.advance(60_000);
    await retryButton(page).click();
    await offerLink(page).waitFor();
  });

  test('shows a countdown before a retry if Retry-After is long', async (t) => {
    const { page, url } = await pages.prepare(t);
    await page.clock.install();
    let requests = 0;
    const busy = {
      status: 503,
      headers: {
        'Retry-After': '30',
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': 'Retry-After',
      },
      json: { error: 'SERVICE_UNAVAILABLE', message: 'busy' },
    };
    await page.route(offersAddress, (route) => (++requests > 1 ? route.continue() : route.fulfill(busy)));
    await page.goto(url);
    await messageTitle(page, 'Many people are asking right now').waitFor();
    assert.equal(await retryButton(page).isDisabled(), true);
    assert.match((await retryButton(page).textContent()) ?? '', /in \d+ s$/);
    await page.clock.runFor(31_000);
    assert.equal(requests, 1);
    assert.equal(await retryButton(page).isEnabled(), true);
    await retryButton(page).click();
    await offerLink(page).waitFor();
  });

  test('a request for offers times out after 10 seconds', async (t) => {
    const { page, url } = await pages.prepare(t);
    await page.clock.install();
    await page.route(offersAddress, () => {});
    const requested = page.waitForRequest(/\/w\/offers/);
    await page.goto(url);
    await requested;
    assert.equal(await page.locator('.placeholder').count(), 5);
    await page.clock.runFor(10_000);
    await messageTitle(page, 'Offers could not be loaded').waitFor();
    await page.unroute(offersAddress);
    await retryButton(page).click();
    await offerLink(page).waitFor();
  });

  test('the widget retries when the network connection is restored, and counts one view', async (t) => {
    const widget = await pages.widget();
    const page = await pages.newPage(t);
    await page.route(offersAddress, (route) => route.abort());
    await page.goto(pages.url(widget.html));
    await messageTitle(page, 'Offers could not be loaded').waitFor();
    await page.unroute(offersAddress);
    // The browser dispatches the event `online` only on machines with a network.
    await page.evaluate('dispatchEvent(new Event("online"))');
    await offerLink(page).waitFor();
    assert.equal(await countedViews(widget), 1);
  });

  test('the widget still shows its offers if a change of the sort order fails', async (t) => {
    const { page } = await pages.openOffers(t);
    const before = await page.locator('.card .name').allTextContents();
    await page.route(offersAddress, (route) => route.abort());
    await page.getByLabel('Sort by').selectOption('highest_amount');
    await page.getByRole('alert').filter({ hasText: 'The order could not be changed' }).waitFor();
    assert.deepEqual(await page.locator('.card .name').allTextContents(), before);
    assert.equal(await page.getByLabel('Sort by').inputValue(), 'recommended');
    await page.unroute(offersAddress);
    await sortByApr(page);
    assert.equal(await page.getByRole('alert').filter({ hasText: 'order' }).count(), 0);
  });
});

describe('expiry of offers on an open page', () => {
  const expired = (page: Page) => messageTitle(page, 'These offers have expired');

  /** Opens a page with offers. The test controls the clock of the page. */
  async function openPage(t: TestContext, { html }: TestWidget, time?: string): Promise<Page> {
    const page = await pages.newPage(t);
    await page.clock.install(time === undefined ? {} : { time });
    await page.goto(pages.url(html));
    await offerLink(page).waitFor();
    return page;
  }

  test('offers expire with the session, even if the clock of the visitor’s device is wrong', async (t) => {
    for (const time of ['2001-01-01', '2049-12-31']) {
      const widget = await pages.widget();
      const page = await openPage(t, widget, time);
      const consoleLines: string[] = [];
      page.on('console', (message) => consoleLines.push(message.text()));
      await page.clock.runFor(bounds.sessionTtlMs - 60_000);
      assert.equal(await expired(page).count(), 0, time);
      await offerLink(page).focus();
      await page.clock.runFor(60_000);
      await expired(page).waitFor();
      assert.equal(await page.locator('.card').count(), 0);
      assert.match((await page.getByRole('status').textContent()) ?? '', /^These offers have expired/);
      // The focused link was removed. Expiry is not an integration error, so the widget logs nothing.
      assert.equal(await hasFocus(page.locator('.title')), true);
      assert.deepEqual(consoleLines, []);
      assert.equal(await countedViews(widget), 1);
    }
  });

  test('offers are checked for expiry when the visitor returns to the page, even if timers did not run', async (t) => {
    for (const comingBack of [
      'document.dispatchEvent(new Event("visibilitychange"))',
      'dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))',
    ]) {
      const page = await openPage(t, await pages.widget());
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
    }
  });

  test('offers that are valid for 40 days expire on time, although setTimeout supports at most 25 days', async (t) => {
    const { page, url } = await pages.prepare(t);
    await page.clock.install();
    await changeOffers(page, (view) => {
      view.expires_at = new Date(Date.parse(view.generated_at) + 40 * dayMs).toISOString();
    });
    await page.goto(url);
    await offerLink(page).waitFor();
    await page.clock.runFor(39 * dayMs);
    assert.equal(await expired(page).count(), 0);
    await page.clock.runFor(dayMs);
    await expired(page).waitFor();
  });

  test('offers expire with their session, even if the widget loaded the offers again during the session', async (t) => {
    const page = await openPage(t, await pages.widget());
    const halfMs = bounds.sessionTtlMs / 2;
    await page.clock.runFor(halfMs);
    pages.market.clock.advance(halfMs);
    await sortByApr(page);
    await page.clock.runFor(halfMs - 60_000);
    assert.equal(await expired(page).count(), 0);
    await page.clock.runFor(60_000);
    await expired(page).waitFor();
  });
});

describe('accessibility of the widget', () => {
  /** Folder of screenshots for manual review. */
  const artefacts = fileURLToPath(new URL('../../test-artefacts/widget/', import.meta.url));

  async function assertAccessible(page: Page, state: string, width = 280, colorScheme: 'light' | 'dark' = 'light') {
    mkdirSync(artefacts, { recursive: true });
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${artefacts}${state}-${colorScheme}-${width}.png`, fullPage: true });
    assert.deepEqual(await findAccessibilityViolations(page, [colorScheme]), [], `${state}, ${width}`);
  }

  test('the widget has no accessibility violations while it shows offers with expanded details', async (t) => {
    const { page } = await pages.openOffers(t, { maxOffers: 3, head: darkPageHead });
    for (const summary of await page.locator('summary').all()) await summary.click();
    await assertAccessible(page, 'offers', 280);
    await assertAccessible(page, 'offers', 1200);
    await assertAccessible(page, 'offers', 1200, 'dark');
    assert.equal(await backgroundOf(page), black);
  });

  test('accents of all kinds cause no accessibility violations on light and dark pages', async (t) => {
    const { html, caller, subId } = await pages.widget({ maxOffers: 3 });
    const { src } = await caller.getEmbedCode(subId, 'iframe', { max_offers: 3 });
    for (const accent of ['ffffff', '000000', 'ffcc00', '777777', '0a7d5f', 'ff0055']) {
      const code = html.replace('data-sub', `data-accent="#${accent}" data-sub`);
      const framed = await pages.newPage(t);
      await framed.goto(`${src}&theme=auto&accent=${accent}`);
      for (const page of [await pages.open(t, code, {}, darkPageHead), framed]) {
        await offerLink(page).waitFor();
        for (const colorScheme of ['light', 'dark'] as const) {
          await assertAccessible(page, `accent-${accent}-${page === framed ? 'iframe' : 'js'}`, 760, colorScheme);
        }
        assert.equal(await backgroundOf(page), black);
        await page.close();
      }
    }
  });

  for (const [state, selector, handleRequest] of [
    ['placeholders', '.placeholder', () => {}],
    ['error', '.message', (route: Route) => route.abort()],
  ] as const) {
    test(`the widget has no accessibility violations in the state ${state}`, async (t) => {
      const { page, url } = await pages.prepare(t, { maxOffers: 3 });
      await page.route(offersAddress, handleRequest);
      await page.goto(url);
      await page.locator(selector).first().waitFor();
      await assertAccessible(page, state);
    });
  }

  test('the iframe page has no accessibility violations', async (t) => {
    const { caller, subId } = await pages.widget();
    const { src } = await caller.getEmbedCode(subId, 'iframe', { max_offers: 3 });
    const page = await pages.newPage(t);
    await page.goto(src);
    await offerLink(page).waitFor();
    await assertAccessible(page, 'iframe');
  });

  test('all controls of the widget can be used by keyboard in reading order', async (t) => {
    const { page, caller, subId } = await pages.openOffers(t, { maxOffers: 2 });
    const { total_offers: total } = await caller.offers(subId);
    assert.ok(total > 2);
    const focused = () =>
      page.locator('.panel').evaluate((panel) => {
        const { tagName, className, textContent } = panel.getRootNode().activeElement;
        return tagName === 'A' ? `A ${className}` : tagName === 'SUMMARY' ? `SUMMARY ${textContent}` : tagName;
      });
    const path: string[] = [];
    for (let step = 0; step < 7; step++) {
      await page.keyboard.press('Tab');
      path.push(await focused());
    }
    const names = await page.locator('.card .name').allTextContents();
    const controls = names.flatMap((name) => ['A go', `SUMMARY Details of the offer from ${name}`]);
    assert.deepEqual(path, ['SELECT', 'SUMMARY How offers are chosen', ...controls, 'BUTTON']);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.locator('.details-text').nth(1).waitFor();
  });

  test('the widget respects the reduced-motion and forced-colors settings', async (t) => {
    const { page, url } = await pages.prepare(t, { maxOffers: 1 }, { reducedMotion: 'reduce', forcedColors: 'active' });
    await page.route(offersAddress, () => {});
    await page.goto(url);
    await page.locator('.placeholder-part').first().waitFor({ state: 'attached' });
    assert.equal(await page.locator('.panel').evaluate((panel) => panel.getAnimations({ subtree: true }).length), 0);
    await page.unroute(offersAddress);
    await page.reload();
    await offerLink(page).waitFor();
    assert.equal(await page.locator('.stars').isVisible(), false);
    assert.match((await page.locator('.rating').textContent()) ?? '', /\d\.\d out of 5/);
    await page.screenshot({ path: `${artefacts}forced-colors.png` });
  });
});
