import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Page, Response } from 'playwright-core';
import { runAfterTest } from '../support/run-after-test.ts';

/** Which console, and the secret of the login. */
export interface ConsoleLoginForm {
  readonly url: string;
  /** Label of the field of the login page. */
  readonly label: 'API key' | 'Operator token';
  readonly secret: string;
  /** Time of the browser's clock: that of the service, because the console warns if they differ. */
  readonly nowMs: number;
}

/** Opens a console in a new browser context and logs in. The test fails if a script of the page has an error. */
export async function openConsole(
  t: TestContext,
  browser: Browser,
  { url, label, secret, nowMs }: ConsoleLoginForm,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  // Timers still run.
  await page.clock.setFixedTime(nowMs);
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
  await page.goto(url);
  await page.getByLabel(label).fill(secret);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  return page;
}

/** Opens a page of the console, and waits until it shows the answers of the API. */
export async function visit(page: Page, url: string, place: string): Promise<void> {
  await page.goto(url + place);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.locator('main .loading').first().waitFor({ state: 'detached' });
}

/** Returns the cells of a table as they are shown, without the header. */
export async function readTable(page: Page, caption: string | RegExp): Promise<string[][]> {
  const table = page.getByRole('table', { name: caption });
  await table.waitFor();
  const columnCount = await table.locator('thead th').count();
  const cells = await table.locator('tbody :is(th, td)').allInnerTexts();
  return Array.from({ length: cells.length / columnCount }, (_, row) =>
    cells.slice(row * columnCount, (row + 1) * columnCount),
  );
}

/** An answer of the API that a page has shown. */
export interface SeenAnswer {
  /** Path below `./api/`. */
  readonly path: string;
  readonly method: string;
  readonly sent: string | null;
  readonly value: unknown;
}

/** Collects the JSON answers that a page gets while `use` runs. */
export async function collectAnswers(page: Page, use: () => Promise<void>): Promise<SeenAnswer[]> {
  const responses: Response[] = [];
  const listener = (response: Response) => void responses.push(response);
  page.on('response', listener);
  await use();
  page.off('response', listener);
  const answers = responses.filter((response) => response.ok() && response.url().includes('/console/api/'));
  return Promise.all(
    answers.map(async (response) => ({
      path: response.url().split('/console/api/')[1]!,
      method: response.request().method(),
      sent: response.request().postData(),
      value: (await response.json()) as unknown,
    })),
  );
}
