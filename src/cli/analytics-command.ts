import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { Command } from 'commander';
import { analyticsFiles } from '../analytics/analytics-files.ts';
import { rebuildStore } from '../analytics/rebuild-store.ts';
import { lockFolder } from '../events/folder-lock.ts';
import { checkWithProgress } from './check-with-progress.ts';
import { logFailure, logFolder } from './log-folder.ts';
import { printResult, say } from './output.ts';
import { progressBar } from './progress-bar.ts';

export function analyticsCommand(): Command {
  return new Command('analytics')
    .summary('derive the analytics from the ledger again')
    .description('Looks after the analytics store of the data folder (SVC_DATA_DIR, or ./data).')
    .addCommand(rebuildCommand())
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace analytics rebuild`,
    );
}

function rebuildCommand(): Command {
  return new Command('rebuild')
    .summary('derive every figure again from the ledger')
    .description(
      'Checks the ledger, derives every figure again from its records and from the sealed figures of days whose records were\n' +
        'given up (SVC_RETENTION_DAYS), and replaces the analytics store with the outcome.\n' +
        'The service must be stopped. It never needs this by itself: a store that is damaged, gone or of another version is\n' +
        'derived again at its start. Killed at any moment, it can be run again.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace analytics rebuild`,
    )
    .action(rebuild);
}

function rebuild(): void {
  const ledgerFolder = logFolder(undefined);
  const dataDir = dirname(ledgerFolder);
  let release = (): void => {};
  try {
    const lock = lockFolder(dataDir);
    release = () => lock.release();
    const { damage, position, records, tornBytes } = checkWithProgress(ledgerFolder);
    if (damage !== null) throw damage;
    if (tornBytes > 0) {
      say(`The ledger ends in ${tornBytes} bytes that are no whole record; the next start of the service cuts them.`);
    }
    const files = analyticsFiles(dataDir);
    const { storeFile } = files;
    const replaced = existsSync(storeFile);
    const bar = progressBar(process.stderr, { total: records, unit: 'records' });
    const onFolded = (more: number): void => bar.advance(more);
    const onMissing = (what: string): void => say(`marketplace: ${what}; the figures leave them out`);
    const run = () => rebuildStore({ files, upToPosition: position, onFolded, onMissing });
    const { records: folded, ...leftOut } = whileShown(bar, run);
    printResult(`${replaced ? 'rebuilt' : 'built'} ${storeFile} from ${folded} records`);
    for (const [reason, count] of Object.entries(leftOut)) if (count > 0) say(`  ${count} counted nothing: ${reason}`);
  } catch (fault) {
    throw logFailure(fault);
  } finally {
    release();
  }
}

function whileShown<Result>(bar: { done(): void }, run: () => Result): Result {
  try {
    return run();
  } finally {
    bar.done();
  }
}
