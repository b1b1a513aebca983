import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { ConsoleMeasurement } from './console-part.ts';

interface ConsoleAddress {
  readonly url: string;
  readonly login: object;
}

/** Opens a browser without cached files, which is logged in. */
async function openLoggedIn(browser: Browser, { url, login }: ConsoleAddress): Promise<BrowserContext> {
  const context = await browser.newContext();
  const headers = { 'Sec-Fetch-Site': 'same-origin' };
  const response = await context.request.post(new URL('api/login', url).href, { data: login, headers });
  if (!response.ok()) throw new Error(`the login at ${url} failed with status ${response.status()}`);
  return context;
}

/** Waits until the page shows its figures. Returns the time since the start of the navigation in ms. */
async function awaitFigures(page: Page): Promise<number> {
  await page.locator('main h1').waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
  return page.evaluate(() => performance.now());
}

/** Measures the first page of a console in a new browser context for each round. */
export async function measurePaint(
  name: string,
  browser: Browser,
  address: ConsoleAddress,
  rounds: number,
): Promise<readonly ConsoleMeasurement[]> {
  const firstPaint: number[] = [];
  const figures: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const context = await openLoggedIn(browser, address);
    const page = await context.newPage();
    await page.goto(address.url);
    figures.push(await awaitFigures(page));
    firstPaint.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]!.startTime));
    await context.close();
  }
  return [
    { name: `${name}: first paint`, unit: 'ms', rounds: firstPaint },
    { name: `${name}: first page with its figures`, unit: 'ms', rounds: figures },
  ];
}

const looks = 400;
const arms = 10;
const dayMs = 86_400_000;

interface Results {
  arms: { referrer_tag: string; label: string | null }[];
  comparisons: { arm: string }[];
  series: { arm: string; as_of: string; difference: number | null; low: number | null; high: number | null }[];
}

/** Members of `PerformanceResourceTiming`. */
interface RequestTiming {
  readonly name: string;
  readonly responseEnd: number;
}

/** Extends the results of an experiment with two arms to 10 arms with 400 looks each. */
function enlargeResults({
  arms: [control, other],
  comparisons: [comparison],
  series: [look],
  ...rest
}: Results): Results {
  const tags = Array.from({ length: arms - 1 }, (_, at) => `arm-${at + 1}`);
  const days = Array.from({ length: looks }, (_, at) => new Date(Date.UTC(2025, 0, 1) + at * dayMs));
  return {
    ...rest,
    arms: [control!, ...tags.map((tag) => ({ ...other!, referrer_tag: tag, label: tag }))],
    comparisons: tags.map((arm) => ({ ...comparison!, arm })),
    series: tags.flatMap((arm, place) =>
      days.map((day, at) => {
        const difference = place / arms + Math.sin(at / 20) / 10;
        const half = 1 / Math.sqrt(at + 1);
        const as_of = day.toISOString().slice(0, 'yyyy-mm-dd'.length);
        return { ...look!, arm, as_of, difference, low: difference - half, high: difference + half };
      }),
    ),
  };
}

/** Measures the time from the last byte of the results to the drawn plot. The server's results are replaced by larger ones. */
export async function measureLargePlot(
  browser: Browser,
  address: ConsoleAddress,
  rounds: number,
): Promise<ConsoleMeasurement> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const context = await openLoggedIn(browser, address);
    const page = await context.newPage();
    await page.route(/\/results\?.*series=true/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: enlargeResults((await response.json()) as Results) });
    });
    await page.goto(new URL('#/experiments/short-form', address.url).href);
    await page.locator('.plot-area canvas').first().waitFor();
    const drawnMs = await page.evaluate(() => {
      const requests = performance.getEntriesByType('resource') as unknown as readonly RequestTiming[];
      return performance.now() - requests.find(({ name }) => name.includes('series=true'))!.responseEnd;
    });
    times.push(drawnMs);
    await context.close();
  }
  return { name: `partner console: plot of ${looks} looks of ${arms} arms`, unit: 'ms', rounds: times };
}
