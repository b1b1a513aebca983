import { closeSync, createReadStream, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { bounds } from '../bounds.ts';
import { CommandLineError } from './command-line-error.ts';
import type { ConfirmationParser, ConfirmationRow } from './confirmation-file.ts';
import type { ConfirmationClient, RowOutcome } from './confirmation-sender.ts';

export interface ConfirmFileOptions {
  readonly path: string;
  readonly format: ConfirmationParser;
  readonly sender: Pick<ConfirmationClient, 'send'>;
  /** Replaced by this run's rejected rows once all are known, and removed when there are none. */
  readonly rejectedPath: string;
  /** Told how many more bytes of the file have been dealt with. */
  readonly onProgress: (bytes: number) => void;
}

export interface ConfirmFileResult {
  readonly rows: number;
  readonly accepted: number;
  readonly repeated: number;
  /** Rows in the file of rejected rows, by their reason; `unknown` for those that may have been taken. */
  readonly rejectedByReason: ReadonlyMap<string, number>;
}

/**
 * Streams a file of confirmations to a server, a batch at a time, so that its size does not matter. Doing it again is
 * harmless, which is also the remedy for a run that was cut short.
 */
export async function sendConfirmationFile(options: ConfirmFileOptions): Promise<ConfirmFileResult> {
  const { path, format, sender, onProgress } = options;
  const rejected = new RejectedRowsFile(options.rejectedPath, format);
  const counts = { rows: 0, accepted: 0, repeated: 0 };
  let batch: { readonly row: ConfirmationRow; readonly item: object }[] = [];
  let batchBytes = 0;
  let bytesRead = 0;

  const flush = async (): Promise<void> => {
    const outcomes = batch.length === 0 ? [] : await sender.send(batch.map(({ item }) => item));
    for (const [index, { outcome, reason }] of outcomes.entries()) count(batch[index]!.row, outcome, reason);
    onProgress(bytesRead);
    batch = [];
    batchBytes = 0;
    bytesRead = 0;
  };
  const count = (row: ConfirmationRow, outcome: RowOutcome['outcome'], reason: string = outcome): void => {
    if (outcome === 'accepted' || outcome === 'repeated') counts[outcome]++;
    else rejected.add(row, reason);
  };
  const take = async (rows: Iterable<ConfirmationRow>): Promise<void> => {
    for (const row of rows) {
      counts.rows++;
      if (!row.parsed.ok) {
        count(row, 'rejected', row.parsed.reason);
        continue;
      }
      const { item } = row.parsed;
      // Its text, a separator, and the brackets around all of them.
      const bytes = Buffer.byteLength(JSON.stringify(item)) + 3;
      if (batch.length === bounds.confirmationRowsPerRequestMax || batchBytes + bytes > bounds.confirmationBodyBytesMax) {
        await flush();
      }
      batch.push({ row, item });
      batchBytes += bytes;
    }
  };

  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Buffer): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw new CommandLineError('the file is not UTF-8 text', { cause });
    }
  };
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      bytesRead += chunk.length;
      await take(format.parseChunk(decode(chunk)));
    }
    await take(format.parseChunk(decode()));
    await take(format.finish());
    await flush();
    rejected.finish();
  } catch (fault) {
    rejected.discard();
    throw fault;
  }
  return { ...counts, rejectedByReason: rejected.countByReason };
}

/** The file of rejected rows. It is made with the first of them, under another name until the last is in it. */
class RejectedRowsFile {
  readonly countByReason = new Map<string, number>();
  readonly #path: string;
  readonly #temporaryPath: string;
  readonly #format: ConfirmationParser;
  #file: number | null = null;

  constructor(path: string, format: ConfirmationParser) {
    this.#path = path;
    this.#temporaryPath = `${path}.unfinished`;
    this.#format = format;
    this.#withWriteErrors(() => {
      for (const old of [path, this.#temporaryPath]) rmSync(old, { force: true });
    });
  }

  add(row: ConfirmationRow, reason: string): void {
    this.countByReason.set(reason, (this.countByReason.get(reason) ?? 0) + 1);
    this.#withWriteErrors(() => {
      if (this.#file === null) {
        this.#file = openSync(this.#temporaryPath, 'wx');
        writeSync(this.#file, this.#format.rejectedHeader);
      }
      writeSync(this.#file, row.formatRejected(reason));
    });
  }

  finish(): void {
    if (this.#close()) this.#withWriteErrors(() => renameSync(this.#temporaryPath, this.#path));
  }

  /** A part of the rejected rows would pass for all of them. */
  discard(): void {
    if (this.#close()) rmSync(this.#temporaryPath, { force: true });
  }

  /** Whether there was a file. */
  #close(): boolean {
    if (this.#file === null) return false;
    closeSync(this.#file);
    this.#file = null;
    return true;
  }

  #withWriteErrors(write: () => void): void {
    try {
      write();
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new CommandLineError(`rejected rows cannot be written to ${this.#path} (${code}); see --rejected`, {
        cause,
      });
    }
  }
}
