/**
 * A process that aggregates a finished ledger, made durable to it in steps, until it is killed or through. Writes a line
 * for each step its figures have reached.
 */

import { startThreadAnalytics } from '../../../src/analytics/thread-analytics.ts';
import { dataFiles } from '../../../src/files/data-files.ts';

const [folder, storeFile, stepText, endText] = process.argv.slice(2);
const step = Number(stepText);
const end = Number(endText);
const log = { durablePosition: 0, appendedPosition: 0, healthy: true };
const analytics = await startThreadAnalytics({ files: { ...dataFiles(folder!), analyticsStoreFile: storeFile! }, log });
for (let position = analytics.projectedPosition; position < end; ) {
  position = Math.min(position + step, end);
  log.durablePosition = log.appendedPosition = position;
  analytics.onLedgerDurable(position);
  await analytics.getTotals();
  process.stdout.write(`${position}\n`);
}
await analytics.close();
