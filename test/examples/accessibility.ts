import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const axe = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** Returns the accessibility violations that axe-core finds in a page and its frames, in light and dark colors. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const frame of page.frames()) {
      // Bypasses the content security policy of the page, which blocks script elements.
      await frame.evaluate(axe);
      // Runs in each frame separately, because axe-core cannot inspect frames of other origins.
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
