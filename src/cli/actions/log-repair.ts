import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isoTimestampOrNull } from '../../domain/calendar.ts';
import { systemClock } from '../../domain/clock.ts';
import { nodeLogFiles } from '../../event-log/log-files.ts';
import type { LogLocation } from '../../event-log/log-scanner.ts';
import { countRecordsAfterCut, type RepairPlan, repairLog, validateCut } from '../../event-log/repair-log.ts';
import { dataFiles } from '../../files/data-files.ts';
import { createFolderDurably } from '../../files/durable-files.ts';
import { type FolderLock, lockFolder } from '../../files/folder-lock.ts';
import { CommandLineError } from '../command-line-error.ts';
import { formatTimestamp, printJson, printNotice, printResult } from '../output.ts';
import { runInterruptible } from '../signals.ts';
import { RecordTimeSpan } from './log.ts';
import { checkLogWithProgress, resolveLogFolder } from './log-folder.ts';

const dryRunNotice = 'Nothing has been changed. Add --yes to make the changes.';

/** Creates an empty journal if a ledger has none, so that the service can start. Without `yes`, only prints what it would do. */
export function createMissingJournal(
  ledger: string | undefined,
  { yes, json }: { readonly yes?: true; readonly json?: true },
): void {
  const dataDir = dirname(resolveLogFolder(ledger));
  const { journalFolder: journal } = dataFiles(dataDir);
  const lock = lockFolder(dataDir);
  try {
    const missing = !existsSync(journal);
    if (missing && yes) createFolderDurably(journal);
    if (json) {
      printJson({ outcome: missing ? (yes ? 'journal_created' : 'would_create_journal') : 'journal_not_missing' });
    } else if (!missing) {
      printResult(`${journal} is not missing: nothing to do.`);
    } else {
      printResult(`${yes ? 'Created' : 'Would create'} an empty ${journal}. Live sessions lose their pocket fields.`);
      if (!yes) printNotice(dryRunNotice);
    }
  } finally {
    lock.release();
  }
}

export interface RepairOptions {
  readonly cut: LogLocation;
  readonly yes?: true;
  readonly json?: true;
}

export async function repairLogAtCut(named: string | undefined, options: RepairOptions): Promise<void> {
  const { cut, yes, json } = options;
  const locks: FolderLock[] = [];
  try {
    const namedFolder = resolveLogFolder(named);
    const folder = realpathSync(namedFolder);
    // A running service has a lock on the data folder, which contains the log or a link to the log.
    for (const parent of new Set([dirname(namedFolder), dirname(folder)].map((path) => realpathSync(path)))) {
      locks.push(lockFolder(parent));
    }
    const check = await runInterruptible((signal) => checkLogWithProgress(folder, options, { signal }));
    const verdict = validateCut(nodeLogFiles, check, {
      file: resolveSegmentFile(folder, namedFolder, cut.file),
      offset: cut.offset,
    });
    switch (verdict.kind) {
      case 'done':
        if (json) printJson({ outcome: 'nothing_to_cut' });
        else printResult('The log is intact and ends at this position: nothing to cut.');
        return;
      case 'no-damage':
        throw new CommandLineError('the log is intact; only a damaged log can be cut');
      case 'elsewhere': {
        const { file, offset, message } = verdict.damage;
        throw new CommandLineError(`the damage is at ${basename(file)}:${offset}, not at this position; ${message}`);
      }
      case 'damage':
        await executeRepair(folder, verdict.plan, check.records, { yes: yes ?? false, json: json ?? false });
    }
  } finally {
    for (const lock of locks) lock.release();
  }
}

async function executeRepair(
  folder: string,
  plan: RepairPlan,
  keptRecords: number,
  { yes, json }: { readonly yes: boolean; readonly json: boolean },
): Promise<void> {
  const timestamp = formatTimestamp(systemClock.wallMs()).replaceAll(/[-:.]/g, '');
  const removedFolder = `${folder}-removed-${timestamp}`;
  if (statSync(folder).dev !== statSync(dirname(folder)).dev) {
    throw new CommandLineError(`${folder} is a mount point: its files cannot be moved to a folder beside it`);
  }
  const timeSpan = new RecordTimeSpan();
  const removed = countRecordsAfterCut(nodeLogFiles, plan, (record) => timeSpan.include(record));
  const report: RepairReport = {
    plan,
    keptRecords,
    removedFolder,
    timeSpan,
    readableRecords: removed.records,
    lostRecords: removed.position - plan.position - removed.records,
  };
  if (yes) await repairLog(nodeLogFiles, plan, removedFolder);
  if (json) {
    printJson(repairToJson(report, yes));
    return;
  }
  printResult(`${yes ? 'Done' : 'Would do'}:\n\n${formatRepair(report)}`);
  if (!yes) printNotice(dryRunNotice);
}

interface RepairReport {
  readonly plan: RepairPlan;
  readonly keptRecords: number;
  readonly removedFolder: string;
  /** Time span and number of the readable records that the repair moves to another folder. */
  readonly timeSpan: RecordTimeSpan;
  readonly readableRecords: number;
  /** Number of unreadable records that the repair moves to another folder. */
  readonly lostRecords: number;
}

function repairToJson(
  { plan, keptRecords, removedFolder, timeSpan, readableRecords, lostRecords }: RepairReport,
  done: boolean,
) {
  return {
    outcome: done ? 'cut' : 'would_cut',
    kept_records: keptRecords,
    kept_to_position: plan.position,
    moved_bytes: plan.removedBytes,
    moved_segments: plan.laterSegments.length,
    moved_records: readableRecords,
    moved_first_at: isoTimestampOrNull(timeSpan.firstMs),
    moved_last_at: isoTimestampOrNull(timeSpan.lastMs),
    lost_records: Math.max(0, lostRecords),
    removed_folder: removedFolder,
  };
}

function formatRepair({
  plan,
  keptRecords,
  removedFolder,
  timeSpan,
  readableRecords,
  lostRecords,
}: RepairReport): string {
  const { position, end, removedBytes, laterSegments } = plan;
  const [oldest, newest] = [laterSegments[0], laterSegments.at(-1)];
  const moved: string[] = [];
  if (end !== null && removedBytes > 0) moved.push(`${removedBytes} bytes at the end of ${basename(end.file)}`);
  if (oldest !== undefined) moved.push(`segment ${basename(oldest)}`);
  if (newest !== undefined && newest !== oldest) moved.push(`and the ${laterSegments.length - 1} segments after it`);
  const readable =
    readableRecords === 0
      ? 'no readable records'
      : `${readableRecords} readable records, from ${formatTimestamp(timeSpan.firstMs)} to ${formatTimestamp(timeSpan.lastMs)}`;
  return [
    `kept     ${keptRecords === 0 ? 'nothing' : `${keptRecords} records, up to position ${position}`}`,
    `moved    ${moved.join(', ')}`,
    `         ${readable}${lostRecords > 0 ? `; ${lostRecords} unreadable` : ''}`,
    `into     ${removedFolder}`,
    '',
    'Events in the moved records no longer count: their sessions, views, clicks and revenue. The next start of the service',
    'rebuilds the analytics from the records that are kept. Live sessions in the moved records end.',
  ].join('\n');
}

/** Returns the path of a segment. The argument may be the path that `log verify` prints, a file name, or a path through a link. */
function resolveSegmentFile(folder: string, namedFolder: string, file: string): string {
  if (basename(file) === file || dirname(resolve(file)) === namedFolder) return join(folder, basename(file));
  return resolve(file);
}
