import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startChromium } from '../support/chromium.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';

const screenshots = fileURLToPath(new URL('../../test-artefacts/console/', import.meta.url));

/** Forwards connections to a listener, whose port changes with each restart, from one port. */
export async function startForwarder(getPort: () => number) {
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

/** A service with its partner console in a browser. Available only while a test runs. */
class PartnerConsole {
  market!: RunningMarketplace;
  /** Address of the console. It stays the same when the service restarts. */
  url = '';
  #browser!: Browser;
  #forwarder!: Awaited<ReturnType<typeof startForwarder>>;
  /** Cookies of the logins, by key. */
  readonly #logins = new Map<string, BrowserContextOptions['storageState']>();

  async start(prepare: (market: RunningMarketplace) => Promise<void>): Promise<void> {
    this.#browser = await startChromium();
    this.market = await RunningMarketplace.start('uws');
    this.#forwarder = await startForwarder(() => this.market.marketplace.ports?.public ?? 0);
    this.url = `http://127.0.0.1:${this.#forwarder.port}/console/`;
    await prepare(this.market);
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#forwarder?.close();
    await this.market?.close();
  }

  /**
   * Creates an empty page without a login. Its clock shows the time of the service. The test fails if a script of the page has an error or
   * the page violates its content security policy.
   */
  async newPage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext(options);
    const page = await context.newPage();
    // Timers still run.
    await page.clock.setFixedTime(this.market.clock.wallMs());
    const errors: string[] = [];
    page.on('pageerror', (error) => void errors.push(String(error)));
    page.on('console', (message) => {
      // A browser also reports each response with an error status.
      const isResponse = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isResponse) errors.push(message.text());
    });
    runAfterTest(t, async () => {
      await context.close();
      assert.deepEqual(errors, []);
    });
    return page;
  }

  /** Opens a place of the console with the login of a key. */
  async open(t: TestContext, key: string, place: string, options: BrowserContextOptions = {}): Promise<Page> {
    if (!this.#logins.has(key)) this.#logins.set(key, await this.#createLogin(key));
    const page = await this.newPage(t, { storageState: this.#logins.get(key)!, ...options });
    await page.goto(this.url + place);
    return page;
  }

  async #createLogin(key: string): Promise<BrowserContextOptions['storageState']> {
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    await page.goto(this.url);
    await logIn(page, key);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    const state = await context.storageState();
    await context.close();
    return state;
  }
}

/** Sends the form of the login page. */
export async function logIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
}

/** Declares the service and the browser that all tests of a file share. */
export function usePartnerConsole(prepare: (market: RunningMarketplace) => Promise<void>): PartnerConsole {
  const console = new PartnerConsole();
  before(() => console.start(prepare));
  after(() => console.close());
  return console;
}

/** Saves a picture of the whole page in `test-artefacts/console/`. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}
