import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readDataDir } from '../../config/config.ts';
import { formatIsoTimestampOrNull } from '../../domain/calendar.ts';
import { systemClock } from '../../domain/clock.ts';
import { nodeFileSystem } from '../../event-log/log-files.ts';
import type { LogLocation } from '../../event-log/log-scanner.ts';
import { countTruncatedRecords, type RepairPlan, repairLog, validateTruncation } from '../../event-log/repair-log.ts';
import { type FolderLock, lockFolder } from '../../files/folder-lock.ts';
import { CommandLineError, defineCommand } from '../command.ts';
import { createCommandRecorder } from '../command-recorder.ts';
import { checkFolderClock, readFolderClock } from '../folder-clock.ts';
import { formatTimestamp, printJson, printNotice, printResult } from '../output.ts';
import {
  acceptMissingJournal,
  acceptMissingLedger,
  acceptRemovedRecords,
  dryRunNotice,
  type RepairOptions,
} from './accept-loss.ts';
import { checkLogWithProgress, LogTimeRange, resolveLogFolder, withLockedDataFolder } from './log-folder.ts';
import { findShardFolders } from './shard-folders.ts';

interface LogRepairOptions extends RepairOptions {
  readonly cut?: LogLocation;
  readonly acceptMissingLedger?: true;
  readonly acceptMissingJournal?: true;
}

export function createRepairCommand(): Command {
  return defineCommand('repair', {
    summary: 'cut a damaged log at the damage that log verify found',
    description:
      'Cuts a log at its first damage, so that the service can open the log again. Records before the damage stay; everything after it, ' +
      'including intact records, is moved unchanged to a folder beside the log. With --accept-missing-ledger or --accept-missing-journal, ' +
      'the command instead accepts that a part of the ledger, of the archived figures, or of the journal is lost. The service must be stopped. Without --yes, the command only prints ' +
      'what it would do. If the command is killed, run the command again.',
    examples: [
      'marketplace log repair --cut 0000000000000001.log:4096',
      'marketplace log repair --cut 0000000000000001.log:4096 --yes',
      'marketplace log repair --accept-missing-ledger',
      'marketplace log repair --accept-missing-journal',
    ],
    exitCodes: {
      0: 'the repair is done or printed, or the log already ends there',
      1: 'refused or failed; the reason is on standard error',
      130: null,
    },
    json:
      'one object: outcome, kept_records, kept_to_position, moved_bytes, moved_segments, moved_records, moved_first_at, ' +
      'moved_last_at, lost_records, removed_folder, analytics_moved_to',
  })
    .argument('[folder]', 'folder of the log (default: the ledger of the data folder)')
    .option('--cut <file:offset>', 'file and offset of the damage, as printed by log verify', parseLogLocation)
    .addOption(
      new Option(
        '--accept-missing-ledger',
        'continue without the missing records of the ledger and figures of the archive',
      ).conflicts(['cut', 'acceptMissingJournal']),
    )
    .addOption(
      new Option(
        '--accept-missing-journal',
        'continue without the journal: inputs of live sessions must be submitted again',
      ).conflicts('cut'),
    )
    .option('--yes', 'make the changes')
    .action(async (folder: string | undefined, options: LogRepairOptions, command: Command) => {
      const { cut, acceptMissingLedger: acceptsLedger, acceptMissingJournal: acceptsJournal } = options;
      const accept = acceptsLedger ? acceptMissingLedger : acceptsJournal ? acceptMissingJournal : null;
      const dataDir = folder === undefined ? readDataDir() : dirname(resolve(folder));
      if (accept !== null) {
        await withLockedDataFolder(dataDir, options, async () => {
          const shards = folder === undefined ? findShardFolders(dataDir, acceptsLedger) : [dataDir];
          for (const shardDir of shards) await accept(shardDir, options);
        });
      } else if (cut !== undefined) await repairLogAtCut(folder, cut, options);
      else {
        command.error(
          "error: one of the options '--cut <file:offset>', '--accept-missing-ledger' and '--accept-missing-journal' is required",
        );
      }
    });
}

function parseLogLocation(text: string): LogLocation {
  const [, file, offset] = /^(.+):(\d{1,15})$/.exec(text) ?? [];
  if (file === undefined) throw new InvalidArgumentError('The position must look like 0000000000000001.log:4096.');
  return { file, offset: Number(offset) };
}

async function repairLogAtCut(named: string | undefined, cut: LogLocation, options: RepairOptions): Promise<void> {
  const locks: FolderLock[] = [];
  try {
    const namedFolder = resolveLogFolder(named);
    const folder = realpathSync(namedFolder);
    // A running service locks its data folder. The data folder may contain only a link to the log, so the folder that contains the link and
    // the folder that contains the log are locked.
    for (const dataDir of new Set([namedFolder, folder].map((log) => realpathSync(dataFolderOfLog(log))))) {
      locks.push(lockFolder(dataDir));
    }
    checkFolderClock(dataFolderOfLog(namedFolder));
    const check = await checkLogWithProgress(folder, options);
    const verdict = validateTruncation(nodeFileSystem, check, {
      file: resolveSegmentFile(folder, namedFolder, cut.file),
      offset: cut.offset,
    });
    switch (verdict.kind) {
      case 'done':
        if (options.json) printJson({ outcome: 'nothing_to_cut' });
        else printResult('The log is intact and ends at this position: nothing to cut.');
        return;
      case 'no-damage':
        throw new CommandLineError('the log is intact; only a damaged log can be cut');
      case 'elsewhere': {
        const { file, offset, message } = verdict.damage;
        throw new CommandLineError(`the damage is at ${basename(file)}:${offset}, not at this position; ${message}`);
      }
      case 'damage':
        await executeRepair({ folder, namedFolder }, verdict.plan, check.records, options);
    }
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Returns the folder that contains the ledger or another log, or the folder that contains the journal of a log. */
function dataFolderOfLog(log: string): string {
  const parent = dirname(log);
  return basename(parent) === 'journal' && /^\d+$/.test(basename(log)) ? dirname(parent) : parent;
}

async function executeRepair(
  { folder, namedFolder }: { readonly folder: string; readonly namedFolder: string },
  plan: RepairPlan,
  keptRecords: number,
  { yes, json }: RepairOptions,
): Promise<void> {
  const timestamp = formatTimestamp(systemClock.wallMs()).replaceAll(/[-:.]/g, '');
  const removedFolder = `${folder}-removed-${timestamp}`;
  if (statSync(folder).dev !== statSync(dirname(folder)).dev) {
    throw new CommandLineError(`${folder} is a mount point: its files cannot be moved to a folder beside it`);
  }
  const timeSpan = new LogTimeRange();
  const removed = countTruncatedRecords(nodeFileSystem, plan, (record) => timeSpan.extendTimeRange(record));
  if (yes) {
    const dataDir = dataFolderOfLog(namedFolder);
    createCommandRecorder(dataDir, readFolderClock(dataDir))('log.repair', relative(dataDir, namedFolder), {
      kept_to_position: plan.position,
      moved_records: removed.records,
      removed_folder: basename(removedFolder),
    });
    await repairLog(nodeFileSystem, plan, removedFolder);
  }
  const movedStore = yes ? acceptRemovedRecords(namedFolder, plan) : null;
  const report = {
    outcome: yes ? 'cut' : 'would_cut',
    kept_records: keptRecords,
    kept_to_position: plan.position,
    moved_bytes: plan.removedBytes,
    moved_segments: plan.laterSegments.length,
    moved_records: removed.records,
    moved_first_at: formatIsoTimestampOrNull(timeSpan.firstMs),
    moved_last_at: formatIsoTimestampOrNull(timeSpan.lastMs),
    lost_records: Math.max(0, removed.position - plan.position - removed.records),
    removed_folder: removedFolder,
    analytics_moved_to: movedStore,
  };
  if (json) {
    printJson(report);
    return;
  }
  const { moved_records: readable, moved_first_at: firstAt, moved_last_at: lastAt, lost_records: lost } = report;
  const span =
    readable === 0 ? 'no readable records' : `${readable} readable records, from ${firstAt ?? '-'} to ${lastAt ?? '-'}`;
  const text = [
    `kept     ${keptRecords === 0 ? 'nothing' : `${keptRecords} records, up to position ${plan.position}`}`,
    `moved    ${describeMovedFiles(plan)}`,
    `         ${span}${lost > 0 ? `; ${lost} unreadable` : ''}`,
    `into     ${removedFolder}`,
    '',
    'Events in the moved records no longer count: their sessions, views, clicks and revenue. The next start of the service',
    'rebuilds the analytics from the records that are kept. Live sessions in the moved records end.',
    ...(movedStore === null ? [] : [`The previous figures are in ${movedStore}.`]),
  ];
  printResult(`${yes ? 'Done' : 'Would do'}:\n\n${text.join('\n')}`);
  if (!yes) printNotice(dryRunNotice);
}

function describeMovedFiles({ end, removedBytes, laterSegments }: RepairPlan): string {
  const [oldest, newest] = [laterSegments[0], laterSegments.at(-1)];
  const moved: string[] = [];
  if (end !== null && removedBytes > 0) moved.push(`${removedBytes} bytes at the end of ${basename(end.file)}`);
  if (oldest !== undefined) moved.push(`segment ${basename(oldest)}`);
  if (newest !== undefined && newest !== oldest) moved.push(`and the ${laterSegments.length - 1} segments after it`);
  return moved.join(', ');
}

/** Returns the path of a segment in `folder`. `file` may be a file name, a path that `log verify` printed, or a path through a link. */
function resolveSegmentFile(folder: string, namedFolder: string, file: string): string {
  if (basename(file) === file || dirname(resolve(file)) === namedFolder) return join(folder, basename(file));
  return resolve(file);
}
