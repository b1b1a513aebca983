import { join } from 'node:path';
import { startChromium } from '../../test/support/chromium.ts';
import type { BenchPart } from '../bench-part.ts';
import { startDemoProcess } from '../demo-console/demo-process.ts';
import { createTemporaryFolder, stopChildProcess } from '../target/owned-resources.ts';
import { measureDownloads } from './downloads.ts';
import { measureLargePlot, measurePaint } from './paint.ts';

/** Measurement of the consoles, with the value of each round. */
export interface ConsoleMeasurement {
  readonly name: string;
  readonly unit: 'ms' | 'us' | 'ratio';
  readonly rounds: readonly number[];
}

/** Clicks of credit cards confirm their own revenue, so this vertical has the most results of experiments. */
const vertical = 'credit-cards';

export const consoleBenchPart: BenchPart = {
  name: 'consoles',
  description: 'first paint of the consoles, a plot of 400 looks of 10 arms, and the API during downloads',
  measure: async (context) => {
    const { folder: parent, progress, scale } = context;
    const folder = await createTemporaryFolder(parent, 'consoles-');
    try {
      progress.printProgress('consoles: writing the demo history');
      const demo = await startDemoProcess(join(folder.path, 'demo'), vertical);
      const browser = await startChromium();
      try {
        progress.printProgress('consoles: painting');
        const { partnerUrl, operatorUrl, operatorToken, keys } = demo;
        const partner = { url: partnerUrl, login: { key: keys['live key'] } };
        const operator = { url: operatorUrl, login: { token: operatorToken } };
        const consoles = [
          ...(await measurePaint('partner console', browser, partner, scale.rounds)),
          ...(await measurePaint('operator console', browser, operator, scale.rounds)),
          await measureLargePlot(browser, partner, scale.rounds),
        ];
        progress.printProgress('consoles: API during downloads');
        return { consoles: [...consoles, ...(await measureDownloads(context, folder.path))] };
      } finally {
        await browser.close();
        await stopChildProcess(demo.child);
      }
    } finally {
      await folder.remove();
    }
  },
};
