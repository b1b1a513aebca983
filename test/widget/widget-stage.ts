import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Mode } from '../../src/index.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { startChromium } from '../support/chromium.ts';
import { PartnerPages } from '../support/partner-pages.ts';
import { personalLoansFixture as fixture } from '../support/personal-loans-fixture.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import type { Fields } from '../support/vertical-fixture.ts';

interface WantedWidget {
  /** Sandbox sessions may be embedded anywhere, live ones only where the account says. */
  readonly mode?: Mode;
  /** Whether the account says so of the partner's pages. */
  readonly allowed?: boolean;
  readonly fields?: Fields;
  readonly maxOffers?: number;
  readonly sort?: string;
}

/** A session with the code that shows its offers. */
export interface StagedWidget {
  readonly caller: ApiCaller;
  readonly tag: string;
  readonly subId: string;
  readonly token: string;
  /** The embed code of format=js. */
  readonly html: string;
  /** Address of the script. */
  readonly src: string;
}

/** A partner's page as one finds them: the widget between a heading and more text. */
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

/** The service, a partner's pages and a browser. */
export class WidgetStage {
  readonly market: RunningMarketplace;
  readonly pages: PartnerPages;
  readonly #browser: Browser;
  #sessions = 0;

  private constructor(market: RunningMarketplace, pages: PartnerPages, browser: Browser) {
    this.market = market;
    this.pages = pages;
    this.#browser = browser;
  }

  static async start(): Promise<WidgetStage> {
    const browser = await startChromium();
    return new WidgetStage(await RunningMarketplace.start('uws'), await PartnerPages.start(), browser);
  }

  async widget(wanted: WantedWidget = {}): Promise<StagedWidget> {
    const { mode = 'test', allowed = false, fields = fixture.complete, maxOffers = 5, sort = 'recommended' } = wanted;
    const tag = `widget-${++this.#sessions}`;
    const account = `partner ${this.#sessions}`;
    const caller = this.market.caller(fixture, { account, mode });
    if (allowed) this.market.marketplace.origins.allow(account, this.pages.origin);
    const subId = await caller.sessionWith(tag, fields);
    const { token, html, src } = await caller.embed(subId, 'js', { max_offers: maxOffers, sort });
    return { caller, tag, subId, token, html, src };
  }

  /** A browser that remembers nothing of the others. Without a window it says so, and its clicks are taken for a robot's. */
  context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const [major] = this.#browser.version().split('.');
    const userAgent = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
    return this.#browser.newContext({ userAgent, ...options });
  }

  /** A partner's page with these widgets, in a browser of its own. */
  async open(widgets: string, options: BrowserContextOptions = {}, head = ''): Promise<Page> {
    const page = await (await this.context(options)).newPage();
    await page.goto(this.page(widgets, head));
    return page;
  }

  /** Address of a partner's page with these widgets. */
  page(widgets: string, head = ''): string {
    return this.pages.add(partnerPage(widgets, head));
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.pages.close();
    await this.market.close();
  }
}
