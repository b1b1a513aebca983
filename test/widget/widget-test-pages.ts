import { after, before } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Mode } from '../../src/index.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { startChromium } from '../support/chromium.ts';
import { PartnerPages } from '../support/partner-pages.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

interface WidgetOptions {
  /** Mode of the session. Any page can embed sandbox sessions; only allowed origins can embed live sessions. */
  readonly mode?: Mode;
  /** Whether the account allows the origin of the partner's pages. */
  readonly allowed?: boolean;
  readonly fields?: Fields;
  readonly maxOffers?: number;
  readonly sort?: string;
}

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

/** Runs the service, a server for the pages of a partner, and a browser. */
class WidgetTestPages {
  readonly market: RunningMarketplace;
  readonly pages: PartnerPages;
  readonly #browser: Browser;
  #sessions = 0;

  private constructor(market: RunningMarketplace, pages: PartnerPages, browser: Browser) {
    this.market = market;
    this.pages = pages;
    this.#browser = browser;
  }

  static async start(): Promise<WidgetTestPages> {
    const browser = await startChromium();
    return new WidgetTestPages(await RunningMarketplace.start('uws'), await PartnerPages.start(), browser);
  }

  async widget(options: WidgetOptions = {}): Promise<TestWidget> {
    const { mode = 'test', allowed = false, fields = fixture.complete, maxOffers = 5, sort = 'recommended' } = options;
    const tag = `widget-${++this.#sessions}`;
    const account = `partner ${this.#sessions}`;
    const caller = this.market.caller(fixture, { account, mode });
    if (allowed) this.market.marketplace.origins.allow(account, this.pages.origin);
    const subId = await caller.sessionWith(tag, fields);
    const { token, html, src } = await caller.embed(subId, 'js', { max_offers: maxOffers, sort });
    return { caller, tag, subId, token, html, src };
  }

  /** Creates a browser context. Its user agent lacks `Headless`, because the service would detect clicks of a bot. */
  context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const [major] = this.#browser.version().split('.');
    const userAgent = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
    return this.#browser.newContext({ userAgent, ...options });
  }

  /** Opens a partner's page with these widgets in a new context. */
  async open(widgets: string, options: BrowserContextOptions = {}, head = ''): Promise<Page> {
    const page = await (await this.context(options)).newPage();
    await page.goto(this.page(widgets, head));
    return page;
  }

  /** Returns the URL of a partner's page with these widgets. */
  page(widgets: string, head = ''): string {
    return this.pages.add(partnerPage(widgets, head));
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.pages.close();
    await this.market.close();
  }
}

/** Declares a group of tests. `pages` is available only while a test runs. */
export type WidgetSuite = (pages: () => WidgetTestPages) => void;

/** Declares the suites of a test file. The suites share one service and one browser. */
export function declareSuites(...suites: readonly WidgetSuite[]): void {
  let pages: WidgetTestPages | undefined;
  before(async () => {
    pages = await WidgetTestPages.start();
  });
  after(() => pages?.close());
  for (const declare of suites) declare(() => pages!);
}
