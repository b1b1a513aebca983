import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { type EventLog, LogUnavailableError } from './event-log.ts';
import type { LogFiles } from './log-files.ts';
import { segmentFirstSequences, segmentHeaderBytes, segmentFileName } from './log-format.ts';
import { LogReader } from './log-reader.ts';
import { newestSegmentStartedBefore, type ReadSince } from './log-recovery.ts';
import { SegmentReader } from './segment-reader.ts';

/**
 * Visits the records that a log, open in this process, has taken up to the moment of the call, in order, from the newest
 * segment on that was begun before `since`. It gives way to the event loop between small pieces, and waits for the last of
 * the records to become durable.
 *
 * @throws LogUnavailableError when the log cannot be written just now, LogDamagedError when a record cannot be read.
 */
export async function readOpenLog(
  files: LogFiles,
  folder: string,
  log: Pick<EventLog, 'appendedPosition' | 'durablePosition' | 'healthy'>,
  since: ReadSince,
  visit: (record: unknown) => void,
): Promise<void> {
  const last = log.appendedPosition;
  while (log.durablePosition < last) {
    if (!log.healthy) throw new LogUnavailableError('the log cannot be written', null);
    await pause(bounds.logLingerMs);
  }
  const first = newestSegmentStartedBefore(files, folder, segmentFirstSequences(files.listNames(folder)), since);
  const reader = new LogReader(folder, first === undefined ? null : segmentStartCursor(files, folder, first), files);
  try {
    while (reader.read(last, bounds.logRecordsReadPerTurn, (_position, record) => visit(record)) > 0) await nextTurn();
  } finally {
    reader.close();
  }
}

/** Ahead of the first record of a segment. */
function segmentStartCursor(files: LogFiles, folder: string, first: number) {
  const segment = new SegmentReader(files, join(folder, segmentFileName(first)));
  try {
    return { position: first - 1, segment: first, offset: segmentHeaderBytes, crc: segment.readHeader().previousCrc };
  } finally {
    segment.close();
  }
}
