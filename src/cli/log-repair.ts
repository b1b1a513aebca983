import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { systemClock } from '../domain/clock.ts';
import { isoTimestampOrNull } from '../domain/iso-or-null.ts';
import { type FolderLock, lockFolder } from '../events/folder-lock.ts';
import type { LogLocation } from '../events/log-walk.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { validateCut, type RepairPlan, countRecordsAfterCut, repairLog } from '../events/repair-log.ts';
import { checkLogWithProgress } from './check-with-progress.ts';
import { CommandLineError } from './command-line-error.ts';
import { runInterruptible } from './interruptible.ts';
import { toLogCommandError, resolveLogFolder } from './log-folder.ts';
import { printJson, printResult, printNotice, formatTimestamp } from './output.ts';
import { RecordTimeSpan } from './time-span.ts';

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
    const verdict = validateCut(nodeLogFiles, check, { file: resolveSegmentFile(folder, given, cut.file), offset: cut.offset });
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
  kept: number,
  { yes, json }: { readonly yes: boolean; readonly json: boolean },
): Promise<void> {
  const moment = formatTimestamp(systemClock.wallMs()).replaceAll(/[-:.]/g, '');
  const removedFolder = `${folder}-removed-${moment}`;
  if (statSync(folder).dev !== statSync(dirname(folder)).dev) {
    throw new CommandLineError(`${folder} is a file system of its own: nothing can be moved to a folder beside it`);
  }
  const span = new RecordTimeSpan();
  const behind = countRecordsAfterCut(nodeLogFiles, plan, (record) => span.include(record));
  const repairing: RepairReport = {
    plan,
    keptRecords: kept,
    removedFolder,
    timeSpan: span,
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

function repairToJson({ plan, keptRecords: kept, removedFolder, timeSpan: span, readableRecords: readable, lostRecords: lost }: RepairReport, done: boolean) {
  return {
    outcome: done ? 'cut' : 'would_cut',
    kept_records: kept,
    kept_to_position: plan.position,
    moved_bytes: plan.removedBytes,
    moved_segments: plan.laterSegments.length,
    moved_records: readable,
    moved_first_at: isoTimestampOrNull(span.firstMs),
    moved_last_at: isoTimestampOrNull(span.lastMs),
    lost_records: Math.max(0, lost),
    removed_folder: removedFolder,
  };
}

function formatRepair({ plan, keptRecords: kept, removedFolder, timeSpan: span, readableRecords: readable, lostRecords: lost }: RepairReport): string {
  const { position, end, removedBytes: restBytes, laterSegments: later } = plan;
  const [oldest, newest] = [later[0], later.at(-1)];
  const aside: string[] = [];
  if (end !== null && restBytes > 0) aside.push(`${restBytes} bytes at the end of ${basename(end.file)}`);
  if (oldest !== undefined) aside.push(`segment ${basename(oldest)}`);
  if (newest !== undefined && newest !== oldest) aside.push(`and all ${later.length - 1} after it`);
  const told =
    readable === 0
      ? 'no record in there can be read'
      : `${readable} records in there can be read, from ${formatTimestamp(span.firstMs)} to ${formatTimestamp(span.lastMs)}`;
  return [
    `kept       ${kept === 0 ? 'nothing' : `${kept} records, up to position ${position}`}`,
    `set aside  ${aside.join(', ')}`,
    `           ${told}${lost > 0 ? `; ${lost} cannot` : ''}`,
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
