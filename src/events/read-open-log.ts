import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { type EventLog, LogUnavailable } from './event-log.ts';
import type { LogFiles } from './log-files.ts';
import { firstSequences, headerBytes, segmentName } from './log-format.ts';
import { LogReader } from './log-reader.ts';
import { newestBegunBefore, type VisitSince } from './log-recovery.ts';
import { SegmentReader } from './segment-reader.ts';

/**
 * Visits the records that a log, open in this process, has taken up to the moment of the call, in order, from the newest
 * segment on that was begun before `since`. It gives way to the event loop between small pieces, and waits for the last of
 * the records to become durable.
 *
 * @throws LogUnavailable when the log cannot be written just now, LogDamaged when a record cannot be read.
 */
export async function readOpenLog(
  files: LogFiles,
  folder: string,
  log: Pick<EventLog, 'appendedPosition' | 'durablePosition' | 'healthy'>,
  since: VisitSince,
  visit: (record: unknown) => void,
): Promise<void> {
  const last = log.appendedPosition;
  while (log.durablePosition < last) {
    if (!log.healthy) throw new LogUnavailable('the log cannot be written', null);
    await pause(bounds.logNoteLingerMs);
  }
  const first = newestBegunBefore(files, folder, firstSequences(files.list(folder)), since);
  const reader = new LogReader(folder, first === undefined ? null : beginningOf(files, folder, first), files);
  try {
    while (reader.read(last, bounds.logRecordsReadAtOnce, (_position, record) => visit(record)) > 0) await nextTurn();
  } finally {
    reader.close();
  }
}

/** Ahead of the first record of a segment. */
function beginningOf(files: LogFiles, folder: string, first: number) {
  const segment = new SegmentReader(files, join(folder, segmentName(first)));
  try {
    return { position: first - 1, segment: first, offset: headerBytes, crc: segment.header().previousCrc };
  } finally {
    segment.close();
  }
}
