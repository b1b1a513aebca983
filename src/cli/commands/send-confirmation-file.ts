import { closeSync, createReadStream, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { bounds } from '../../bounds.ts';
import { CommandLineError } from '../command.ts';
import type { ConfirmationClient, ConfirmationRowOutcome } from './confirmation-client.ts';
import {
  type ConfirmationFormat,
  type ConfirmationRow,
  type RowRejection,
  readConfirmationRows,
} from './confirmation-file.ts';

export interface SentRowCounts {
  readonly rows: number;
  readonly accepted: number;
  readonly repeated: number;
  /** Number of repeated payouts that are reversed, at least in part. */
  readonly reversedPayouts: number;
  readonly rejectedByReason: ReadonlyMap<string, number>;
}

interface SendOptions {
  readonly path: string;
  readonly format: ConfirmationFormat;
  readonly rejectedPath: string;
  readonly client: Pick<ConfirmationClient, 'sendRows'>;
  /** Called while the file is read, with the number of bytes that were read since the previous call. Each of two passes reads the file. */
  readonly onProgress: (bytes: number) => void;
  /** Called before each request. */
  readonly onSend: () => void;
}

/**
 * Sends a file of confirmations to a server in batches, in two passes: first the payouts, then the reversals, so that a reversal can
 * precede its payout in the file. The second pass also writes the file of rejected rows, in the order of the rows. The second pass is
 * skipped if it has nothing to do.
 *
 * Memory use does not depend on the size of the file. An interrupted run can be repeated, because sending the same row again does not
 * change the result.
 */
export async function sendConfirmationFile(options: SendOptions): Promise<SentRowCounts> {
  const { path, rejectedPath, onProgress } = options;
  const before = statSync(path);
  const rejected = new RejectedRowsFile(rejectedPath);
  const stored = new StoredRejections(`${rejectedPath}.pass-1.unfinished`);
  try {
    const counts = { rows: 0, accepted: 0, repeated: 0, reversedPayouts: 0 };
    const needsSecondPass = await sendPayouts(options, counts, stored);
    if (needsSecondPass) await sendReversals(options, counts, stored, rejected);
    else onProgress(before.size);
    const after = statSync(path);
    if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) {
      throw new CommandLineError('the file changed while it was sent');
    }
    rejected.finishFile();
    return { ...counts, rejectedByReason: rejected.countByReason };
  } catch (error) {
    rejected.deleteIncompleteFile();
    throw error;
  } finally {
    stored.delete();
  }
}

type MutableCounts = { -readonly [Name in Exclude<keyof SentRowCounts, 'rejectedByReason'>]: number };

/** First pass: sends the rows that are no reversals, and stores their rejections. Returns whether a second pass is needed. */
async function sendPayouts(options: SendOptions, counts: MutableCounts, stored: StoredRejections): Promise<boolean> {
  let needsSecondPass = false;
  const sender = new BatchSender<number>(options, (index, { outcome, reason, payout }) => {
    if (outcome === 'accepted' || outcome === 'repeated') {
      counts[outcome]++;
      if (outcome === 'repeated' && payout !== undefined && payout.state !== 'funded') counts.reversedPayouts++;
    } else {
      needsSecondPass = true;
      stored.add(index, toRejection({ outcome, reason, payout }));
    }
  });
  for await (const { parsed } of readRows(options, sender)) {
    if (parsed.ok && !isReversal(parsed.item)) await sender.add(counts.rows, parsed.item);
    else needsSecondPass = true;
    counts.rows++;
  }
  await sender.flush();
  return needsSecondPass;
}

/** Second pass: sends the reversals, and writes the rejected rows of both passes. */
async function sendReversals(
  options: SendOptions,
  counts: MutableCounts,
  stored: StoredRejections,
  rejected: RejectedRowsFile,
): Promise<void> {
  const sender = new BatchSender<ConfirmationRow>(options, (row, { outcome, reason, payout }) => {
    if (outcome === 'accepted' || outcome === 'repeated') counts[outcome]++;
    else rejected.add(row, toRejection({ outcome, reason, payout }));
  });
  const rejections = stored.read();
  let next = await rejections.next();
  let index = 0;
  for await (const row of readRows(options, sender)) {
    const { parsed } = row;
    if (!parsed.ok) await sender.addResult(row, { outcome: 'rejected', reason: parsed.reason });
    else if (isReversal(parsed.item)) await sender.add(row, parsed.item);
    else if (!next.done && next.value.index === index) {
      const { reason, payout } = next.value;
      await sender.addResult(row, { outcome: 'rejected', reason, payout });
      next = await rejections.next();
    }
    index++;
  }
  await sender.flush();
}

function isReversal(item: object): boolean {
  return 'status' in item && item.status === 'reversed';
}

/** An outcome without a reason is `unknown`: the server may have booked the row. */
function toRejection({ outcome, reason = outcome, payout }: ConfirmationRowOutcome): RowRejection {
  return { reason, payout };
}

/** Reads the rows of the file. Reports the number of bytes that were read to the sender. */
function readRows({ path, format }: SendOptions, { addReadBytes }: Pick<BatchSender<never>, 'addReadBytes'>) {
  const readText = async function* (): AsyncGenerator<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const decode = (bytes?: Buffer): string => {
      try {
        return decoder.decode(bytes, { stream: bytes !== undefined });
      } catch (cause) {
        throw new CommandLineError('the file is not UTF-8 text', { cause });
      }
    };
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      addReadBytes(chunk.length);
      yield decode(chunk);
    }
    yield decode();
  };
  return readConfirmationRows(format, readText());
}

/** Collects rows, sends them in batches, and passes the outcome of each row to `onOutcome`, in the order in which the rows were added. */
class BatchSender<Row> {
  readonly #options: SendOptions;
  readonly #onOutcome: (row: Row, outcome: ConfirmationRowOutcome) => void;
  #batch: { readonly row: Row; readonly item: object | null; readonly result: ConfirmationRowOutcome | null }[] = [];
  #bytes = 0;
  #readBytes = 0;

  constructor(options: SendOptions, onOutcome: (row: Row, outcome: ConfirmationRowOutcome) => void) {
    this.#options = options;
    this.#onOutcome = onOutcome;
  }

  /** Adds a row to send. */
  async add(row: Row, item: object): Promise<void> {
    // Adds 3 bytes for the comma after the row and for the two brackets of the JSON array.
    const bytes = Buffer.byteLength(JSON.stringify(item)) + 3;
    if (this.#bytes + bytes > bounds.confirmationBodyBytesMax) await this.flush();
    await this.#push({ row, item, result: null });
    this.#bytes += bytes;
  }

  /** Adds a row whose outcome is already known. */
  addResult(row: Row, result: ConfirmationRowOutcome): Promise<void> {
    return this.#push({ row, item: null, result });
  }

  readonly addReadBytes = (bytes: number): void => {
    this.#readBytes += bytes;
  };

  async #push(entry: { row: Row; item: object | null; result: ConfirmationRowOutcome | null }): Promise<void> {
    if (this.#batch.length === bounds.confirmationRowsPerRequestMax) await this.flush();
    this.#batch.push(entry);
  }

  /** Sends the collected rows. */
  async flush(): Promise<void> {
    const { client, onProgress, onSend } = this.#options;
    const items = this.#batch.flatMap(({ item }) => item ?? []);
    if (items.length > 0) onSend();
    const outcomes = items.length === 0 ? [] : await client.sendRows(items);
    let sent = 0;
    for (const { row, result } of this.#batch) this.#onOutcome(row, result ?? outcomes[sent++]!);
    onProgress(this.#readBytes);
    this.#batch = [];
    this.#bytes = 0;
    this.#readBytes = 0;
  }
}

/** Rejections of the first pass, in a file, because there can be as many rejections as rows. */
class StoredRejections {
  readonly #path: string;
  #file: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** @param index index of the row in the file of confirmations, larger than in the previous call */
  add(index: number, rejection: RowRejection): void {
    wrapFileErrors(this.#path, () => {
      this.#file ??= openSync(this.#path, 'w');
      writeSync(this.#file, `${JSON.stringify({ index, ...rejection })}\n`);
    });
  }

  /** Yields the rejections in the order in which they were added. */
  async *read(): AsyncGenerator<RowRejection & { readonly index: number }, undefined> {
    if (this.#file === null) return;
    for await (const line of createInterface({ input: createReadStream(this.#path) })) yield JSON.parse(line);
  }

  delete(): void {
    if (this.#file === null) return;
    closeSync(this.#file);
    rmSync(this.#path, { force: true });
  }
}

/** File of rejected rows. The first rejected row creates the file under a temporary name; `finish` gives the file its final name. */
class RejectedRowsFile {
  readonly countByReason = new Map<string, number>();
  readonly #path: string;
  readonly #temporaryPath: string;
  #file: number | null = null;

  /** Deletes an existing file at the path. */
  constructor(path: string) {
    this.#path = path;
    this.#temporaryPath = `${path}.unfinished`;
    wrapFileErrors(path, () => {
      for (const old of [path, this.#temporaryPath]) rmSync(old, { force: true });
    });
  }

  add(row: ConfirmationRow, rejection: RowRejection): void {
    this.countByReason.set(rejection.reason, (this.countByReason.get(rejection.reason) ?? 0) + 1);
    wrapFileErrors(this.#path, () => {
      if (this.#file === null) {
        this.#file = openSync(this.#temporaryPath, 'wx');
        writeSync(this.#file, row.rejectedRowsHeader);
      }
      writeSync(this.#file, row.formatRejectedRow(rejection));
    });
  }

  finishFile(): void {
    if (this.#close()) wrapFileErrors(this.#path, () => renameSync(this.#temporaryPath, this.#path));
  }

  deleteIncompleteFile(): void {
    if (this.#close()) rmSync(this.#temporaryPath, { force: true });
  }

  /** Closes the file. Returns false if no file was open. */
  #close(): boolean {
    if (this.#file === null) return false;
    closeSync(this.#file);
    this.#file = null;
    return true;
  }
}

function wrapFileErrors(path: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CommandLineError(`rejected rows cannot be written to ${path} (${code}); see --rejected`, { cause });
  }
}
