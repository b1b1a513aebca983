import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const axe = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
// The rule for target sizes (WCAG 2.2) is disabled by default.
const axeScript = `axe.run(document, { iframes: false, resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target, failureSummary }) => target + ' ' + failureSummary).join('; ')))`;

/** Returns the accessibility violations that axe-core finds in a page and its frames, with the current viewport. */
export async function findAccessibilityViolations(
  page: Page,
  colorSchemes: readonly ('light' | 'dark')[] = ['light', 'dark'],
): Promise<string[]> {
  const violations: string[] = [];
  for (const colorScheme of colorSchemes) {
    await page.emulateMedia({ colorScheme });
    // Runs in each frame separately, because axe-core cannot inspect frames of other origins.
    for (const frame of page.frames()) {
      // `evaluate` bypasses the content security policy of the page, which blocks script elements.
      if ((await frame.evaluate('typeof axe')) === 'undefined') await frame.evaluate(axe);
      const found = await frame.evaluate<string[]>(axeScript);
      const where = `${new URL(frame.url()).pathname} in ${colorScheme} colors`;
      violations.push(...found.map((violation) => `${where}: ${violation}`));
    }
  }
  return violations;
}
