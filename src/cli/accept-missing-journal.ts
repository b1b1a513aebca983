import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lockFolder } from '../events/folder-lock.ts';
import { createFolderDurably } from '../files/make-folder-durably.ts';
import { toLogCommandError, resolveLogFolder } from './log-folder.ts';
import { printJson, printResult, printNotice } from './output.ts';

/** Creates an empty journal beside a ledger whose journal is gone, so that the service starts. Without `yes` it only says so. */
export function acceptMissingJournal(
  ledger: string | undefined,
  { yes, json }: { readonly yes?: true; readonly json?: true },
): void {
  try {
    const dataDir = dirname(resolveLogFolder(ledger));
    const journal = join(dataDir, 'journal');
    const lock = lockFolder(dataDir);
    try {
      const missing = !existsSync(journal);
      if (missing && yes) createFolderDurably(journal);
      if (json) {
        printJson({ outcome: missing ? (yes ? 'journal_created' : 'would_create_journal') : 'journal_not_missing' });
      } else if (!missing) {
        printResult(`${journal} is not missing: there is nothing to accept.`);
      } else {
        printResult(
          `${yes ? 'Created' : 'Would create'} an empty ${journal}: live sessions have no pocket fields then.`,
        );
        if (!yes) printNotice('Nothing has been changed. Add --yes to do it.');
      }
    } finally {
      lock.release();
    }
  } catch (fault) {
    throw toLogCommandError(fault);
  }
}
