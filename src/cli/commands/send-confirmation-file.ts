import { closeSync, createReadStream, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { bounds } from '../../bounds.ts';
import { CommandLineError } from '../command.ts';
import type { ConfirmationClient, ConfirmationRowOutcome } from './confirmation-client.ts';
import { type ConfirmationFormat, type ConfirmationRow, readConfirmationRows } from './confirmation-file.ts';

export interface SentRowCounts {
  rows: number;
  accepted: number;
  repeated: number;
  /** Number of repeated payouts that are reversed, at least in part. */
  reversedPayouts: number;
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
    const rejectedByReason = rejected.countByReason;
    const counts: SentRowCounts = { rows: 0, accepted: 0, repeated: 0, reversedPayouts: 0, rejectedByReason };
    const needsSecondPass = await sendPayouts(options, counts, stored);
    if (needsSecondPass) await sendReversals(options, counts, stored, rejected);
    else onProgress(before.size);
    const after = statSync(path);
    if (after.size !== before.size || after.mtimeMs !== before.mtimeMs) {
      throw new CommandLineError('the file changed while it was sent');
    }
    rejected.finishFile();
    return counts;
  } catch (error) {
    rejected.deleteIncompleteFile();
    throw error;
  } finally {
    stored.delete();
  }
}

/** First pass: sends the rows that are no reversals, and stores their rejections. Returns whether a second pass is needed. */
async function sendPayouts(options: SendOptions, counts: SentRowCounts, stored: StoredRejections): Promise<boolean> {
  let needsSecondPass = false;
  const selectPayouts = async function* (): AsyncGenerator<RowToSend<number>> {
    for await (const { parsed } of readRows(options)) {
      if (parsed.ok && !isReversal(parsed.item)) yield { row: counts.rows, item: parsed.item };
      else needsSecondPass = true;
      counts.rows++;
    }
  };
  for await (const [index, result] of sendInBatches(options, selectPayouts())) {
    const { outcome, payout } = result;
    if (outcome === 'accepted' || outcome === 'repeated') {
      counts[outcome]++;
      if (outcome === 'repeated' && payout !== undefined && payout.state !== 'funded') counts.reversedPayouts++;
    } else {
      needsSecondPass = true;
      stored.add(index, result);
    }
  }
  return needsSecondPass;
}

/** Second pass: sends the reversals, and writes the rejected rows of both passes. */
async function sendReversals(
  options: SendOptions,
  counts: SentRowCounts,
  stored: StoredRejections,
  rejected: RejectedRowsFile,
): Promise<void> {
  const selectReversalsAndRejections = async function* (): AsyncGenerator<RowToSend<ConfirmationRow>> {
    const rejections = stored.read();
    let next = await rejections.next();
    let index = 0;
    for await (const row of readRows(options)) {
      const { parsed } = row;
      if (!parsed.ok) yield { row, result: { outcome: 'rejected', reason: parsed.reason } };
      else if (isReversal(parsed.item)) yield { row, item: parsed.item };
      else if (!next.done && next.value.index === index) {
        yield { row, result: next.value };
        next = await rejections.next();
      }
      index++;
    }
  };
  for await (const [row, result] of sendInBatches(options, selectReversalsAndRejections())) {
    const { outcome } = result;
    if (outcome === 'accepted' || outcome === 'repeated') counts[outcome]++;
    else rejected.add(row, result);
  }
}

function isReversal(item: object): boolean {
  return 'status' in item && item.status === 'reversed';
}

function readRows({ path, format, onProgress }: SendOptions): AsyncIterable<ConfirmationRow> {
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
      onProgress(chunk.length);
      yield decode(chunk);
    }
    yield decode();
  };
  return readConfirmationRows(format, readText());
}

/** Row with the confirmation to send, or a row that is not sent, with its outcome. */
interface RowToSend<Row> {
  readonly row: Row;
  readonly item?: object;
  readonly result?: ConfirmationRowOutcome;
}

/** Sends rows in batches. Yields each row and its outcome, in the order of the rows. */
async function* sendInBatches<Row>(
  options: SendOptions,
  rows: AsyncIterable<RowToSend<Row>>,
): AsyncGenerator<[Row, ConfirmationRowOutcome]> {
  let batch: RowToSend<Row>[] = [];
  let batchBytes = 0;
  for await (const row of rows) {
    // Adds 3 bytes for the comma after the row and for the two brackets of the JSON array.
    const bytes = row.item === undefined ? 0 : Buffer.byteLength(JSON.stringify(row.item)) + 3;
    if (batch.length === bounds.confirmationRowsPerRequestMax || batchBytes + bytes > bounds.confirmationBodyBytesMax) {
      yield* sendBatch(options, batch);
      batch = [];
      batchBytes = 0;
    }
    batch.push(row);
    batchBytes += bytes;
  }
  yield* sendBatch(options, batch);
}

async function* sendBatch<Row>(
  { client, onSend }: SendOptions,
  batch: readonly RowToSend<Row>[],
): AsyncGenerator<[Row, ConfirmationRowOutcome]> {
  const items = batch.flatMap(({ item }) => item ?? []);
  if (items.length > 0) onSend();
  const outcomes = items.length === 0 ? [] : await client.sendRows(items);
  let sent = 0;
  for (const { row, result } of batch) yield [row, result ?? outcomes[sent++]!];
}

/** Rejections of the first pass, in a file, because there can be as many rejections as rows. */
class StoredRejections {
  readonly #path: string;
  #file: number | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** @param index index of the row in the file of confirmations, larger than in the previous call */
  add(index: number, result: ConfirmationRowOutcome): void {
    wrapFileErrors(this.#path, () => {
      this.#file ??= openSync(this.#path, 'w');
      writeSync(this.#file, `${JSON.stringify({ ...result, index })}\n`);
    });
  }

  /** Yields the rejections in the order in which they were added. */
  async *read(): AsyncGenerator<ConfirmationRowOutcome & { readonly index: number }, undefined> {
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

  /** Adds a row. An outcome without a reason is `unknown`: the server may have booked the row. */
  add(row: ConfirmationRow, { outcome, reason = outcome, payout }: ConfirmationRowOutcome): void {
    this.countByReason.set(reason, (this.countByReason.get(reason) ?? 0) + 1);
    wrapFileErrors(this.#path, () => {
      if (this.#file === null) {
        this.#file = openSync(this.#temporaryPath, 'wx');
        writeSync(this.#file, row.rejectedRowsHeader);
      }
      writeSync(this.#file, row.formatRejectedRow({ reason, payout }));
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
