import { basename } from 'node:path';
import { Command } from 'commander';
import type { LogCheck } from '../events/check-log.ts';
import { checkWithProgress } from './check-with-progress.ts';
import { logFailure, logFolder } from './log-folder.ts';
import { printResult, say, timestamp } from './output.ts';
import { TimeSpan } from './time-span.ts';

export function logVerifyCommand(): Command {
  return new Command('verify')
    .summary('read a whole log and say whether it is whole')
    .description(
      'Reads every record of a log, and what ties it to the one before. Changes nothing; a server may be running.',
    )
    .argument('[folder]', 'the folder of the log (default: the ledger of the data folder)')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace log verify
  $ marketplace log verify /backup/data/ledger --json | jq .damage`,
    )
    .action(verify);
}

function verify(named: string | undefined, options: { readonly json?: true }): void {
  try {
    const span = new TimeSpan();
    const check = checkWithProgress(logFolder(named), (_position, record) => span.include(record));
    printResult(options.json ? JSON.stringify(jsonOf(check, span)) : textOf(check, span));
    if (check.damage === null) return;
    if (!options.json) {
      const { file, offset } = check.damage;
      say(`marketplace: log repair --cut ${basename(file)}:${offset} shows what a repair would set aside`);
    }
    throw check.damage;
  } catch (fault) {
    throw logFailure(fault);
  }
}

function jsonOf(check: LogCheck, { firstMs, lastMs }: TimeSpan) {
  const { folder, segments, bytes, records, position, tornBytes, damage } = check;
  return {
    folder,
    segments,
    bytes,
    records,
    first_position: records > 0 ? position - records + 1 : null,
    last_position: records > 0 ? position : null,
    first_at: firstMs === null ? null : timestamp(firstMs),
    last_at: lastMs === null ? null : timestamp(lastMs),
    tail_bytes: tornBytes,
    damage: damage && { file: damage.file, offset: damage.offset, what: damage.what },
  };
}

function textOf(check: LogCheck, { firstMs, lastMs }: TimeSpan): string {
  const { folder, segments, bytes, records, position, tornBytes, damage } = check;
  const tail = `; ends in ${tornBytes} bytes that are no whole record (a write under way or a torn tail; the next start cuts it)`;
  const rows = [
    ['folder', folder],
    ['segments', String(segments)],
    ['bytes', String(bytes)],
    ['records', records === 0 ? '0' : `${records}, at positions ${position - records + 1} to ${position}`],
    ['first', timestamp(firstMs)],
    ['last', timestamp(lastMs)],
    ['state', damage === null ? `whole${tornBytes > 0 ? tail : ''}` : `damaged behind these records`],
  ];
  return rows.map(([name, value]) => `${name?.padEnd(10)}${value}`).join('\n');
}
