import { fstatSync, writeSync } from 'node:fs';
import process from 'node:process';
import { type Level, type Logger, pino } from 'pino';
import { bounds } from '../bounds.ts';
import { errorSerializers } from './describe-error.ts';

interface ProcessLog {
  readonly logger: Logger;
  /** Waits until all lines are written. Returns false if this takes longer than `bounds.loggerFlushTimeoutMs`. */
  flush(): Promise<boolean>;
}

/**
 * Creates a log of JSON lines on standard error. Timestamps have the ISO 8601 format on a terminal, and are Unix milliseconds otherwise.
 *
 * A slow reader cannot block the service. Lines for a pipe or socket are buffered up to a limit; further lines are dropped and counted. If
 * the reader exits, the log stops and the process continues. Lines for a file are written synchronously, and are dropped if the disk is
 * full.
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

/** Whether lines are written through `process.stderr`. Files are not, because that stream stops permanently after one error. */
function isStandardErrorStream(): boolean {
  const stats = fstatSync(2);
  return stats.isFIFO() || stats.isSocket() || process.stderr.isTTY === true;
}

/** Counts dropped lines, and reports their number with the next line that is written. */
class DroppedLines {
  readonly #timestamp: () => string;
  #lines = 0;

  /** @param timestamp returns the text `,"time":...` for a log line */
  constructor(timestamp: () => string) {
    this.#timestamp = timestamp;
  }

  get lines(): number {
    return this.#lines;
  }

  add(lines = 1): void {
    this.#lines += lines;
  }

  /** Returns the report line and resets the count. Returns an empty string if no line was dropped. */
  takeReport(): string {
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
    // Without an error listener, the error of a closed pipe would terminate the process.
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
    const droppedBefore = this.#dropped.lines;
    try {
      writeFully(this.#dropped.takeReport() + line);
    } catch {
      this.#dropped.add(droppedBefore + 1);
    }
  }

  flush(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

/** Writes the whole text. A partial write, which happens on a nearly full disk, is continued with the rest. */
function writeFully(text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(2, bytes, written);
}
