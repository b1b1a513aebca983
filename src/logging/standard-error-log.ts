import { fstatSync } from 'node:fs';
import process from 'node:process';
import { type Level, type Logger, pino } from 'pino';
import sonicBoom from 'sonic-boom';
import { bounds } from '../bounds.ts';
import { errorSerializers } from './describe-error.ts';

export interface ProcessLog {
  readonly logger: Logger;
  /** Waits until all lines are written. Returns false if writing takes longer than `bounds.loggerFlushTimeoutMs`. */
  flush(): Promise<boolean>;
}

/**
 * Creates a log that writes JSON lines to standard error. Timestamps are ISO 8601 text on a terminal, and Unix milliseconds otherwise.
 *
 * A process that reads standard error slowly cannot block the service. If standard error is a pipe or a socket, lines are buffered up to a
 * limit, and lines above the limit are dropped and counted. If standard error is a file, lines are written synchronously. Lines that cannot
 * be written, for example because the disk is full, stay in the buffer, and are written with a later line.
 *
 * @param shard number that every line carries; absent for a process that is no shard
 */
export function createStandardErrorLog(level: Level | 'silent', shard?: number): ProcessLog {
  const timestamp = process.stderr.isTTY ? pino.stdTimeFunctions.isoTime : pino.stdTimeFunctions.epochTime;
  // The access to `process.stderr` above makes a pipe or socket non-blocking, so that no thread waits for its reader.
  const stats = fstatSync(2);
  const destination = new sonicBoom.SonicBoom({
    fd: 2,
    sync: !stats.isFIFO() && !stats.isSocket(),
    maxLength: bounds.loggerBufferBytesMax,
    // With the default 0, `flush` would not wait.
    minLength: 1,
    // Several shards write to one pipe. Writes of up to `PIPE_BUF` bytes, which are whole lines, are not mixed.
    ...(shard !== undefined && { maxWrite: bounds.atomicPipeWriteBytes }),
  });
  const base = shard === undefined ? null : { shard };
  let droppedLines = 0;
  destination.on('drop', () => {
    droppedLines += 1;
  });
  // Without a listener, an error, such as that of a closed pipe, would terminate the process.
  destination.on('error', () => {});
  const write = (line: string): void => {
    if (droppedLines === 0) return void destination.write(line);
    // If the buffer is full because of an error, such as that of a full disk, only `flush` repeats the write.
    destination.flush();
    const droppedBefore = droppedLines;
    droppedLines = 0;
    destination.write(formatDroppedLines(droppedBefore, timestamp(), base) + line);
    // The report is dropped together with the line.
    if (droppedLines > 0) droppedLines += droppedBefore;
  };
  return {
    logger: pino({ level, base, timestamp, serializers: errorSerializers }, { write }),
    flush() {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(false), bounds.loggerFlushTimeoutMs);
      // If a write fails, `flush` calls the callback with the error.
      destination.flush(() => resolve(true));
      return promise.finally(() => clearTimeout(timer));
    },
  };
}

/** @param time text `,"time":...` for a log line */
function formatDroppedLines(lines: number, time: string, base: object | null): string {
  const members = JSON.stringify({ ...base, lines, msg: 'log lines dropped: standard error was not writable' });
  return `{"level":${pino.levels.values.warn}${time},${members.slice(1)}\n`;
}
