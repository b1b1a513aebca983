/**
 * Writes the pictures of the consoles in `docs/images/`, light and dark, from a new demo history: `make console-pictures`. Needs Chromium. The
 * figures in the pictures depend on the day, so the pictures are only written on request.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startDemoProcess } from '../bench/demo-console/demo-process.ts';
import { stopChildProcess } from '../bench/target/owned-resources.ts';
import { startChromium } from '../test/support/chromium.ts';

const viewport = { width: 1200, height: 760 };
/** Quality of a picture in percent. Texts are legible, and a picture has about 40 kB. */
const quality = 80;

interface Picture {
  /** Name of the file without theme and ending. */
  readonly name: string;
  readonly consoleUrl: string;
  readonly login: object;
  /** Part of the address after `#`. */
  readonly page: string;
}

async function draw(browser: Browser, { name, consoleUrl, login, page: route }: Picture, theme: 'light' | 'dark') {
  const context = await browser.newContext({ viewport, colorScheme: theme });
  const headers = { 'Sec-Fetch-Site': 'same-origin' };
  await context.request.post(new URL('api/login', consoleUrl).href, { data: login, headers });
  const page = await context.newPage();
  await page.goto(new URL(`#${route}`, consoleUrl).href);
  await page.waitForLoadState('networkidle');
  const session = await context.newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
  const file = new URL(`../docs/images/${name}-${theme}.webp`, import.meta.url);
  await writeFile(file, Buffer.from(data, 'base64'));
  await context.close();
}

const folder = await mkdtemp(join(tmpdir(), 'console-pictures-'));
const demo = await startDemoProcess(join(folder, 'demo'), 'personal-loans');
const browser = await startChromium();
try {
  const partner = { consoleUrl: demo.partnerUrl, login: { key: demo.keys['live key'] } };
  const operator = { consoleUrl: demo.operatorUrl, login: { token: demo.operatorToken } };
  const pictures = [
    { ...partner, name: 'partner-console', page: '/experiments/short-form' },
    { ...operator, name: 'operator-console', page: '/catalogs/personal-loans/live' },
  ];
  for (const picture of pictures) for (const theme of ['light', 'dark'] as const) await draw(browser, picture, theme);
} finally {
  await browser.close();
  await stopChildProcess(demo.child);
  await rm(folder, { recursive: true });
}
