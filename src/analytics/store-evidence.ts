import Database from 'better-sqlite3';
import { isCurrentSchemaVersion, prepareSingleValueQuery } from './analytics-database.ts';

/** What an analytics store proves about the other files of the data folder. */
export interface StoreEvidence {
  /** Position of the last ledger record that was applied to the store. */
  readonly position: number;
  /** Highest number of an account with sessions, including sessions that the retention has deleted. */
  readonly highestAccount: number;
  /** First day whose sessions the store retains. The store has the daily figures of all days before. */
  readonly firstRetainedDay: number;
  /** First position of the oldest ledger segment that contains sessions of retained days; 0 if this position is unknown. */
  readonly firstNeededSegment: number;
}

/**
 * Reads the evidence from the store of this or an earlier release. Returns null if the file is missing, empty or damaged. For a store of
 * another release, which the service is going to rebuild, the last two members are 0.
 */
export function readStoreEvidence(file: string, { readonly }: { readonly readonly: boolean }): StoreEvidence | null {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { readonly, fileMustExist: true });
    const query = (sql: string): number =>
      prepareSingleValueQuery<[], number | null>(database as Database.Database, sql).get() ?? 0;
    const evidence = {
      position: query('SELECT position FROM progress'),
      highestAccount: query('SELECT max(account) FROM experiment'),
    };
    if (!isCurrentSchemaVersion(database)) return { ...evidence, firstRetainedDay: 0, firstNeededSegment: 0 };
    const current = query('SELECT segment FROM progress');
    const oldest = query(
      'SELECT min(first) FROM ledger_segment WHERE last_day >= (SELECT kept_from_day FROM retention)',
    );
    return {
      ...evidence,
      firstRetainedDay: query('SELECT kept_from_day FROM retention'),
      firstNeededSegment: oldest === 0 ? current : Math.min(oldest, current),
    };
  } catch (error) {
    if (error instanceof Database.SqliteError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    // better-sqlite3 throws a TypeError without a code if the folder of the file does not exist.
    if (error instanceof TypeError) return null;
    throw error;
  } finally {
    database?.close();
  }
}
