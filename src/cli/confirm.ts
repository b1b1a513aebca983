import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { readDataDir, readOperationsEndpoint } from '../config/config.ts';
import { type Env, readEnv } from '../config/env.ts';
import { endpointUrl } from '../config/resolve-urls.ts';
import { operatorTokenPath, readOperatorToken } from '../secrets/operator-token.ts';
import { SecretFileError } from '../secrets/secret-file.ts';
import { CommandLineError } from './command-line-error.ts';
import { type ConfirmFileResult, sendConfirmationFile } from './confirm-file.ts';
import { createConfirmationParser } from './confirmation-file.ts';
import { ConfirmationClient } from './confirmation-sender.ts';
import { exitCodes } from './exit-codes.ts';
import { InterruptedError, runInterruptible } from './interruptible.ts';
import { printJson, printResult, printNotice } from './output.ts';
import { createProgressBar } from './progress-bar.ts';
import { progressStreamFor } from './progress-stream.ts';

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
  const sender = new ConfirmationClient(options.url ?? operationsUrl(env), readToken(options.tokenFile, env), { signal });
  const progress = createProgressBar(progressStreamFor(options), { total: checkedFileBytes(path, rejectedPath), unit: 'bytes' });
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
