import { EmbedOriginError, EmbedOriginRegistry } from '../access/embed-origin-register.ts';
import { keyFilePath } from '../access/key-file.ts';
import { readDataDir } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { CommandLineError } from './command-line-error.ts';
import { openKeyFile } from './with-key-register.ts';

/** Runs a command on the lists of origins in the data folder, which must have a key file, and closes it whatever happens. */
export function withEmbedOrigins<Result>(run: (register: EmbedOriginRegistry) => Result): Result {
  const path = keyFilePath(readDataDir(readEnv()));
  const register = openKeyFile(() => EmbedOriginRegistry.openExisting(path));
  try {
    return run(register);
  } catch (error) {
    throw error instanceof EmbedOriginError ? new CommandLineError(error.message, { cause: error }) : error;
  } finally {
    register.close();
  }
}
