import { OperatorError } from '../domain/operator-error.ts';

/** Exit codes of all commands. A command that is ended by a signal exits with 128 plus the signal number. */
export const exitCodes = { success: 0, failure: 1, usage: 2, damage: 3, incomplete: 4, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Default meaning of each exit code. A command may state a more specific meaning. */
export const exitMeanings: Readonly<Record<ExitCode, string>> = {
  [exitCodes.success]: 'success',
  [exitCodes.failure]: 'failure; the reason is on standard error',
  [exitCodes.usage]: 'invalid command line',
  [exitCodes.damage]: 'a log is damaged',
  [exitCodes.incomplete]: 'completed, but some rows were rejected',
  [exitCodes.interrupted]: 'interrupted by Ctrl-C (143: by SIGTERM)',
};

/** Failure of a command, with the exit code of the command. */
export class CommandLineError extends OperatorError {
  override readonly name = 'CommandLineError';
  readonly exitCode: ExitCode;

  constructor(
    message: string,
    { exitCode = exitCodes.failure, ...options }: ErrorOptions & { exitCode?: ExitCode } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
