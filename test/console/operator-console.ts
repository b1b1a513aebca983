import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { askOperator } from '../contract/operator-request.ts';
import { assertOk } from '../support/api-caller.ts';
import { startChromium } from '../support/chromium.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace, type StartOptions } from '../support/running-marketplace.ts';
import { startForwarder } from './console-browser.ts';

/** A service with its operator console in a browser. Available only while a test runs. */
class OperatorConsole {
  market!: RunningMarketplace;
  /** Address of the console. It stays the same when the service restarts. */
  url = '';
  #browser!: Browser;
  #forwarder!: Awaited<ReturnType<typeof startForwarder>>;
  /** Cookie of a login, which all tests share. */
  #login: BrowserContextOptions['storageState'];

  async start(options: StartOptions): Promise<void> {
    this.#browser = await startChromium();
    this.market = await RunningMarketplace.start('uws', options);
    this.#forwarder = await startForwarder(() => this.market.marketplace.ports?.operations ?? 0);
    this.url = `http://127.0.0.1:${this.#forwarder.port}/console/`;
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    await page.goto(this.url);
    await this.logIn(page);
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    this.#login = await context.storageState();
    await context.close();
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#forwarder?.close();
    await this.market?.close();
  }

  /** Creates an empty page with a login. The test fails if a script of the page has an error. */
  async newPage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ storageState: this.#login!, ...options });
    const page = await context.newPage();
    // Timers still run. The console warns if the clocks of browser and server differ.
    await page.clock.setFixedTime(this.market.clock.wallMs());
    const errors: string[] = [];
    page.on('pageerror', (error) => void errors.push(String(error)));
    page.on('console', (message) => {
      // A browser also reports each answer with an error status.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        errors.push(message.text());
    });
    runAfterTest(t, async () => {
      await context.close();
      assert.deepEqual(errors, []);
    });
    return page;
  }

  /** Opens a page of the console. */
  async open(t: TestContext, place: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.newPage(t, options);
    await page.goto(this.url + place);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    return page;
  }

  /** Sends the form of the login page. */
  async logIn(page: Page): Promise<void> {
    await page.getByLabel('Operator token').fill(this.market.operatorToken);
    await page.keyboard.press('Enter');
  }

  /** Returns the answer of the operations API to a request with the operator token. */
  async ask<Answer>(path: string): Promise<Answer> {
    return assertOk<Answer>(await askOperator(this.market, { path }));
  }
}

/** Declares the service and the browser that all tests of a file share. */
export function useOperatorConsole(options: StartOptions = {}): OperatorConsole {
  const console = new OperatorConsole();
  before(() => console.start(options));
  after(() => console.close());
  return console;
}
