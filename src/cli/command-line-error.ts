import { type ExitCode, exitCodes } from './exit-codes.ts';

/** A command cannot do what it was asked, for a reason to tell in one line. */
export class CommandLineError extends Error {
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
