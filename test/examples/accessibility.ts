import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const axe = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** What axe finds wrong with a page and its frames, in light and in dark. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const frame of page.frames()) {
      // Past the page's policy, which lets no script in by an element.
      await frame.evaluate(axe);
      // Each frame for itself, since axe in one cannot see into another origin.
      const found = await frame.evaluate(
        `axe.run(document, { iframes: false }).then(({ violations }) => violations.map(
          ({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
      );
      faults.push(
        ...(found as string[]).map((fault) => `${new URL(frame.url()).pathname} in ${colorScheme}: ${fault}`),
      );
    }
  }
  await page.emulateMedia({ colorScheme: null });
  return faults;
}
