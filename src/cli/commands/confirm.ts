import { closeSync, createReadStream, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { type Command, InvalidArgumentError } from 'commander';
import { operatorTokenPath, readOperatorToken } from '../../auth/operator-token.ts';
import { bounds } from '../../bounds.ts';
import { readDataDir, readOperationsListenerAddress } from '../../config/config.ts';
import { type Env, readEnv } from '../../config/env.ts';
import { parseBaseUrl } from '../../config/parse-setting.ts';
import { endpointUrl } from '../../config/resolve-urls.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { describeOpenError, findFileProblem, openWithoutWaiting } from '../../files/regular-file.ts';
import { CommandLineError, defineCommand, exitCodes } from '../command.ts';
import { printJson, printNotice, printResult } from '../output.ts';
import { createProgressBar, progressStreamFor } from '../progress-bar.ts';
import { InterruptedError, runInterruptible } from '../signals.ts';
import { ConfirmationClient } from './confirmation-client.ts';
import {
  type ConfirmationFormat,
  type ConfirmationReader,
  type ConfirmationRow,
  createConfirmationReader,
} from './confirmation-file.ts';

export function createCommand(): Command {
  return defineCommand('confirm', {
    description:
      'Sends a file of lender confirmations in batches to the operations listener of a running server. Valid rows are booked even if other ' +
      'rows are rejected; sending a file again changes nothing. docs/confirmations.md lists the columns.',
    examples: [
      'marketplace confirm payouts.csv',
      'marketplace confirm payouts.ndjson --url http://10.0.0.5:9090 --token-file operator-token --rejected rejected.ndjson',
    ],
    exitCodes: {
      0: 'every row is booked, by this run or before',
      1: 'failure, perhaps after some rows were booked; the reason is on standard error',
      4: null,
      130: null,
    },
    json: 'one object: rows, accepted, repeated, rejected, reasons, rejected_file',
  })
    .argument('<file>', '.csv with column names in the first line, or .ndjson', parseConfirmationFile)
    .option('--url <url>', 'address of the operations listener (default: from SVC_OPS_HOST and SVC_OPS_PORT)', parseUrl)
    .option('--token-file <file>', 'file with the operator token (default: the file in the data folder)')
    .option('--rejected <file>', 'file for rejected rows and their reasons (default: beside the input file)')
    .option('--json', 'print one JSON object')
    .action(confirmRevenueFromFile);
}

function parseConfirmationFile(path: string): ConfirmationFile {
  if (/\.csv$/i.test(path)) return { path, format: 'csv' };
  if (/\.(ndjson|jsonl)$/i.test(path)) return { path, format: 'ndjson' };
  throw new InvalidArgumentError('The file name must end with .csv, .ndjson or .jsonl.');
}

function parseUrl(text: string): string {
  const url = parseBaseUrl(text);
  if (url !== null) return url;
  throw new InvalidArgumentError('The value must be an http or https URL like http://127.0.0.1:9090.');
}

/**
 * Sends a file of confirmations to a server in batches, so that memory use does not depend on the size of the file. An interrupted run can
 * be repeated, because sending the same row again does not change the result. `onProgress` is called after each batch with the number of
 * bytes of the file that were read since the previous call.
 */
async function sendConfirmationFile(
  path: string,
  reader: ConfirmationReader,
  client: ConfirmationClient,
  rejected: RejectedRowsFile,
  onProgress: (bytes: number) => void,
): Promise<{ readonly rows: number; readonly accepted: number; readonly repeated: number }> {
  const counts = { rows: 0, accepted: 0, repeated: 0 };
  let batch: { readonly row: ConfirmationRow; readonly item: object }[] = [];
  let batchBytes = 0;
  let bytesRead = 0;

  const flush = async (): Promise<void> => {
    const outcomes = batch.length === 0 ? [] : await client.sendRows(batch.map(({ item }) => item));
    for (const [index, { outcome, reason }] of outcomes.entries()) {
      if (outcome === 'accepted' || outcome === 'repeated') counts[outcome]++;
      // An outcome without a `reason` is `unknown`: the server may have booked the row.
      else rejected.add(batch[index]!.row, reason ?? outcome);
    }
    onProgress(bytesRead);
    batch = [];
    batchBytes = 0;
    bytesRead = 0;
  };
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
      bytesRead += chunk.length;
      yield decode(chunk);
    }
    yield decode();
  };

  for await (const row of reader.readRows(readText())) {
    counts.rows++;
    if (!row.parsed.ok) {
      rejected.add(row, row.parsed.reason);
      continue;
    }
    const { item } = row.parsed;
    // Adds 3 bytes for the comma after the row and for the two brackets of the JSON array.
    const bytes = Buffer.byteLength(JSON.stringify(item)) + 3;
    if (batch.length === bounds.confirmationRowsPerRequestMax || batchBytes + bytes > bounds.confirmationBodyBytesMax) {
      await flush();
    }
    batch.push({ row, item });
    batchBytes += bytes;
  }
  await flush();
  return counts;
}

/** File of rejected rows. The first rejected row creates the file under a temporary name; `finish` gives the file its final name. */
class RejectedRowsFile {
  readonly countByReason = new Map<string, number>();
  readonly #path: string;
  readonly #temporaryPath: string;
  readonly #reader: ConfirmationReader;
  #file: number | null = null;

  /** Deletes an existing file at the path. */
  constructor(path: string, reader: ConfirmationReader) {
    this.#path = path;
    this.#temporaryPath = `${path}.unfinished`;
    this.#reader = reader;
    this.#wrapFileErrors(() => {
      for (const old of [path, this.#temporaryPath]) rmSync(old, { force: true });
    });
  }

  add(row: ConfirmationRow, reason: string): void {
    this.countByReason.set(reason, (this.countByReason.get(reason) ?? 0) + 1);
    this.#wrapFileErrors(() => {
      if (this.#file === null) {
        this.#file = openSync(this.#temporaryPath, 'wx');
        writeSync(this.#file, this.#reader.rejectedRowsHeader);
      }
      writeSync(this.#file, row.formatRejectedRow(reason));
    });
  }

  finishFile(): void {
    if (this.#close()) this.#wrapFileErrors(() => renameSync(this.#temporaryPath, this.#path));
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

  #wrapFileErrors(write: () => void): void {
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

interface ConfirmOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly rejected?: string;
  readonly json?: true;
}

/** Confirmation file that the command line names. The file extension determines the format. */
interface ConfirmationFile {
  readonly path: string;
  readonly format: ConfirmationFormat;
}

/** Sends a file to a running server and prints how many rows were accepted, repeated and rejected. */
async function confirmRevenueFromFile(file: ConfirmationFile, options: ConfirmOptions): Promise<void> {
  const rejectedPath = resolve(options.rejected ?? resolve(file.path).replace(/(\.[^.]+)$/, '.rejected$1'));
  const { rows, accepted, repeated, rejectedByReason } = await runInterruptible((signal) =>
    sendFile(file, rejectedPath, options, signal),
  );
  const rejected = rows - accepted - repeated;
  if (rejected > 0) process.exitCode = exitCodes.incomplete;
  if (options.json) {
    const reasons = Object.fromEntries(rejectedByReason);
    printJson({ rows, accepted, repeated, rejected, reasons, rejected_file: rejected > 0 ? rejectedPath : null });
    return;
  }
  printResult(`${rows} rows: ${accepted} accepted, ${repeated} repeated, ${rejected} rejected`);
  if (rejected === 0) return;
  for (const [reason, count] of rejectedByReason) printNotice(`  ${count} ${reason}`);
  printNotice(`The rejected rows are in ${rejectedPath}.`);
}

async function sendFile(file: ConfirmationFile, rejectedPath: string, options: ConfirmOptions, signal: AbortSignal) {
  const env = readEnv();
  const path = resolve(file.path);
  const url = options.url ?? operationsUrl(env);
  const client = new ConfirmationClient(url, readToken(options.tokenFile, env), { signal });
  const total = fileBytes(path, rejectedPath);
  const progress = createProgressBar(progressStreamFor(options), { total, unit: 'bytes' });
  const reader = createConfirmationReader(file.format);
  const rejected = new RejectedRowsFile(rejectedPath, reader);
  let hasSent = false;
  const onProgress = (bytes: number): void => {
    hasSent = true;
    progress.advance(bytes);
  };
  try {
    const counts = await sendConfirmationFile(path, reader, client, rejected, onProgress);
    rejected.finishFile();
    return { ...counts, rejectedByReason: rejected.countByReason };
  } catch (error) {
    rejected.deleteIncompleteFile();
    if (!hasSent) throw error;
    const advice = 'Earlier rows may be booked; sending the file again changes nothing';
    if (error instanceof InterruptedError) throw new InterruptedError(error.signal, `${error.message}. ${advice}`);
    if (error instanceof CommandLineError) throw new CommandLineError(`${error.message}. ${advice}`, { cause: error });
    throw error;
  } finally {
    progress.clear();
  }
}

/** Returns the size of the confirmation file in bytes. Throws if the path is not a regular file or is the same file as `rejectedPath`. */
function fileBytes(path: string, rejectedPath: string): number {
  const problem = findFileProblem(path);
  if (problem !== null) throw new CommandLineError(`${path} ${problem}`);
  try {
    closeSync(openSync(path, openWithoutWaiting));
  } catch (cause) {
    throw new CommandLineError(`${path} ${describeOpenError(path, cause)}`, { cause });
  }
  const file = statSync(path);
  const rejectedFile = statSync(rejectedPath, { throwIfNoEntry: false });
  if (rejectedFile !== undefined && rejectedFile.dev === file.dev && rejectedFile.ino === file.ino) {
    throw new CommandLineError('the file for rejected rows must not be the confirmation file');
  }
  return file.size;
}

function readToken(tokenFile: string | undefined, env: Env): string {
  const path = tokenFile === undefined ? operatorTokenPath(readDataDir(env)) : resolve(tokenFile);
  try {
    return readOperatorToken(path);
  } catch (cause) {
    if (!(cause instanceof OperatorError)) throw cause;
    throw new CommandLineError(`${cause.message} (see --token-file)`, { cause });
  }
}

function operationsUrl(env: Env): string {
  const endpoint = readOperationsListenerAddress(env);
  if (endpoint.port !== 0) return endpointUrl(endpoint);
  throw new CommandLineError('SVC_OPS_PORT is 0, so the port of the server is unknown; use --url');
}
