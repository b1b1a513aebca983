/** Projects a finished ledger in steps until it is killed or all records are projected. Prints the position after each step. */

import { ThreadAnalytics } from '../../../src/analytics/thread-analytics.ts';
import { dataPaths } from '../../../src/files/data-paths.ts';

const [folder, storeFile, stepText, endText] = process.argv.slice(2);
const step = Number(stepText);
const end = Number(endText);
const log = { durablePosition: 0, appendedPosition: 0, healthy: true };
const analytics = await ThreadAnalytics.start({
  files: { ...dataPaths(folder!), analyticsStoreFile: storeFile! },
  log,
});
for (let position = analytics.projectedPosition; position < end; ) {
  position = Math.min(position + step, end);
  analytics.onLedgerDurable(position);
  log.durablePosition = log.appendedPosition = position;
  // A query makes the aggregator apply the records without a wait. On a busy machine the query may time out.
  while (analytics.projectedPosition < position && analytics.healthy)
    await analytics.listExperiments(0).catch(() => {});
  process.stdout.write(`${position}\n`);
}
await analytics.close();
