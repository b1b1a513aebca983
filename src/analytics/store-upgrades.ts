import type { SqlDatabase } from './sql-database.ts';

/**
 * Version of the tables and the counting rules. Increment this version whenever the tables or the counting rules change, and add the upgrade
 * from the version before to `storeUpgrades` if there is one.
 */
export const schemaVersion = 18;

/** Change of the tables of a store from one version to the next. */
export interface StoreUpgrade {
  /** SQL that gives the tables the form of the next version. It must take at most seconds, because queries wait for it. */
  readonly sql: string;
  /**
   * Whether the figures differ from those that the next version would have counted. The upgraded store then answers queries and follows the
   * ledger until a new store, which is built from the ledger and the archive, has the same records (`LedgerFollower`).
   */
  readonly recomputesFigures: boolean;
}

/**
 * Upgrades by the version from which they start. A store that cannot be upgraded is deleted and rebuilt, and queries are refused until then.
 * No version before the first release has an upgrade.
 */
const storeUpgrades: ReadonlyMap<number, StoreUpgrade> = new Map();

/** Error for a store whose version this release cannot read or upgrade. The store must be rebuilt. */
export class StoreVersionMismatchError extends Error {
  override readonly name = 'StoreVersionMismatchError';

  constructor(version: number) {
    super(`analytics store has schema version ${version}; this release uses ${schemaVersion}`);
  }
}

/** Version of the tables of a store, and whether its figures must be computed again. */
export interface StoreVersion {
  readonly version: number;
  readonly isOutdated: boolean;
}

/** Reads the version of a store. SQLite's `user_version` is the version, or its negative if the figures must be computed again. */
export function readStoreVersion(database: SqlDatabase): StoreVersion {
  const userVersion = database.value<number>('PRAGMA user_version')!;
  return { version: Math.abs(userVersion), isOutdated: userVersion < 0 };
}

/** Returns the SQL statement that sets the version of a store. */
export function setVersionSql({ version, isOutdated }: StoreVersion): string {
  return `PRAGMA user_version = ${isOutdated ? -version : version};`;
}

/** Throws `StoreVersionMismatchError` if the tables of a store have another version than those of this release. */
export function assertCurrentVersion(database: SqlDatabase): void {
  const { version } = readStoreVersion(database);
  if (version !== schemaVersion) throw new StoreVersionMismatchError(version);
}

/**
 * Gives the tables of a store the form of the version `to`, in one transaction. Throws `StoreVersionMismatchError` if an upgrade is missing.
 * After an error, the store is unchanged.
 */
export function upgradeStore(database: SqlDatabase, upgrades = storeUpgrades, to = schemaVersion): void {
  const from = readStoreVersion(database);
  if (from.version === to) return;
  const steps: StoreUpgrade[] = [];
  for (let version = from.version; version !== to; version++) {
    const step = upgrades.get(version);
    if (step === undefined) throw new StoreVersionMismatchError(from.version);
    steps.push(step);
  }
  const isOutdated = from.isOutdated || steps.some(({ recomputesFigures }) => recomputesFigures);
  database.write(() => {
    for (const { sql } of steps) database.execute(sql);
    database.execute(setVersionSql({ version: to, isOutdated }));
  });
}
