import { closeSync, createReadStream, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { bounds } from '../bounds.ts';
import { CommandLineError } from './command-line-error.ts';
import type { ConfirmationFormat, FileRow } from './confirmation-file.ts';
import type { ConfirmationSender, RowOutcome } from './confirmation-sender.ts';

export interface ConfirmFileOptions {
  readonly path: string;
  readonly format: ConfirmationFormat;
  readonly sender: Pick<ConfirmationSender, 'send'>;
  /** Replaced by this run's rejected rows once all are known, and removed when there are none. */
  readonly rejectedPath: string;
  /** Told how many more bytes of the file have been dealt with. */
  readonly onProgress: (bytes: number) => void;
}

export interface ConfirmedFile {
  readonly rows: number;
  readonly accepted: number;
  readonly repeated: number;
  /** Rows in the file of rejected rows, by their reason; `unknown` for those that may have been taken. */
  readonly rejected: ReadonlyMap<string, number>;
}

/**
 * Streams a file of confirmations to a server, a batch at a time, so that its size does not matter. Doing it again is
 * harmless, which is also the remedy for a run that was cut short.
 */
export async function confirmFile(options: ConfirmFileOptions): Promise<ConfirmedFile> {
  const { path, format, sender, onProgress } = options;
  const rejected = new RejectedRows(options.rejectedPath, format);
  const counts = { rows: 0, accepted: 0, repeated: 0 };
  let batch: { readonly row: FileRow; readonly item: object }[] = [];
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
  const count = (row: FileRow, outcome: RowOutcome['outcome'], reason: string = outcome): void => {
    if (outcome === 'accepted' || outcome === 'repeated') counts[outcome]++;
    else rejected.add(row, reason);
  };
  const take = async (rows: Iterable<FileRow>): Promise<void> => {
    for (const row of rows) {
      counts.rows++;
      if (!row.sent.ok) {
        count(row, 'rejected', row.sent.reason);
        continue;
      }
      const { item } = row.sent;
      // Its text, a separator, and the brackets around all of them.
      const bytes = Buffer.byteLength(JSON.stringify(item)) + 3;
      if (batch.length === bounds.confirmationRowsMax || batchBytes + bytes > bounds.confirmationBodyBytesMax) {
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
      await take(format.take(decode(chunk)));
    }
    await take(format.take(decode()));
    await take(format.end());
    await flush();
    rejected.finish();
  } catch (fault) {
    rejected.discard();
    throw fault;
  }
  return { ...counts, rejected: rejected.reasons };
}

/** The file of rejected rows. It is made with the first of them, under another name until the last is in it. */
class RejectedRows {
  readonly reasons = new Map<string, number>();
  readonly #path: string;
  readonly #unfinished: string;
  readonly #format: ConfirmationFormat;
  #file: number | null = null;

  constructor(path: string, format: ConfirmationFormat) {
    this.#path = path;
    this.#unfinished = `${path}.unfinished`;
    this.#format = format;
    this.#use(() => {
      for (const old of [path, this.#unfinished]) rmSync(old, { force: true });
    });
  }

  add(row: FileRow, reason: string): void {
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
    this.#use(() => {
      if (this.#file === null) {
        this.#file = openSync(this.#unfinished, 'wx');
        writeSync(this.#file, this.#format.rejectedHead);
      }
      writeSync(this.#file, row.rejectedLine(reason));
    });
  }

  finish(): void {
    if (this.#close()) this.#use(() => renameSync(this.#unfinished, this.#path));
  }

  /** A part of the rejected rows would pass for all of them. */
  discard(): void {
    if (this.#close()) rmSync(this.#unfinished, { force: true });
  }

  /** Whether there was a file. */
  #close(): boolean {
    if (this.#file === null) return false;
    closeSync(this.#file);
    this.#file = null;
    return true;
  }

  #use(write: () => void): void {
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
