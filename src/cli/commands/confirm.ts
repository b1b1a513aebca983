import { closeSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { type Command, InvalidArgumentError } from 'commander';
import { operatorTokenPath, readOperatorToken } from '../../auth/operator-token.ts';
import { readDataDir, readOperationsListenerAddress } from '../../config/config.ts';
import { type Env, readEnv } from '../../config/env.ts';
import { parseBaseUrl } from '../../config/parse-setting.ts';
import { endpointUrl } from '../../config/resolve-urls.ts';
import { describeRejection } from '../../confirmations/rejection-reasons.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import { describeOpenError, findFileProblem, openWithoutWaiting } from '../../files/regular-file.ts';
import { CommandLineError, defineCommand, exitCodes } from '../command.ts';
import { printJson, printNotice, printResult } from '../output.ts';
import { runWithProgress } from '../progress-bar.ts';
import { InterruptedError } from '../signals.ts';
import { ConfirmationClient } from './confirmation-client.ts';
import type { ConfirmationFormat } from './confirmation-file.ts';
import { sendConfirmationFile } from './send-confirmation-file.ts';

export function createCommand(): Command {
  return defineCommand('confirm', {
    description:
      'Sends a file of lender confirmations in batches to the operations listener of a running server, first the payouts and then the ' +
      'reversals. Valid rows are booked even if other rows are rejected; sending a file again changes nothing. docs/confirmations.md lists ' +
      'the columns.',
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
    json: 'one object: rows, accepted, repeated, reversed_payouts, rejected, reasons, rejected_file',
  })
    .argument('<file>', '.csv with column names in the first line, or .ndjson', parseConfirmationFile)
    .option(
      '--url <url>',
      'address of the operations listener (default: from SVC_OPS_HOST and SVC_OPS_PORT)',
      parseServerUrl,
    )
    .option('--token-file <file>', 'file with the operator token (default: the file in the data folder)')
    .option('--rejected <file>', 'file for rejected rows and their reasons (default: beside the input file)')
    .action(confirmRevenueFromFile);
}

function parseConfirmationFile(path: string): ConfirmationFile {
  if (/\.csv$/i.test(path)) return { path, format: 'csv' };
  if (/\.(ndjson|jsonl)$/i.test(path)) return { path, format: 'ndjson' };
  throw new InvalidArgumentError('The file name must end with .csv, .ndjson or .jsonl.');
}

export function parseServerUrl(text: string): string {
  const url = parseBaseUrl(text);
  if (url !== null) return url;
  throw new InvalidArgumentError('The value must be an http or https URL like http://127.0.0.1:9090.');
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
  const { rows, accepted, repeated, reversedPayouts, rejectedByReason } = await sendFile(file, rejectedPath, options);
  const rejected = rows - accepted - repeated;
  if (rejected > 0) process.exitCode = exitCodes.incomplete;
  if (options.json) {
    const reasons = Object.fromEntries(rejectedByReason);
    const counts = { rows, accepted, repeated, reversed_payouts: reversedPayouts, rejected };
    printJson({ ...counts, reasons, rejected_file: rejected > 0 ? rejectedPath : null });
    return;
  }
  printResult(`${rows} rows: ${accepted} accepted, ${repeated} repeated, ${rejected} rejected`);
  if (reversedPayouts > 0) {
    printNotice(
      `  ${reversedPayouts} of the repeated rows are payouts that were reversed, wholly or in part; sending them again adds no revenue`,
    );
  }
  if (rejected === 0) return;
  for (const [reason, count] of rejectedByReason) {
    const text = describeRejection(reason);
    printNotice(text === '' ? `  ${count} ${reason}` : `  ${count} ${reason}: ${text}`);
  }
  printNotice(`The rejected rows are in ${rejectedPath}.`);
}

async function sendFile(file: ConfirmationFile, rejectedPath: string, options: ConfirmOptions) {
  const env = readEnv();
  const path = resolve(file.path);
  const url = options.url ?? operationsUrl(env);
  const token = readToken(options.tokenFile, env);
  // The file is read twice.
  const total = 2 * fileBytes(path, rejectedPath);
  let hasSent = false;
  try {
    return await runWithProgress(options, { total, unit: 'bytes' }, (onProgress, signal) =>
      sendConfirmationFile({
        path,
        rejectedPath,
        onProgress,
        format: file.format,
        client: new ConfirmationClient(url, token, { signal }),
        onSend: () => {
          hasSent = true;
        },
      }),
    );
  } catch (error) {
    if (!hasSent) throw error;
    const advice = 'Earlier rows may be booked; sending the file again changes nothing';
    if (error instanceof InterruptedError) throw new InterruptedError(error.signal, `${error.message}. ${advice}`);
    if (error instanceof CommandLineError) throw new CommandLineError(`${error.message}. ${advice}`, { cause: error });
    throw error;
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
