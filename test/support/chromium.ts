import { existsSync } from 'node:fs';
import process from 'node:process';
import { type Browser, chromium } from 'playwright-core';

/** A real browser with a profile of its own, which goes when it is closed. It asks nobody but the pages it is sent to. */
export function startChromium({ keepsPagesInMemory = false } = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath(),
    // For the pages one comes back to; with it, some of what a test can do to a page cannot be done.
    ignoreDefaultArgs: keepsPagesInMemory ? ['--disable-back-forward-cache'] : [],
    // Tests run as root in containers, where Chromium's sandbox cannot be made.
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
