import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { analyticsFiles } from '../analytics/analytics-files.ts';
import { rebuildStore } from '../analytics/rebuild-store.ts';
import { lockFolder } from '../events/folder-lock.ts';
import { checkWithProgress } from './check-with-progress.ts';
import { interruptible } from './interruptible.ts';
import { logFailure, logFolder } from './log-folder.ts';
import { printJson, printResult, say } from './output.ts';
import { progressBar } from './progress-bar.ts';
import { progressStream } from './progress-stream.ts';

export async function rebuildAnalytics(asked: { readonly json?: true }): Promise<void> {
  const ledgerFolder = logFolder(undefined);
  const dataDir = dirname(ledgerFolder);
  const { storeFile } = analyticsFiles(dataDir);
  let release = (): void => {};
  try {
    const lock = lockFolder(dataDir);
    release = () => lock.release();
    const replaced = existsSync(storeFile);
    const missing: string[] = [];
    const { records, leftOut, tornBytes } = await interruptible((signal) =>
      rebuilt(ledgerFolder, asked, missing, signal),
    );
    if (asked.json) {
      printJson({ store: storeFile, replaced, records, left_out: leftOut, missing, tail_bytes: tornBytes });
      return;
    }
    if (tornBytes > 0) {
      say(
        `The ledger ends in ${tornBytes} bytes that are no whole record; the next start of the service moves them to a file.`,
      );
    }
    for (const what of missing) say(`marketplace: ${what}; the figures leave them out`);
    printResult(`${replaced ? 'rebuilt' : 'built'} ${storeFile} from ${records} records`);
    for (const [reason, count] of Object.entries(leftOut)) if (count > 0) say(`  ${count} counted nothing: ${reason}`);
  } catch (fault) {
    throw logFailure(fault);
  } finally {
    release();
  }
}

async function rebuilt(ledgerFolder: string, asked: { readonly json?: true }, missing: string[], signal: AbortSignal) {
  const { damage, position, records, tornBytes } = await checkWithProgress(ledgerFolder, asked, { signal });
  if (damage !== null) throw damage;
  const bar = progressBar(progressStream(asked), { total: records, unit: 'records' });
  try {
    const { records: folded, ...leftOut } = await rebuildStore({
      files: analyticsFiles(dirname(ledgerFolder)),
      upToPosition: position,
      onFolded: (more) => bar.advance(more),
      onMissing: (what) => missing.push(what),
      signal,
    });
    return { records: folded, leftOut, tornBytes };
  } finally {
    bar.done();
  }
}
