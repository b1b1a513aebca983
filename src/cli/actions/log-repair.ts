import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isoTimestampOrNull } from '../../domain/calendar.ts';
import { systemClock } from '../../domain/clock.ts';
import { nodeLogFiles } from '../../event-log/log-files.ts';
import type { LogLocation } from '../../event-log/log-scanner.ts';
import { countRecordsAfterCut, type RepairPlan, repairLog, validateCut } from '../../event-log/repair-log.ts';
import { createFolderDurably } from '../../files/durable-files.ts';
import { type FolderLock, lockFolder } from '../../files/folder-lock.ts';
import { CommandLineError } from '../command-line-error.ts';
import { formatTimestamp, printJson, printNotice, printResult } from '../output.ts';
import { runInterruptible } from '../signals.ts';
import { RecordTimeSpan } from './log.ts';
import { checkLogWithProgress, resolveLogFolder, toLogCommandError } from './log-folder.ts';

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

export interface RepairOptions {
  readonly cut: LogLocation;
  readonly yes?: true;
  readonly json?: true;
}

export async function repairLogAtCut(named: string | undefined, options: RepairOptions): Promise<void> {
  const { cut, yes, json } = options;
  const locks: FolderLock[] = [];
  try {
    const given = resolveLogFolder(named);
    const folder = realpathSync(given);
    // The service locks the data folder, which holds the log or a link to it.
    for (const parent of new Set([dirname(given), dirname(folder)].map((path) => realpathSync(path)))) {
      locks.push(lockFolder(parent));
    }
    const check = await runInterruptible((signal) => checkLogWithProgress(folder, options, { signal }));
    const verdict = validateCut(nodeLogFiles, check, {
      file: resolveSegmentFile(folder, given, cut.file),
      offset: cut.offset,
    });
    switch (verdict.kind) {
      case 'done':
        if (json) printJson({ outcome: 'nothing_to_cut' });
        else printResult('The log is whole and ends there: there is nothing to cut.');
        return;
      case 'no-damage':
        throw new CommandLineError('the log is whole; it is not cut where it is not damaged');
      case 'elsewhere': {
        const { file, offset, message } = verdict.damage;
        throw new CommandLineError(`the damage is not there but at ${basename(file)}:${offset}; ${message}`);
      }
      case 'damage':
        await executeRepair(folder, verdict.plan, check.records, { yes: yes ?? false, json: json ?? false });
    }
  } catch (fault) {
    throw toLogCommandError(fault);
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
  const moment = formatTimestamp(systemClock.wallMs()).replaceAll(/[-:.]/g, '');
  const removedFolder = `${folder}-removed-${moment}`;
  if (statSync(folder).dev !== statSync(dirname(folder)).dev) {
    throw new CommandLineError(`${folder} is a file system of its own: nothing can be moved to a folder beside it`);
  }
  const timeSpan = new RecordTimeSpan();
  const behind = countRecordsAfterCut(nodeLogFiles, plan, (record) => timeSpan.include(record));
  const repairing: RepairReport = {
    plan,
    keptRecords,
    removedFolder,
    timeSpan,
    readableRecords: behind.records,
    lostRecords: behind.position - plan.position - behind.records,
  };
  if (yes) await repairLog(nodeLogFiles, plan, removedFolder);
  if (json) {
    printJson(repairToJson(repairing, yes));
    return;
  }
  printResult(`${yes ? 'This has been done' : 'This is what would be done'}:\n\n${formatRepair(repairing)}`);
  if (!yes) printNotice('Nothing has been changed. Add --yes to do it.');
}

/** A repair, as it is told before and after. */
interface RepairReport {
  readonly plan: RepairPlan;
  /** Records that stay. */
  readonly keptRecords: number;
  readonly removedFolder: string;
  /** When the records happened that can be read in what is set aside, and how many they are. */
  readonly timeSpan: RecordTimeSpan;
  readonly readableRecords: number;
  /** How many cannot be read. */
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
  const aside: string[] = [];
  if (end !== null && removedBytes > 0) aside.push(`${removedBytes} bytes at the end of ${basename(end.file)}`);
  if (oldest !== undefined) aside.push(`segment ${basename(oldest)}`);
  if (newest !== undefined && newest !== oldest) aside.push(`and all ${laterSegments.length - 1} after it`);
  const told =
    readableRecords === 0
      ? 'no record in there can be read'
      : `${readableRecords} records in there can be read, from ${formatTimestamp(timeSpan.firstMs)} to ${formatTimestamp(timeSpan.lastMs)}`;
  return [
    `kept       ${keptRecords === 0 ? 'nothing' : `${keptRecords} records, up to position ${position}`}`,
    `set aside  ${aside.join(', ')}`,
    `           ${told}${lostRecords > 0 ? `; ${lostRecords} cannot` : ''}`,
    `into       ${removedFolder}`,
    '',
    'What the records set aside told, counts no longer: their sessions, views, clicks and revenue. The next start of the',
    'service rebuilds the analytics from what is kept, and goes on behind it. Live sessions among them are over.',
  ].join('\n');
}

/** A file as `log verify` prints it, which may be by another path to the same folder, or by its name alone. */
function resolveSegmentFile(folder: string, given: string, file: string): string {
  if (basename(file) === file || dirname(resolve(file)) === given) return join(folder, basename(file));
  return resolve(file);
}
