import { basename } from 'node:path';
import { isoTimestampOrNull } from '../domain/iso-or-null.ts';
import type { LogVerification } from '../events/check-log.ts';
import { checkLogWithProgress } from './check-with-progress.ts';
import { runInterruptible } from './interruptible.ts';
import { toLogCommandError, resolveLogFolder } from './log-folder.ts';
import { formatNameValues, printJson, printResult, printNotice, formatTimestamp } from './output.ts';
import { RecordTimeSpan } from './time-span.ts';

export async function verifyLog(named: string | undefined, asked: { readonly json?: true }): Promise<void> {
  try {
    const span = new RecordTimeSpan();
    const folder = resolveLogFolder(named);
    const onRecord = (_position: number, record: readonly unknown[]): void => span.include(record);
    const check = await runInterruptible((signal) => checkLogWithProgress(folder, asked, { onRecord, signal }));
    if (asked.json) printJson(checkToJson(check, span));
    else printResult(formatLogCheck(check, span));
    if (check.damage === null) return;
    if (!asked.json) {
      const { file, offset } = check.damage;
      const which = named === undefined ? '' : ` ${named}`;
      printNotice(`marketplace: log repair${which} --cut ${basename(file)}:${offset} shows what a repair would set aside`);
    }
    throw check.damage;
  } catch (fault) {
    throw toLogCommandError(fault);
  }
}

function checkToJson(check: LogVerification, { firstMs, lastMs }: RecordTimeSpan) {
  const { folder, segments, bytes, records, position, tornBytes, damage } = check;
  return {
    folder,
    segments,
    bytes,
    records,
    first_position: records > 0 ? position - records + 1 : null,
    last_position: records > 0 ? position : null,
    first_at: isoTimestampOrNull(firstMs),
    last_at: isoTimestampOrNull(lastMs),
    tail_bytes: tornBytes,
    damage: damage && { file: damage.file, offset: damage.offset, what: damage.reason },
  };
}

function formatLogCheck(check: LogVerification, { firstMs, lastMs }: RecordTimeSpan): string {
  const { folder, segments, bytes, records, position, tornBytes, damage } = check;
  const tail = `; ends in ${tornBytes} bytes that are no whole record (a write under way or a torn tail; the next start moves it to a file of its own)`;
  const rows: [string, string][] = [
    ['folder', folder],
    ['segments', String(segments)],
    ['bytes', String(bytes)],
    ['records', records === 0 ? '0' : `${records}, at positions ${position - records + 1} to ${position}`],
    ['first', formatTimestamp(firstMs)],
    ['last', formatTimestamp(lastMs)],
    ['state', damage === null ? `whole${tornBytes > 0 ? tail : ''}` : `damaged behind these records`],
  ];
  return formatNameValues(rows, 10);
}
