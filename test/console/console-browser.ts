import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, ConsoleMessage, Page } from 'playwright-core';
import type { Clock } from '../../src/domain/clock.ts';
import type { Marketplace } from '../../src/index.ts';
import { findAccessibilityViolations } from '../support/accessibility.ts';
import { startChromium } from '../support/chromium.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { findLayoutFaults } from './layout-faults.ts';

const screenshots = fileURLToPath(new URL('../../test-artefacts/console/', import.meta.url));

/** Maximum time to wait for an element, in ms. The slowest step takes about a second, and many times longer on a busy machine. */
const waitMs = 60_000;

/** Forwards connections to a listener, whose port changes with each restart, from one port. */
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

/** Service of the consoles; a `RunningMarketplace` or one with the same members. */
interface ConsoleService {
  readonly marketplace: Marketplace;
  readonly clock: Clock;
  close(): Promise<void>;
}

/** A console of a service in a browser. Available only while a test runs. */
class ConsoleBrowser<Service extends ConsoleService> {
  market!: Service;
  browser!: Browser;
  /** Address of the console. It stays the same when the service restarts. */
  url = '';
  readonly #listener: 'public' | 'operations';
  #forwarder!: Awaited<ReturnType<typeof startForwarder>>;
  /** Page of all tests of a file, because another browser context takes about a second of CPU time. */
  #page: Page | null = null;
  /** Key or token of the last login on the page. */
  #secret: string | null = null;

  constructor(listener: 'public' | 'operations') {
    this.#listener = listener;
  }

  async start(market: Service, browser: Browser): Promise<void> {
    this.market = market;
    this.browser = browser;
    this.#forwarder = await startForwarder(() => this.market.marketplace.ports?.[this.#listener] ?? 0);
    this.url = `http://127.0.0.1:${this.#forwarder.port}/console/`;
  }

  async close(): Promise<void> {
    await this.#page?.context().close();
    await this.#forwarder?.close();
  }

  /**
   * Loads a place of the console, which is logged in with a key or the operator token. The test fails if a script of the page has an error or the
   * page violates its content policy.
   */
  async open(t: TestContext, secret: string, place: string): Promise<Page> {
    const page = await this.#load(t, place, secret !== this.#secret);
    const logOut = page.getByRole('button', { name: 'Log out' });
    await logOut.or(this.#secretField(page)).waitFor();
    // The previous test may have ended the login.
    if (!(await logOut.isVisible())) {
      await this.logIn(page, secret);
      await logOut.waitFor();
    }
    await page.locator('h1').waitFor();
    return page;
  }

  /** Loads a place of the console without a login, in the same way as `open`. */
  openWithoutLogin(t: TestContext, place: string): Promise<Page> {
    return this.#load(t, place, true);
  }

  async #load(t: TestContext, place: string, endsLogin: boolean): Promise<Page> {
    this.#page ??= await this.#createPage();
    const page = this.#page;
    failOnErrors(t, page);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.context().setOffline(false);
    if (endsLogin) await page.context().clearCookies();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 720 });
    // The console warns if the clocks of browser and service differ. Timers still run.
    await page.clock.setFixedTime(this.market.clock.wallMs());
    if (page.url().startsWith(this.url)) {
      // The theme is stored. A change of the part after `#` does not load the console again.
      await page.evaluate(`localStorage.clear(); history.replaceState(null, '', ${JSON.stringify(this.url + place)})`);
      await page.reload();
    } else {
      await page.goto(this.url + place);
    }
    return page;
  }

  async #createPage(): Promise<Page> {
    const context = await this.browser.newContext();
    context.setDefaultTimeout(waitMs);
    return context.newPage();
  }

  #secretField(page: Page) {
    return page.getByLabel(this.#listener === 'public' ? 'API key' : 'Operator token');
  }

  /** Sends the form of the login page. */
  async logIn(page: Page, secret: string): Promise<void> {
    this.#secret = secret;
    await this.#secretField(page).fill(secret);
    await page.keyboard.press('Enter');
  }
}

/** Makes the test fail if a script of the page has an error or the page violates its content security policy. */
function failOnErrors(t: TestContext, page: Page): void {
  const errors: string[] = [];
  const onError = (error: Error) => void errors.push(String(error));
  const onMessage = (message: ConsoleMessage) => {
    // A browser also reports each response with an error status.
    const isResponse = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isResponse) errors.push(message.text());
  };
  page.on('pageerror', onError).on('console', onMessage);
  runAfterTest(t, () => {
    page.off('pageerror', onError).off('console', onMessage);
    assert.deepEqual(errors, []);
  });
}

interface Consoles<Service extends ConsoleService> {
  readonly partner: ConsoleBrowser<Service>;
  readonly operator: ConsoleBrowser<Service>;
}

let sharedBrowser: Promise<Browser> | null = null;

// Runs after all files of a process if the process imports this module before it declares a suite.
after(async () => {
  await (await sharedBrowser)?.close();
  sharedBrowser = null;
});

/** Declares the service that all tests of a file share, in the browser of the process. */
export function useConsoles<Service extends ConsoleService>(start: () => Promise<Service>): Consoles<Service> {
  const partner = new ConsoleBrowser<Service>('public');
  const operator = new ConsoleBrowser<Service>('operations');
  before(async () => {
    const market = await start();
    sharedBrowser ??= startChromium();
    const browser = await sharedBrowser;
    for (const each of [partner, operator]) await each.start(market, browser);
  });
  after(async () => {
    for (const each of [partner, operator]) await each.close();
    await partner.market?.close();
  });
  return { partner, operator };
}

/** Opens another page of the console, and waits until it shows the answers of the API. */
export async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url);
  // The console shows the page of a new address in the next frame.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  await page.locator('h1').waitFor();
  await waitUntilLoaded(page);
}

/** Waits until the shown page has the answers of all its requests. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('main .loading').first().waitFor({ state: 'detached' });
}

/** Returns a text with single spaces in one line. The spaces between numbers and units stay as they are. */
export const joinLines = (text: string) => text.replaceAll(/[ \t\r\n]+/g, ' ').trim();

/** Returns the visible text of a part of the page, with single spaces. */
export async function textOf(page: Page, selector = 'main'): Promise<string> {
  await page.locator(selector).waitFor();
  const texts = await page.locator(selector).allInnerTexts();
  return joinLines(texts.join(' '));
}

/** Returns the visible cells of a table with single spaces, without the header. A page with one table needs no caption. */
export async function readTable(page: Page, caption?: string | RegExp): Promise<string[][]> {
  const table = page.getByRole('table', caption === undefined ? {} : { name: caption, exact: true });
  await table.locator('tbody tr').first().waitFor();
  const columnCount = await table.locator('thead th').count();
  const texts = await table.locator('tbody :is(th, td)').allInnerTexts();
  const cells = texts.map(joinLines);
  return Array.from({ length: cells.length / columnCount }, (_, row) =>
    cells.slice(row * columnCount, (row + 1) * columnCount),
  );
}

/** Saves a picture of the whole page in `test-artefacts/console/`. JPEG takes less CPU time than PNG. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.jpeg`), quality: 90, fullPage: true });
}

/** Widths of windows in which a page is checked. Axe checks the largest one in light colors, and the smallest one in dark colors. */
const widths = [1600, 1280, 1024, 768, 480, 360] as const;
const colorSchemes: Readonly<Record<number, 'light' | 'dark'>> = { 1600: 'light', 360: 'dark' };

/** Checks that axe finds nothing on large and small screens, light and dark, and that the layout has no faults at all widths and when enlarged. */
export async function checkLayout(page: Page, name: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    assert.deepEqual(await findLayoutFaults(page), [], `${name}, ${width} px`);
    const colorScheme = colorSchemes[width];
    if (colorScheme === undefined) continue;
    assert.deepEqual(await findAccessibilityViolations(page, [colorScheme]), [], name);
    await saveScreenshot(page, `${name}-${width}`);
  }
  await checkEnlarged(page, name);
}

/** Checks the layout in a window of 1280 pixels whose zoom or whose text size is 200 %. */
async function checkEnlarged(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const zoomed = { width: 640, height: 450, deviceScaleFactor: 2, mobile: false };
  await session.send('Emulation.setDeviceMetricsOverride', zoomed);
  assert.equal(await page.evaluate('devicePixelRatio * innerWidth'), 1280);
  assert.deepEqual(await findLayoutFaults(page), [], `${name}, zoom of 200 %`);
  await session.send('Emulation.clearDeviceMetricsOverride');
  await session.detach();
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.evaluate('void (document.documentElement.style.fontSize = "200%")');
  assert.deepEqual(await findLayoutFaults(page), [], `${name}, text of 200 %`);
  await page.evaluate('document.documentElement.style.removeProperty("font-size")');
}
