import process from 'node:process';
import { CommanderError } from 'commander';
import { KeyFileError } from '../access/key-file.ts';
import { ConfigError } from '../config/config-error.ts';
import { version } from '../service/version.ts';
import { CommandLineError } from './command-line-error.ts';
import { exitCodes } from './exit-codes.ts';
import { say } from './output.ts';
import { program } from './program.ts';

// Whoever reads our output may stop reading (`marketplace keys list | head -1`); that is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// The exit code is set, not exited with, so that everything printed reaches a slow reader.
try {
  await program(version).parseAsync();
} catch (error) {
  process.exitCode = exitCodeFor(error);
}

function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
  const expected = error instanceof ConfigError || error instanceof KeyFileError || error instanceof CommandLineError;
  say(`marketplace: ${expected ? error.message : error instanceof Error ? error.stack : String(error)}`);
  return error instanceof CommandLineError ? error.exitCode : exitCodes.failure;
}
