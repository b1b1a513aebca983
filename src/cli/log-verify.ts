import { basename } from 'node:path';
import { isoOrNull } from '../domain/iso-or-null.ts';
import type { LogCheck } from '../events/check-log.ts';
import { checkWithProgress } from './check-with-progress.ts';
import { interruptible } from './interruptible.ts';
import { logFailure, logFolder } from './log-folder.ts';
import { facts, printJson, printResult, say, timestamp } from './output.ts';
import { TimeSpan } from './time-span.ts';

export async function verify(named: string | undefined, asked: { readonly json?: true }): Promise<void> {
  try {
    const span = new TimeSpan();
    const folder = logFolder(named);
    const onRecord = (_position: number, record: readonly unknown[]): void => span.include(record);
    const check = await interruptible((signal) => checkWithProgress(folder, asked, { onRecord, signal }));
    if (asked.json) printJson(jsonOf(check, span));
    else printResult(textOf(check, span));
    if (check.damage === null) return;
    if (!asked.json) {
      const { file, offset } = check.damage;
      const which = named === undefined ? '' : ` ${named}`;
      say(`marketplace: log repair${which} --cut ${basename(file)}:${offset} shows what a repair would set aside`);
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
    first_at: isoOrNull(firstMs),
    last_at: isoOrNull(lastMs),
    tail_bytes: tornBytes,
    damage: damage && { file: damage.file, offset: damage.offset, what: damage.what },
  };
}

function textOf(check: LogCheck, { firstMs, lastMs }: TimeSpan): string {
  const { folder, segments, bytes, records, position, tornBytes, damage } = check;
  const tail = `; ends in ${tornBytes} bytes that are no whole record (a write under way or a torn tail; the next start moves it to a file of its own)`;
  const rows: [string, string][] = [
    ['folder', folder],
    ['segments', String(segments)],
    ['bytes', String(bytes)],
    ['records', records === 0 ? '0' : `${records}, at positions ${position - records + 1} to ${position}`],
    ['first', timestamp(firstMs)],
    ['last', timestamp(lastMs)],
    ['state', damage === null ? `whole${tornBytes > 0 ? tail : ''}` : `damaged behind these records`],
  ];
  return facts(rows, 10);
}
