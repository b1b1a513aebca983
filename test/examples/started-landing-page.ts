import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { afterwards } from '../support/afterwards.ts';
import { RunningMarketplace, type StartOptions, type WantedKey } from '../support/running-marketplace.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

const pageAccount = 'landing page';

export interface StartedLandingPage {
  readonly market: RunningMarketplace;
  readonly key: string;
  /** Origin of the landing page, such as `http://127.0.0.1:43210`. */
  readonly origin: string;
  /** Returns the text that the process has written to standard error so far. */
  log(): string;
}

export interface Wanted {
  readonly market?: StartOptions;
  readonly key?: WantedKey;
  readonly settings?: Readonly<Record<string, string>>;
  /** Starts a proxy between the page and the API with this URL. Returns the URL of the proxy. */
  readonly between?: (apiUrl: string) => Promise<string>;
}

/**
 * Starts a service, and the landing page as a separate process that knows only the URL of the service and an API key. Both
 * end with the test.
 */
export async function startLandingPage(t: TestContext, wanted: Wanted = {}): Promise<StartedLandingPage> {
  const market = await RunningMarketplace.start('node', wanted.market);
  afterwards(t, () => market.close());
  // The page requests analytics up to the current day of its own clock.
  market.clock.setWall(Date.now());
  const { key } = market.issueKey(personalLoansFixture, { account: pageAccount, ...wanted.key });
  const apiUrl = apiUrlOf(market);
  const page = spawnLandingPage({
    ...wanted.settings,
    API_KEY: key,
    API_URL: wanted.between === undefined ? apiUrl : await wanted.between(apiUrl),
  });
  afterwards(t, async () => assert.equal(await page.stop('SIGTERM'), 0));
  const origin = await page.opened();
  market.marketplace.origins.allow(pageAccount, origin);
  return { market, key, origin, log: page.log };
}

export function apiUrlOf(market: RunningMarketplace): string {
  return `http://127.0.0.1:${market.marketplace.ports!.public}/v1/personal-loans`;
}

/** Starts the landing page with only these settings. */
export function spawnLandingPage(settings: Readonly<Record<string, string>>, args: readonly string[] = []) {
  const main = fileURLToPath(new URL('../../examples/landing-page/main.ts', import.meta.url));
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [main, ...args], { env: { PATH, PORT: '0', ...settings } });
  const ended = once(child, 'close');
  let printed = '';
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  return {
    log: () => log,
    async opened(): Promise<string> {
      for (;;) {
        const [, origin] = /(http:\/\/\S+)\/results/.exec(printed) ?? [];
        if (origin !== undefined) return origin;
        if (child.exitCode !== null) throw new Error(`the page ended before it opened: ${log}`);
        await Promise.race([once(child.stdout, 'data'), ended]);
      }
    },
    async ended(): Promise<number | null> {
      await ended;
      return child.exitCode;
    },
    async stop(signal: NodeJS.Signals): Promise<number | null> {
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}
