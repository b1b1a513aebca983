import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { askOperator } from '../contract/operator-request.ts';
import { assertOk } from '../support/api-caller.ts';
import { startChromium } from '../support/chromium.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace, type StartOptions } from '../support/running-marketplace.ts';

const screenshots = fileURLToPath(new URL('../../test-artefacts/console/', import.meta.url));

/** Forwards connections to the operations listener, whose port changes with each restart, from one port. */
async function startForwarder(getPort: () => number) {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(getPort(), '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}

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

/** Saves a picture of the whole page in `test-artefacts/console/`. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}
