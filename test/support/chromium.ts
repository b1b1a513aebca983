import { existsSync } from 'node:fs';
import process from 'node:process';
import { type Browser, chromium } from 'playwright-core';

/** Starts a browser with a temporary profile, deleted on close. The browser requests only the pages that the test opens. */
export function startChromium({ keepsPagesInMemory = false } = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath(),
    // Enables the back-forward cache, which prevents some test operations on a page.
    ignoreDefaultArgs: keepsPagesInMemory ? ['--disable-back-forward-cache'] : [],
    // Chromium's sandbox is not available, because the tests run as root in containers.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
}

function chromiumPath(): string {
  const path = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
  if (existsSync(path)) return path;
  throw new Error(
    `no Chromium at ${path}: run 'apt-get install --no-install-recommends chromium' as root, or name one in CHROMIUM_PATH`,
  );
}
