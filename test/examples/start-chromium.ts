import process from 'node:process';
import { type Browser, chromium } from 'playwright-core';

/** A real browser with a profile of its own, which goes when it is closed. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    // Tests run as root in containers, where Chromium's sandbox cannot be made.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
}
