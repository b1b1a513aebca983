import { existsSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';

/** Maximum time to wait for a page or an element, in ms: longer than on any busy machine, and shorter than the limit of `make test`. */
const waitMs = 300_000;

/** Starts a browser with a temporary profile, deleted on close. The browser requests only the pages that the test opens. */
export async function startChromium({ keepsPagesInMemory = false } = {}): Promise<Browser> {
  const browser = await chromium.launch({
    timeout: waitMs,
    executablePath: fileURLToPath(new URL('../../bin/chromium-for-tests', import.meta.url)),
    env: { ...process.env, CHROMIUM_PATH: chromiumPath() },
    // Enables the back-forward cache, which prevents some test operations on a page.
    ignoreDefaultArgs: keepsPagesInMemory ? ['--disable-back-forward-cache'] : [],
    // Chromium's sandbox is not available, because the tests run as root in containers.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
  // `newPage` of the browser also calls `newContext`.
  const createContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await createContext(options);
    context.setDefaultTimeout(waitMs);
    return context;
  };
  return browser;
}

function chromiumPath(): string {
  const path = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  if (existsSync(path)) return path;
  throw new Error(
    `no Chromium at ${path}: run 'apt-get install --no-install-recommends chromium' as root, or name one in CHROMIUM_PATH`,
  );
}
