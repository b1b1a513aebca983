import { fstatSync, writeSync } from 'node:fs';
import process from 'node:process';
import { type Level, type Logger, pino } from 'pino';
import { bounds } from '../bounds.ts';
import { errorSerializers } from './describe-error.ts';

interface ProcessLog {
  readonly logger: Logger;
  /** Waits until all lines are written. Returns false if writing takes longer than `bounds.loggerFlushTimeoutMs`. */
  flush(): Promise<boolean>;
}

/**
 * Creates a log that writes JSON lines to standard error. Timestamps are ISO 8601 text on a terminal, and Unix milliseconds otherwise.
 *
 * A process that reads standard error slowly cannot block the service. If standard error is a pipe or a socket, lines are buffered up to a
 * limit, and lines above the limit are dropped and counted. If the process that reads standard error exits, logging stops, but the service
 * continues. If standard error is a file, lines are written synchronously, and are dropped if the disk is full.
 */
export function createStandardErrorLog(level: Level | 'silent'): ProcessLog {
  const timestamp = process.stderr.isTTY ? pino.stdTimeFunctions.isoTime : pino.stdTimeFunctions.epochTime;
  const dropped = new DroppedLines(timestamp);
  const destination = isStandardErrorStream()
    ? new StreamDestination(process.stderr, dropped)
    : new FileDestination(dropped);
  return {
    logger: pino({ level, base: null, timestamp, serializers: errorSerializers }, destination),
    flush: () => destination.flush(),
  };
}

/**
 * Whether lines are written through the stream `process.stderr`. If standard error is a file, lines are written to the file directly,
 * because the stream `process.stderr` stops writing after one error.
 */
function isStandardErrorStream(): boolean {
  const stats = fstatSync(2);
  return stats.isFIFO() || stats.isSocket() || process.stderr.isTTY === true;
}

/** Counts dropped lines. A report with the number of dropped lines is written before the next log line. */
class DroppedLines {
  readonly #timestamp: () => string;
  #lines = 0;

  /** @param timestamp function that returns the text `,"time":...` for a log line */
  constructor(timestamp: () => string) {
    this.#timestamp = timestamp;
  }

  get lineCount(): number {
    return this.#lines;
  }

  add(lines = 1): void {
    this.#lines += lines;
  }

  /** Returns a log line with the number of dropped lines, or an empty string if the number is 0. Resets the number to 0. */
  resetDroppedLineCounts(): string {
    if (this.#lines === 0) return '';
    const line = { lines: this.#lines, msg: 'log lines dropped: standard error was not writable' };
    this.#lines = 0;
    return `{"level":${pino.levels.values.warn}${this.#timestamp()},${JSON.stringify(line).slice(1)}\n`;
  }
}

class StreamDestination {
  readonly #stream: NodeJS.WriteStream;
  readonly #dropped: DroppedLines;

  constructor(stream: NodeJS.WriteStream, dropped: DroppedLines) {
    this.#stream = stream;
    this.#dropped = dropped;
    // Without an error listener, an error of a closed pipe would terminate the process.
    stream.on('error', () => {});
  }

  write(line: string): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    if (stream.writableLength + line.length > bounds.loggerBufferBytesMax) this.#dropped.add();
    else stream.write(this.#dropped.resetDroppedLineCounts() + line);
  }

  flush(): Promise<boolean> {
    const stream = this.#stream;
    if (stream.destroyed || stream.writableLength === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), bounds.loggerFlushTimeoutMs);
      stream.write('', () => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }
}

class FileDestination {
  readonly #dropped: DroppedLines;

  constructor(dropped: DroppedLines) {
    this.#dropped = dropped;
  }

  write(line: string): void {
    const droppedBefore = this.#dropped.lineCount;
    try {
      writeFully(this.#dropped.resetDroppedLineCounts() + line);
    } catch {
      this.#dropped.add(droppedBefore + 1);
    }
  }

  flush(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

/** Writes the whole text. Repeats the system call after a partial write, which happens on a nearly full disk. */
function writeFully(text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(2, bytes, written);
}
