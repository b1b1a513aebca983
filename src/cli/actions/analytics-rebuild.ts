import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { rebuildAnalyticsStore } from '../../analytics/ledger-follower.ts';
import { dataFiles } from '../../files/data-files.ts';
import { lockFolder } from '../../files/folder-lock.ts';
import { printJson, printNotice, printResult } from '../output.ts';
import { createProgressBar, progressStreamFor } from '../progress-bar.ts';
import { runInterruptible } from '../signals.ts';
import { checkLogWithProgress, resolveLogFolder, toLogCommandError } from './log-folder.ts';

export async function rebuildAnalytics(asked: { readonly json?: true }): Promise<void> {
  const ledgerFolder = resolveLogFolder(undefined);
  const dataDir = dirname(ledgerFolder);
  const { analyticsStoreFile } = dataFiles(dataDir);
  let release = (): void => {};
  try {
    const lock = lockFolder(dataDir);
    release = () => lock.release();
    const replaced = existsSync(analyticsStoreFile);
    const missing: string[] = [];
    const { records, leftOut, tornBytes } = await runInterruptible((signal) =>
      rebuildFromLedger(ledgerFolder, asked, missing, signal),
    );
    if (asked.json) {
      printJson({ store: analyticsStoreFile, replaced, records, left_out: leftOut, missing, tail_bytes: tornBytes });
      return;
    }
    if (tornBytes > 0) {
      printNotice(
        `The ledger ends in ${tornBytes} bytes that are no whole record; the next start of the service moves them to a file.`,
      );
    }
    for (const what of missing) printNotice(`marketplace: ${what}; the figures leave them out`);
    printResult(`${replaced ? 'rebuilt' : 'built'} ${analyticsStoreFile} from ${records} records`);
    for (const [reason, count] of Object.entries(leftOut))
      if (count > 0) printNotice(`  ${count} counted nothing: ${reason}`);
  } catch (fault) {
    throw toLogCommandError(fault);
  } finally {
    release();
  }
}

async function rebuildFromLedger(
  ledgerFolder: string,
  asked: { readonly json?: true },
  missing: string[],
  signal: AbortSignal,
) {
  const { damage, position, records, tornBytes } = await checkLogWithProgress(ledgerFolder, asked, { signal });
  if (damage !== null) throw damage;
  const bar = createProgressBar(progressStreamFor(asked), { total: records, unit: 'records' });
  try {
    const { records: folded, ...leftOut } = await rebuildAnalyticsStore({
      files: dataFiles(dirname(ledgerFolder)),
      upToPosition: position,
      onProgress: (more) => bar.advance(more),
      onMissingRecords: (what) => missing.push(what),
      signal,
    });
    return { records: folded, leftOut, tornBytes };
  } finally {
    bar.clear();
  }
}
