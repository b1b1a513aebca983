import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { rebuildAnalyticsStore } from '../../analytics/ledger-follower.ts';
import { dataFiles } from '../../files/data-files.ts';
import { lockFolder } from '../../files/folder-lock.ts';
import { printJson, printNotice, printResult } from '../output.ts';
import { createProgressBar, progressStreamFor } from '../progress-bar.ts';
import { runInterruptible } from '../signals.ts';
import { checkLogWithProgress, resolveLogFolder } from './log-folder.ts';

/** Replaces the analytics store by a new one that is built from the ledger. The service must be stopped. */
export async function rebuildAnalytics(options: { readonly json?: true }): Promise<void> {
  const ledgerFolder = resolveLogFolder(undefined);
  const dataDir = dirname(ledgerFolder);
  const { analyticsStoreFile: store } = dataFiles(dataDir);
  const lock = lockFolder(dataDir);
  try {
    const replaced = existsSync(store);
    const missing: string[] = [];
    const { records, leftOut, tornBytes } = await runInterruptible((signal) =>
      rebuildFromLedger(ledgerFolder, options, missing, signal),
    );
    if (options.json) {
      printJson({ store, replaced, records, left_out: leftOut, missing, tail_bytes: tornBytes });
      return;
    }
    if (tornBytes > 0) {
      printNotice(
        `The ledger ends with ${tornBytes} bytes of an incomplete record; the next start of the service moves them to a file.`,
      );
    }
    for (const sentence of missing) printNotice(`marketplace: ${sentence}; the figures leave them out`);
    printResult(`${replaced ? 'rebuilt' : 'built'} ${store} from ${records} records`);
    for (const [reason, count] of Object.entries(leftOut))
      if (count > 0) printNotice(`  ${count} not counted: ${reason}`);
  } finally {
    lock.release();
  }
}

async function rebuildFromLedger(
  ledgerFolder: string,
  options: { readonly json?: true },
  missing: string[],
  signal: AbortSignal,
) {
  const { damage, position, records, tornBytes } = await checkLogWithProgress(ledgerFolder, options, { signal });
  if (damage !== null) throw damage;
  const bar = createProgressBar(progressStreamFor(options), { total: records, unit: 'records' });
  try {
    const { records: counted, ...leftOut } = await rebuildAnalyticsStore({
      files: dataFiles(dirname(ledgerFolder)),
      upToPosition: position,
      onProgress: (more) => bar.advance(more),
      onMissingRecords: (sentence) => missing.push(sentence),
      signal,
    });
    return { records: counted, leftOut, tornBytes };
  } finally {
    bar.clear();
  }
}
