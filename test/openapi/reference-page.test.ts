import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startChromium } from '../support/chromium.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';

/** Opens the documentation of a running service in Chromium. `complaints` collects the console messages and exceptions of the page. */
async function openReference(t: TestContext) {
  const market = await RunningMarketplace.start('uws');
  runAfterTest(t, () => market.close());
  const browser = await startChromium();
  runAfterTest(t, () => browser.close());
  const { public: origin } = market.marketplace.urls;
  const page = await browser.newPage();
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (fault) => complaints.push(fault.message));
  return { market, origin, page, asked, complaints };
}

async function summaries(page: Page): Promise<string[]> {
  await page.waitForSelector('.opblock');
  return page.locator('.opblock-summary-path').allInnerTexts();
}

test('the reference pages show every operation in a browser, without console messages or requests to other hosts', async (t) => {
  const { origin, page, asked, complaints } = await openReference(t);
  await page.goto(`${origin}/docs`);
  assert.equal(await page.title(), 'Personal loans marketplace API');
  assert.deepEqual((await summaries(page)).slice(0, 4), ['/session', '/inputs', '/marketplace', '/analytics']);

  // An expanded operation shows its errors and an example.
  await page.locator('.opblock-summary-control', { hasText: '/inputs' }).click();
  await page.getByText('INVALID_FIELD_VALUE').first().waitFor();
  await page.getByText('"missing_conditional"').first().waitFor();

  await page.getByRole('link', { name: 'Equipment leases' }).click();
  await page.waitForURL('**/docs/equipment-leases');
  assert.equal(await page.title(), 'Equipment leases marketplace API');
  assert.deepEqual((await summaries(page)).slice(0, 4), ['/session', '/inputs', '/marketplace', '/analytics']);
  assert.equal(await page.locator('[aria-current=page]').textContent(), 'Equipment leases');

  assert.ok(asked.length >= 6, `${asked.length} requests`);
  assert.deepEqual(
    asked.filter((url) => new URL(url).origin !== new URL(origin).origin && !url.startsWith('data:')),
    [],
  );
  assert.deepEqual(complaints, []);
});

test('the reference page sends a request with the API key that the reader enters', async (t) => {
  const { market, origin, page, complaints } = await openReference(t);
  const { key } = market.marketplace.keys.create({ account: 'reader', vertical: 'personal-loans', mode: 'test' });
  // The document names 127.0.0.1. The page must send its requests to the host under which the reader opened it.
  await page.goto(`${origin.replace('127.0.0.1', 'localhost')}/docs`);
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  await page.locator('.auth-container input').fill(key);
  await page.locator('.auth-btn-wrapper .authorize').click();
  await page.locator('.auth-btn-wrapper .btn-done').click();
  await page.locator('.opblock-summary-control', { hasText: '/session' }).first().click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  const response = await page.locator('.live-responses-table .response-col_description').last().textContent();
  assert.match(response ?? '', /"sandbox": true/);
  assert.deepEqual(complaints, []);
});

test('static files are prepared before the first request', { skip: process.platform === 'win32' }, async (t) => {
  const market = await RunningMarketplace.start('uws');
  runAfterTest(t, () => market.close());
  // Blocks all threads that read or compress files, because opening a named pipe waits for a writer.
  const pipe = join(market.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const readers = Array.from({ length: 16 }, () => open(pipe, 'r'));
  try {
    const page = (await market.http.send({ path: '/docs' })).text;
    const assets = [...page.matchAll(/(?:src|href|data-document)="(\/[^"]+)"/g)].map((match) => match[1]!);
    assert.equal(assets.length, 8);
    for (const path of [...assets, '/w/widget.js']) {
      for (const encoding of ['br', 'gzip', 'identity']) {
        const response = await market.http.send({ path, headers: { 'Accept-Encoding': encoding } });
        assert.equal(response.status, 200, path);
      }
    }
  } finally {
    const writer = openSync(pipe, 'r+');
    for (const reader of await Promise.all(readers)) await reader.close();
    closeSync(writer);
  }
});
