import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, FrameLocator, Locator, Page } from 'playwright-core';
import type { ApiKeyMode, Vertical } from '../../src/index.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { startChromium } from '../support/chromium.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace, type StartOptions } from '../support/running-marketplace.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

interface WidgetOptions {
  /** Vertical of the session. Default: personal loans. */
  readonly vertical?: Vertical;
  /** Mode of the session. Any page can embed sandbox sessions; only allowed origins can embed live sessions. */
  readonly mode?: ApiKeyMode;
  /** Whether the account allows the origin of the partner's pages, or another origin that it allows. */
  readonly allowed?: boolean | string;
  readonly fields?: Fields;
  readonly maxOffers?: number;
  readonly sort?: string;
  /** Elements for the head of the partner's page. */
  readonly head?: string;
  /** Changes the response with the offers before the page receives it. */
  readonly change?: ChangeOffers;
}

/** Makes a page dark for visitors who prefer dark pages. The widget follows such a page. */
export const darkPageHead = '<meta name="color-scheme" content="light dark">';

/** A session with its embed code. */
export interface TestWidget {
  readonly caller: ApiCaller;
  readonly tag: string;
  readonly subId: string;
  readonly token: string;
  /** The embed code of format=js. */
  readonly html: string;
  readonly src: string;
}

export function partnerPage(widgets: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A partner's page</title>
<link rel="icon" href="data:,">
<style>body { margin: 0; font-family: Georgia, serif }</style>
${head}
</head>
<body>
<main>
<h1>Compare loans</h1>
${widgets}
</main>
</body>
</html>`;
}

/** Starts a server for the pages of a partner, with another origin than the service. Tests add the pages. */
async function startPartnerPages() {
  const pages = new Map<string, { readonly html: string; readonly headers: Readonly<Record<string, string>> }>();
  const server = createServer((request, response) => {
    const page = pages.get(request.url ?? '');
    const headers = { 'Content-Type': 'text/html; charset=utf-8', ...page?.headers };
    response.writeHead(page === undefined ? 404 : 200, headers).end(page?.html);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // The host differs from 127.0.0.1, the host of the service.
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    /** Adds a page. Returns its URL. */
    add(html: string, headers: Readonly<Record<string, string>> = {}): string {
      const path = `/${pages.size + 1}`;
      pages.set(path, { html, headers });
      return origin + path;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

/** The service, a server for the pages of a partner, and a browser. Available only while a test runs. */
class WidgetTestPages {
  market!: RunningMarketplace;
  partner!: Awaited<ReturnType<typeof startPartnerPages>>;
  #browser!: Browser;
  #sessions = 0;

  async start(options: StartOptions): Promise<void> {
    this.#browser = await startChromium();
    this.market = await RunningMarketplace.start('uws', options);
    this.partner = await startPartnerPages();
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.partner.close();
    await this.market.close();
  }

  async widget(options: WidgetOptions = {}): Promise<TestWidget> {
    const { mode = 'test', allowed = false, maxOffers = 5, sort = 'recommended' } = options;
    const { vertical = fixture.vertical, fields = fixture.complete } = options;
    const tag = `widget-${++this.#sessions}`;
    const account = `partner ${this.#sessions}`;
    const caller = this.market.caller({ vertical }, { account, mode });
    if (allowed !== false) {
      this.market.marketplace.origins.allow(account, allowed === true ? this.partner.origin : allowed);
    }
    const subId = await caller.createSessionWithFields(tag, fields);
    const { token, html, src } = await caller.getEmbedCode(subId, 'js', { max_offers: maxOffers, sort });
    return { caller, tag, subId, token, html, src };
  }

  /** Creates an empty page. Its user agent lacks `Headless`, because the service would detect clicks of a bot. */
  async newPage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
    const [major] = this.#browser.version().split('.');
    const userAgent = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
    const context = await this.#browser.newContext({ userAgent, ...options });
    runAfterTest(t, () => context.close());
    return context.newPage();
  }

  /** Creates a session and an empty page. `url` is the URL of a partner's page with the widget of the session. */
  async prepare(t: TestContext, options: WidgetOptions = {}, pageOptions: BrowserContextOptions = {}) {
    const widget = await this.widget(options);
    return { ...widget, url: this.url(widget.html, options.head), page: await this.newPage(t, pageOptions) };
  }

  /** Opens a partner's page with the widget of a new session, and waits for the offers. */
  async openOffers(t: TestContext, options: WidgetOptions = {}, pageOptions: BrowserContextOptions = {}) {
    const prepared = await this.prepare(t, options, pageOptions);
    if (options.change !== undefined) await changeOffers(prepared.page, options.change);
    await prepared.page.goto(prepared.url);
    await offerLink(prepared.page).waitFor();
    return prepared;
  }

  /** Opens a partner's page with these widgets. */
  async open(t: TestContext, widgets: string, options: BrowserContextOptions = {}, head = ''): Promise<Page> {
    const page = await this.newPage(t, options);
    await page.goto(this.url(widgets, head));
    return page;
  }

  /** Returns the URL of a partner's page with these widgets. */
  url(widgets: string, head = ''): string {
    return this.partner.add(partnerPage(widgets, head));
  }
}

/** Declares the service and the browser that all tests of a file share. */
export function useWidgetTestPages(options: StartOptions = {}): WidgetTestPages {
  const pages = new WidgetTestPages();
  before(() => pages.start(options));
  after(() => pages.close());
  return pages;
}

/** Returns the script element of docs/widget.md that adapts the height of an iframe. */
export function iframeHeightScript(): string {
  return /<script>\naddEventListener.+?<\/script>/s.exec(readFileSync('docs/widget.md', 'utf8'))![0];
}

/** Addresses of the widget's requests, for `page.route`. */
export const offersAddress = '**/w/offers?*';
export const eventsAddress = '**/w/events?*';

// biome-ignore lint/suspicious/noExplicitAny: tests also add members that the schema does not allow
type ChangeOffers = (view: any) => unknown;

/** Changes the parsed response with the offers before the page receives it. */
export async function changeOffers(page: Page, change: ChangeOffers): Promise<void> {
  await page.route(offersAddress, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    change(json);
    await route.fulfill({ response, json });
  });
}

/** Returns the built-in vertical with this path segment. */
export function verticalOf(segment: string): Vertical {
  return builtInVerticals.verticals.find((vertical) => vertical.segment === segment)!;
}

/** Returns the cards of offers, without placeholders. */
export function offerCards(page: Page | FrameLocator): Locator {
  return page.locator('.card:not(.placeholder)');
}

/** Returns the link of the first offer. */
export function offerLink(page: Page | FrameLocator): Locator {
  return page.locator('.card .go').first();
}

/** Returns the heading of a message that replaces the offers. */
export function messageTitle(page: Page | FrameLocator, title: string): Locator {
  return page.locator('.message').getByRole('heading', { name: title });
}

/** Selects the order by lowest APR, and waits for the sorted offers. */
export async function sortByApr(page: Page | FrameLocator | Locator): Promise<void> {
  await page.getByLabel('Sort by').selectOption('lowest_apr');
  await page.getByRole('status').filter({ hasText: 'sorted by: Lowest APR' }).waitFor();
}

/** Asserts that the shown offers are sorted by lowest APR. */
export async function assertSortedByApr(page: Page | FrameLocator): Promise<void> {
  const rates = (await page.locator('.apr .value').allTextContents()).map((text) => Number.parseFloat(text));
  assert.ok(rates.length > 1);
  assert.deepEqual(
    rates,
    rates.toSorted((a, b) => a - b),
  );
}

/** Whether the element has the focus within the widget. */
export function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((node) => node.getRootNode().activeElement === node);
}

/** Collects exceptions, console errors and console warnings, including CSP violations. */
export function collectErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  return errors;
}

/** Counts the requests for offers from now on. */
export function countOfferRequests(page: Page): { count: number } {
  const requests = { count: 0 };
  page.on('request', (request) => {
    if (request.url().includes('/w/offers')) requests.count++;
  });
  return requests;
}

/** Returns the counts of widget events in the analytics, without zeros. */
export async function countedEvents({ caller, tag }: TestWidget): Promise<Record<string, number>> {
  const { widget_events: events } = await caller.summary({ referrer_tag: tag });
  return Object.fromEntries(Object.entries(events).filter(([, count]) => count > 0));
}

export async function countedViews({ caller, tag }: TestWidget): Promise<number> {
  return (await caller.summary({ referrer_tag: tag })).marketplace_views;
}

/** Polls until `read` returns the expected value, for at most a minute. */
export async function eventually<Value>(read: () => Promise<Value>, expected: Value): Promise<void> {
  const endMs = performance.now() + 60_000;
  for (;;) {
    const value = await read();
    try {
      return assert.deepEqual(value, expected);
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await pause(50);
  }
}
