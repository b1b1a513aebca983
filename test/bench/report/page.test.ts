import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { jsonForScript } from '../../../bench/report/formatting.ts';
import { writeReport } from '../../../bench/report/write-report.ts';
import type { BenchResult } from '../../../bench/result/bench-result.ts';
import { findAccessibilityViolations } from '../../support/accessibility.ts';
import { startChromium } from '../../support/chromium.ts';
import { sampleResult } from '../support/sample-result.ts';

const sample = sampleResult();
const hostile = `</script><script>document.title = 'taken'</script><b>"&' <!--`;
const result: BenchResult = { ...sample, machine: { ...sample.machine, cpu: hostile } };

let folder: string;
let browser: Browser;
let file: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'report-'));
  file = (await writeReport(result, folder)).htmlFile;
  browser = await startChromium();
});

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Opens the page from a file. Collects the messages of its console and the URLs that the page requests. */
async function open(options: { width?: number } = {}): Promise<{ page: Page; complaints: string[]; asked: string[] }> {
  const page = await browser.newPage({ viewport: { width: options.width ?? 1_200, height: 900 } });
  const complaints: string[] = [];
  const asked: string[] = [];
  const url = pathToFileURL(file).href;
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== url) asked.push(request.url());
  });
  await page.goto(url);
  return { page, complaints, asked };
}

test('draws every plot from a local file without network requests', async () => {
  const { page, complaints, asked } = await open();
  const plots = page.locator('[data-plot]');
  // Two plots for each curve, one for memory and one for the crossover.
  assert.equal(await plots.count(), 2 * result.curves.length + 2);
  assert.equal(await page.locator('[data-plot] canvas').count(), await plots.count());
  const baselines = result.routes.flatMap(({ servers }) => servers.filter(({ kind }) => kind !== 'service'));
  assert.ok(baselines.some(({ kind }) => kind === 'synced'));
  assert.equal(await page.locator('.bar-row rect').count(), baselines.length + result.micro.length);
  assert.deepEqual({ complaints, asked }, { complaints: [], asked: [] });
  await page.close();
});

test('blocks all network requests of the page with its content security policy', async () => {
  const { page } = await open();
  const blocked = await page.evaluate(
    `new Promise((blocked) => {
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => blocked(effectiveDirective));
      fetch('http://127.0.0.1:9/').then(() => blocked('nothing'), () => {});
    })`,
  );
  assert.equal(blocked, 'connect-src');
  const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  assert.match(policy!, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; /);
  await page.close();
});

test('contains the complete result as data that can be read from the page', async () => {
  const { page } = await open();
  const text = await page.locator('#result').textContent();
  assert.deepEqual(JSON.parse(text!), JSON.parse(JSON.stringify(result)));
  await page.close();
});

test('shows the name of a machine as text, also if the name contains markup', async () => {
  const { page } = await open();
  assert.match(await page.title(), /^Benchmarks, 2026/);
  assert.equal(await page.locator('.facts dd').first().textContent(), `${hostile}, 2 cores`);
  await page.close();
});

test('shows a table with the same figures for every plot', async () => {
  const { page } = await open();
  assert.equal((await page.locator('figure').count()) > 0, true);
  const blocks = page.locator('.block').filter({ has: page.locator('figure') });
  for (let at = 0; at < (await blocks.count()); at++) {
    assert.equal((await blocks.nth(at).locator('.scroller tbody tr').count()) > 0, true);
  }
  const first = result.curves[0]!;
  const rows = blocks.filter({ hasText: 'Offered load: throughput' }).locator('.scroller tbody tr');
  assert.equal(await rows.count(), first.points.length);
  await page.close();
});

test('the page is accessible in light and dark colors, without horizontal scrolling on narrow screens', async () => {
  const { page } = await open({ width: 390 });
  assert.deepEqual(await findAccessibilityViolations(page), []);
  const [content, window] = (await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')) as [
    number,
    number,
  ];
  assert.equal(content, window);
  await page.close();
});

test('changes the colors of plots when the system changes between light and dark', async () => {
  const { page } = await open();
  const pixels = () => page.evaluate(`document.querySelector('[data-plot] canvas').toDataURL()`);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await pixels();
  await page.emulateMedia({ colorScheme: 'dark' });
  // The page receives the change with the next frame.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  assert.notEqual(await pixels(), light);
  await page.close();
});

test('includes the license of uPlot, and no URL of another site', async () => {
  const html = await readFile(file, 'utf8');
  assert.match(html, /Copyright \(c\) \d+ Leon Sorokin\n\nPermission is hereby granted/);
  assert.doesNotMatch(html, /https?:/);
  assert.doesNotMatch(html, /<link|<img|@import|url\(|\ssrc=/);
});

test('copies the newest page to the path of the latest page', async () => {
  assert.equal(await readFile(join(folder, 'latest.html'), 'utf8'), await readFile(file, 'utf8'));
});

test('escapes JSON so that it cannot end a script element', () => {
  const text = jsonForScript({ name: '</script>' });
  assert.ok(!text.includes('<'));
  assert.deepEqual(JSON.parse(text), { name: '</script>' });
});
