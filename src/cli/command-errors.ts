import { ConfigError } from '../config/env.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { CommandLineError, exitCodes } from './command.ts';
import { InterruptedError } from './signals.ts';

/** Returns the exit code of a command that failed with an error. */
export function findExitCode(error: unknown): number {
  if (error instanceof CommandLineError || error instanceof InterruptedError) return error.exitCode;
  return error instanceof OperatorError && error.isDamage ? exitCodes.damage : exitCodes.failure;
}

/** Returns the message of an expected error or a failed system call, and the stack trace of an unexpected error (a bug). */
export function formatErrorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected =
    error instanceof OperatorError || error instanceof ConfigError || error instanceof InterruptedError;
  return isExpected || isSystemError(error) ? error.message : (error.stack ?? error.message);
}

/** Whether an error comes from a failed system call (in Node.js or SQLite), or from a SQLite file that another process has locked. */
function isSystemError(error: Error): boolean {
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall !== undefined || /^SQLITE_(BUSY|CANTOPEN|FULL|IOERR|PERM|READONLY)/.test(code ?? '');
}
