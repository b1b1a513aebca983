import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { systemClock } from '../domain/clock.ts';
import { type FolderLock, lockFolder } from '../events/folder-lock.ts';
import type { LogPlace } from '../events/log-walk.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { judgeCut, type RepairPlan, readBehind, repairLog } from '../events/repair-log.ts';
import { checkWithProgress } from './check-with-progress.ts';
import { CommandLineError } from './command-line-error.ts';
import { logFailure, logFolder } from './log-folder.ts';
import { printResult, say, timestamp } from './output.ts';
import { TimeSpan } from './time-span.ts';

interface Options {
  readonly cut: LogPlace;
  readonly yes?: true;
}

export function logRepairCommand(): Command {
  return new Command('repair')
    .summary('cut a damaged log where log verify found the damage')
    .description(
      'Cuts a log at its first damage, so that it opens again. What is before it stays; all that is behind it, also what is\n' +
        'whole, is moved unchanged into a folder beside the log. The service must be stopped. Without --yes it only says\n' +
        'what it would do. Killed at any moment, it can be run again.',
    )
    .argument('[folder]', 'the folder of the log (default: the ledger of the data folder)')
    .requiredOption('--cut <file:offset>', 'the damage, as log verify names it', place)
    .option('--yes', 'do it')
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace log repair --cut 0000000000000001.log:4096
  $ marketplace log repair --cut 0000000000000001.log:4096 --yes`,
    )
    .action(repair);
}

async function repair(named: string | undefined, { cut, yes }: Options): Promise<void> {
  const locks: FolderLock[] = [];
  try {
    const given = logFolder(named);
    const folder = realpathSync(given);
    // The service locks the data folder, which holds the log or a link to it.
    for (const parent of new Set([dirname(given), dirname(folder)].map((path) => realpathSync(path)))) {
      locks.push(lockFolder(parent));
    }
    const check = checkWithProgress(folder);
    const verdict = judgeCut(nodeLogFiles, check, { file: fileIn(folder, given, cut.file), offset: cut.offset });
    switch (verdict.kind) {
      case 'done':
        printResult('The log is whole and ends there: there is nothing to cut.');
        return;
      case 'no-damage':
        throw new CommandLineError('the log is whole; it is not cut where it is not damaged');
      case 'elsewhere': {
        const { file, offset, message } = verdict.damage;
        throw new CommandLineError(`the damage is not there but at ${basename(file)}:${offset}; ${message}`);
      }
      case 'damage':
        await carryOut(folder, verdict.plan, check.records, yes ?? false);
    }
  } catch (fault) {
    throw logFailure(fault);
  } finally {
    for (const lock of locks) lock.release();
  }
}

async function carryOut(folder: string, plan: RepairPlan, kept: number, yes: boolean): Promise<void> {
  const moment = timestamp(systemClock.wallMs()).replaceAll(/[-:.]/g, '');
  const removedFolder = `${folder}-removed-${moment}`;
  if (statSync(folder).dev !== statSync(dirname(folder)).dev) {
    throw new CommandLineError(`${folder} is a file system of its own: nothing can be moved to a folder beside it`);
  }
  const report = reportOf(plan, kept, removedFolder);
  if (!yes) {
    printResult(`This is what would be done:\n\n${report}`);
    say('Nothing has been changed. Add --yes to do it.');
    return;
  }
  await repairLog(nodeLogFiles, plan, removedFolder);
  printResult(`This has been done:\n\n${report}`);
}

function reportOf(plan: RepairPlan, kept: number, removedFolder: string): string {
  const { position, end, restBytes, later } = plan;
  const span = new TimeSpan();
  const behind = readBehind(nodeLogFiles, plan, (record) => span.include(record));
  const [oldest, newest] = [later[0], later.at(-1)];
  const aside: string[] = [];
  if (end !== null && restBytes > 0) aside.push(`${restBytes} bytes at the end of ${basename(end.file)}`);
  if (oldest !== undefined) aside.push(`segment ${basename(oldest)}`);
  if (newest !== undefined && newest !== oldest) aside.push(`and all ${later.length - 1} after it`);
  const lost = behind.position - position - behind.records;
  const readable =
    behind.records === 0
      ? 'no record in there can be read'
      : `${behind.records} records in there can be read, up to position ${behind.position}, from ${timestamp(span.firstMs)} to ${timestamp(span.lastMs)}`;
  return [
    `kept       ${kept === 0 ? 'nothing' : `${kept} records, up to position ${position}`}`,
    `set aside  ${aside.join(', ')}`,
    `           ${readable}${lost > 0 ? `; ${lost} before that cannot` : ''}`,
    `into       ${removedFolder}`,
    '',
    'What the records set aside told, counts no longer: their sessions, views, clicks and revenue. The next start of the',
    'service rebuilds the analytics from what is kept, and goes on behind it. Live sessions among them are over.',
  ].join('\n');
}

/** A file as `log verify` prints it, which may be by another path to the same folder, or by its name alone. */
function fileIn(folder: string, given: string, file: string): string {
  if (basename(file) === file || dirname(resolve(file)) === given) return join(folder, basename(file));
  return resolve(file);
}

function place(text: string): LogPlace {
  const [, file, offset] = /^(.+):(\d{1,15})$/.exec(text) ?? [];
  if (file === undefined) throw new InvalidArgumentError('It must be like 0000000000000001.log:4096.');
  return { file, offset: Number(offset) };
}
