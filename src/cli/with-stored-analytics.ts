import { existsSync } from 'node:fs';
import { dataFiles } from '../analytics/analytics-files.ts';
import { isDatabaseCorrupt, StoreVersionMismatch } from '../analytics/analytics-schema.ts';
import { ReadOnlyAnalytics } from '../analytics/stored-analytics.ts';
import { CommandLineError } from './command-line-error.ts';

/** Runs a command on the analytics store of a data folder, which a server may have open too, and closes it whatever happens. */
export async function withStoredAnalytics(
  dataDir: string,
  run: (analytics: ReadOnlyAnalytics) => void | Promise<void>,
): Promise<void> {
  const { analyticsStoreFile } = dataFiles(dataDir);
  if (!existsSync(analyticsStoreFile)) {
    throw new CommandLineError(`there are no analytics in ${dataDir} yet (see SVC_DATA_DIR)`);
  }
  try {
    const analytics = new ReadOnlyAnalytics(analyticsStoreFile);
    try {
      await run(analytics);
    } finally {
      await analytics.close();
    }
  } catch (fault) {
    throw toStoreCommandError(analyticsStoreFile, fault);
  }
}

/** What an operator can do something about, as one line; anything else stays as it is. */
function toStoreCommandError(file: string, fault: unknown): unknown {
  if (fault instanceof StoreVersionMismatch || isDatabaseCorrupt(fault)) {
    const remedy = 'the next start of the service derives it again, or marketplace analytics rebuild';
    return new CommandLineError(`${file} cannot be read (${fault.message}): ${remedy}`, { cause: fault });
  }
  const { code } = fault as { readonly code?: unknown };
  if (fault instanceof CommandLineError || typeof code !== 'string') return fault;
  return new CommandLineError(`${file} cannot be read (${code})`, { cause: fault });
}
