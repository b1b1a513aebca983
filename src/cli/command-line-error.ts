/** What a command may end with. Beside these, one that a signal ends has 128 and the signal's number. */
export const exitCodes = { success: 0, failure: 1, usage: 2, damage: 3, incomplete: 4, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What each means, where a command has nothing more exact to say. */
export const exitMeanings: Readonly<Record<ExitCode, string>> = {
  [exitCodes.success]: 'done',
  [exitCodes.failure]: 'it failed; the reason is on standard error',
  [exitCodes.usage]: 'the command line is wrong',
  [exitCodes.damage]: 'a log is damaged',
  [exitCodes.incomplete]: 'done, but for rejected rows',
  [exitCodes.interrupted]: 'ended by Ctrl-C; 143 by SIGTERM',
};

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
