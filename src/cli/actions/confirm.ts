import { closeSync, createReadStream, openSync, renameSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { operatorTokenPath, readOperatorToken } from '../../auth/operator-token.ts';
import { bounds } from '../../bounds.ts';
import { readDataDir, readOperationsEndpoint } from '../../config/config.ts';
import { type Env, readEnv } from '../../config/env.ts';
import { endpointUrl } from '../../config/resolve-urls.ts';
import { SecretFileError } from '../../secrets/secret-file.ts';
import { CommandLineError, exitCodes } from '../command-line-error.ts';
import { printJson, printNotice, printResult } from '../output.ts';
import { createProgressBar, progressStreamFor } from '../progress-bar.ts';
import { InterruptedError, runInterruptible } from '../signals.ts';
import { ConfirmationClient, type RowOutcome } from './confirmation-client.ts';
import { type ConfirmationParser, type ConfirmationRow, createConfirmationParser } from './confirmation-file.ts';

interface ConfirmFileOptions {
  readonly path: string;
  readonly format: ConfirmationParser;
  readonly sender: Pick<ConfirmationClient, 'send'>;
  /** Replaced by this run's rejected rows once all are known, and removed when there are none. */
  readonly rejectedPath: string;
  /** Told how many more bytes of the file have been dealt with. */
  readonly onProgress: (bytes: number) => void;
}

interface ConfirmFileResult {
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
async function sendConfirmationFile(options: ConfirmFileOptions): Promise<ConfirmFileResult> {
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
      if (
        batch.length === bounds.confirmationRowsPerRequestMax ||
        batchBytes + bytes > bounds.confirmationBodyBytesMax
      ) {
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

/** What the command line said; absent where it said nothing. */
export interface ConfirmOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly rejected?: string;
  readonly json?: true;
}

/** Sends a file to a running server and says what became of its rows. */
export async function confirmRevenueFromFile(file: string, options: ConfirmOptions): Promise<void> {
  const rejectedPath = resolve(options.rejected ?? resolve(file).replace(/(\.[^.]+)$/, '.rejected$1'));
  const { rows, accepted, repeated, rejectedByReason } = await runInterruptible((signal) =>
    sendFile(resolve(file), rejectedPath, options, signal),
  );
  const left = rows - accepted - repeated;
  if (left > 0) process.exitCode = exitCodes.incomplete;
  if (options.json) {
    const reasons = Object.fromEntries(rejectedByReason);
    printJson({ rows, accepted, repeated, rejected: left, reasons, rejected_file: left > 0 ? rejectedPath : null });
    return;
  }
  printResult(`${rows} rows: ${accepted} accepted, ${repeated} repeated, ${left} rejected`);
  if (left === 0) return;
  for (const [reason, count] of rejectedByReason) printNotice(`  ${count} ${reason}`);
  printNotice(`The rejected rows are in ${rejectedPath}.`);
}

async function sendFile(
  path: string,
  rejectedPath: string,
  options: ConfirmOptions,
  signal: AbortSignal,
): Promise<ConfirmFileResult> {
  const env = readEnv();
  const sender = new ConfirmationClient(options.url ?? operationsUrl(env), readToken(options.tokenFile, env), {
    signal,
  });
  const progress = createProgressBar(progressStreamFor(options), {
    total: checkedFileBytes(path, rejectedPath),
    unit: 'bytes',
  });
  const format = createConfirmationParser(path);
  if (format === null) throw new Error('commander let a file of another kind through');
  let begun = false;
  const onProgress = (bytes: number): void => {
    begun = true;
    progress.advance(bytes);
  };
  try {
    return await sendConfirmationFile({ path, format, sender, rejectedPath, onProgress });
  } catch (fault) {
    if (!begun) throw fault;
    const advice = 'Rows before that may be booked; sending the file again is harmless';
    if (fault instanceof InterruptedError) throw new InterruptedError(fault.signal, `${fault.message}. ${advice}`);
    if (fault instanceof CommandLineError) throw new CommandLineError(`${fault.message}. ${advice}`, { cause: fault });
    throw fault;
  } finally {
    progress.clear();
  }
}

/** In bytes. Refuses what is no file, and to write rejected rows over the file itself, by whatever name. */
function checkedFileBytes(path: string, rejectedPath: string): number {
  let file: Stats;
  try {
    file = statSync(path);
  } catch (cause) {
    throw new CommandLineError(`${path} cannot be read (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
  if (!file.isFile()) throw new CommandLineError(`${path} is no file`);
  const other = statSync(rejectedPath, { throwIfNoEntry: false });
  if (other !== undefined && other.dev === file.dev && other.ino === file.ino) {
    throw new CommandLineError('the file of rejected rows cannot be the file that is sent');
  }
  return file.size;
}

function readToken(tokenFile: string | undefined, env: Env): string {
  const path = tokenFile === undefined ? operatorTokenPath(readDataDir(env)) : resolve(tokenFile);
  try {
    return readOperatorToken(path);
  } catch (cause) {
    if (cause instanceof SecretFileError) throw new CommandLineError(cause.message, { cause });
    const { code } = cause as NodeJS.ErrnoException;
    throw new CommandLineError(`the operator token ${path} cannot be read (${code}); see --token-file`, { cause });
  }
}

function operationsUrl(env: Env): string {
  const endpoint = readOperationsEndpoint(env);
  if (endpoint.port !== 0) return endpointUrl(endpoint);
  throw new CommandLineError('SVC_OPS_PORT lets the server pick a port, so --url must tell which');
}
