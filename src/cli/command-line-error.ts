/** A command cannot do what it was asked, for a reason to tell in one line: exit code 1. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
}
