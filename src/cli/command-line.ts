import process from 'node:process';
import { CommanderError } from 'commander';
import { ConfigError } from '../config/env.ts';
import { version } from '../server/version.ts';
import { CommandLineError, exitCodes } from './command-line-error.ts';
import { printNotice } from './output.ts';
import { createProgram, formatUsageError, normalizeArguments } from './program.ts';
import { InterruptedError } from './signals.ts';

// Whoever reads our output may stop reading (`marketplace keys list | head -1`); that is no failure of ours. A full disk is.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.exitCode = exitCodes.failure;
  reportError(new CommandLineError(`standard output cannot be written (${error.code})`), exitCodes.failure);
});
// Nobody is left who could be told.
process.stderr.on('error', () => {});

// What is kept is nobody else's business: no file of ours is for other users of the machine, whatever folder it is put in.
process.umask(0o077);
const args = process.argv.slice(2);
const optionsEnd = args.indexOf('--');
const wantsJson = (optionsEnd < 0 ? args : args.slice(0, optionsEnd)).includes('--json');

// The exit code is set, not exited with, so that everything printed reaches a slow reader.
try {
  const root = createProgram(version, { quiet: wantsJson });
  await root.parseAsync(normalizeArguments(root, args), { from: 'user' });
} catch (error) {
  process.exitCode = exitCodeOf(error);
  if (process.exitCode !== exitCodes.success) reportError(error, process.exitCode);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
  return error instanceof CommandLineError || error instanceof InterruptedError ? error.exitCode : exitCodes.failure;
}

/** With --json, standard error gets one line of JSON and nothing else. Commander has told its own errors otherwise. */
function reportError(error: unknown, exitCode: number): void {
  if (wantsJson) printNotice(JSON.stringify({ error: { exit_code: exitCode, message: messageOf(error) } }));
  else if (!(error instanceof CommanderError)) printNotice(`marketplace: ${messageOf(error)}`);
}

/** What people can mend, in a line, as is all that the file system refuses; the stack of what is a fault of ours. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof CommanderError) {
    return error.code === 'commander.help' ? 'a command is missing' : formatUsageError(error.message);
  }
  const expected =
    error instanceof ConfigError || error instanceof CommandLineError || error instanceof InterruptedError;
  return expected || isSystemError(error) ? error.message : (error.stack ?? error.message);
}

/** Of a call to the system, or of SQLite where such a call failed or another process is in the way. */
function isSystemError(error: Error): boolean {
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall !== undefined || /^SQLITE_(BUSY|CANTOPEN|FULL|IOERR|PERM|READONLY)/.test(code ?? '');
}
