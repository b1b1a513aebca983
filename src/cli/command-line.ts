import process from 'node:process';
import { CommanderError } from 'commander';
import { packageVersion } from '../server/version.ts';
import { CommandLineError, exitCodes } from './command.ts';
import { findExitCode, formatErrorMessage } from './command-errors.ts';
import { printNotice } from './output.ts';
import { createProgram, formatUsageError, normalizeArguments } from './program.ts';

// EPIPE is not a failure: the reader may close the pipe early (`marketplace keys list | head -1`). Any error except EPIPE is a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.exitCode = exitCodes.failure;
  reportError(new CommandLineError(`standard output cannot be written (${error.code})`), exitCodes.failure);
});
// Errors on standard error are ignored, because there is no other stream on which to report them.
process.stderr.on('error', () => {});

// Other users must not be able to read files that commands create, regardless of the permissions of the folder.
process.umask(0o077);
const args = process.argv.slice(2);
const optionsEnd = args.indexOf('--');
const wantsJson = (optionsEnd < 0 ? args : args.slice(0, optionsEnd)).includes('--json');

const loadRegistry = async () => (await import('../verticals/built-in-verticals.ts')).builtInVerticals;

// `process.exit` is not called, because the process could end before a slow reader has received all output.
try {
  const root = await createProgram(packageVersion, loadRegistry, { quiet: wantsJson, args });
  await root.parseAsync(normalizeArguments(root, args), { from: 'user' });
} catch (error) {
  process.exitCode = exitCodeOf(error);
  if (process.exitCode !== exitCodes.success) reportError(error, process.exitCode);
}

function exitCodeOf(error: unknown): number {
  if (!(error instanceof CommanderError)) return findExitCode(error);
  return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
}

/** Prints an error on standard error: with --json as one line of JSON, otherwise as text. Commander has already printed its own errors. */
function reportError(error: unknown, exitCode: number): void {
  if (wantsJson) printNotice(JSON.stringify({ error: { exit_code: exitCode, message: messageOf(error) } }));
  else if (!(error instanceof CommanderError)) printNotice(`marketplace: ${messageOf(error)}`);
}

function messageOf(error: unknown): string {
  if (!(error instanceof CommanderError)) return formatErrorMessage(error);
  return error.code === 'commander.help' ? 'a command is missing' : formatUsageError(error.message);
}
