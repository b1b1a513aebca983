import { fstatSync, writeSync } from 'node:fs';
import process from 'node:process';
import { type Level, type Logger, pino } from 'pino';
import { bounds } from '../bounds.ts';

/** The log of a process, on its standard error. */
interface ProcessLog {
  readonly logger: Logger;
  /** Waits until all of it is written; false when its reader has not taken it in time. */
  flush(): Promise<boolean>;
}

/**
 * A log as JSON lines on standard error. Times are in ISO 8601 on a terminal, and in milliseconds since 1970 elsewhere.
 *
 * Whoever reads it cannot hold the service up: to a pipe or socket it is written as its reader takes it, lines beyond a bound are
 * left out and counted, and a reader who went away ends the log, not the process. A file is written to at once; a line that does
 * not fit on the disk is left out.
 */
export function createStandardErrorLog(level: Level | 'silent'): ProcessLog {
  const timestamp = process.stderr.isTTY ? pino.stdTimeFunctions.isoTime : pino.stdTimeFunctions.epochTime;
  const leftOut = new DroppedLines(timestamp);
  const destination = isStandardErrorStream()
    ? new StreamDestination(process.stderr, leftOut)
    : new FileDestination(leftOut);
  return { logger: pino({ level, base: null, timestamp }, destination), flush: () => destination.flush() };
}

/** Node.js writes to pipes, sockets and terminals without waiting or through the terminal; to all else it would wait, and give up for good after one error. */
function isStandardErrorStream(): boolean {
  const stats = fstatSync(2);
  return stats.isFIFO() || stats.isSocket() || process.stderr.isTTY === true;
}

/** Counts lines that were left out, and tells the count once lines get through again. */
class DroppedLines {
  readonly #timestamp: () => string;
  #lines = 0;

  /** @param timestamp returns the member `time` of a line, after a comma */
  constructor(timestamp: () => string) {
    this.#timestamp = timestamp;
  }

  get lines(): number {
    return this.#lines;
  }

  add(lines = 1): void {
    this.#lines += lines;
  }

  /** The line to write before the next one; empty when none was left out. */
  takeReport(): string {
    if (this.#lines === 0) return '';
    const line = { lines: this.#lines, msg: 'log lines left out while standard error could not be written' };
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
    // Without a listener the reader's end would be the end of the process.
    stream.on('error', () => {});
  }

  write(line: string): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    if (stream.writableLength + line.length > bounds.loggerBufferBytesMax) this.#dropped.add();
    else stream.write(this.#dropped.takeReport() + line);
  }

  flush(): Promise<boolean> {
    const stream = this.#stream;
    if (stream.destroyed || stream.writableLength === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const tooLong = setTimeout(() => resolve(false), bounds.loggerFlushTimeoutMs);
      stream.write('', () => {
        clearTimeout(tooLong);
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
    const leftOut = this.#dropped.lines;
    try {
      writeFully(this.#dropped.takeReport() + line);
    } catch {
      this.#dropped.add(leftOut + 1);
    }
  }

  flush(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

/** A full disk may take the beginning of a line, and the rest once there is room again. */
function writeFully(text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(2, bytes, written);
}
