import { KeyFileError } from '../../auth/key-file.ts';
import type { KeyRegistry } from '../../auth/key-registry.ts';
import { CommandLineError } from '../command-line-error.ts';

/** Runs a command on the keys, and closes the file whatever happens. */
export function withKeyRegister<Result>(open: () => KeyRegistry, run: (register: KeyRegistry) => Result): Result {
  const register = openKeyFile(open);
  try {
    return run(register);
  } finally {
    register.close();
  }
}

/** A key file that is not there, or of a newer version, is told in one line. */
export function openKeyFile<Register>(open: () => Register): Register {
  try {
    return open();
  } catch (error) {
    throw error instanceof KeyFileError ? new CommandLineError(error.message, { cause: error }) : error;
  }
}
