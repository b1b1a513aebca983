import { join } from 'node:path';
import Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { isSqliteFileBusy, openSqliteFile, type SqliteFileFormat } from '../files/shared-database.ts';
import {
  type CatalogActivation,
  type ClickCountsOfDay,
  type GrantReply,
  type GrantRequest,
  type Quota,
  type QuotaStore,
  QuotaStoreUnavailableError,
  quotaKinds,
  type ReportedUse,
  type StoredClickCounts,
  type StoredGrant,
} from './quota-store.ts';
import { type ShardsState, settleGrant } from './settle-grant.ts';

const format: SqliteFileFormat = {
  name: 'file of the shared limits',
  migrations: [
    `
  CREATE TABLE epochs (
    shard INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL
  ) STRICT;

  -- Catalog version that each shard has activated for a vertical and mode (scope).
  CREATE TABLE active_catalogs (
    scope INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    version TEXT NOT NULL,
    request INTEGER NOT NULL,
    PRIMARY KEY (scope, shard)
  ) STRICT, WITHOUT ROWID;

  -- Amounts are clicks or micro-dollars. The numbers in \`change\` increase with each change of \`used\`.
  CREATE TABLE grants (
    kind INTEGER NOT NULL,
    period INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    offer TEXT NOT NULL,
    shard INTEGER NOT NULL,
    granted INTEGER NOT NULL,
    used INTEGER NOT NULL CHECK (used <= granted),
    request INTEGER NOT NULL,
    contended INTEGER NOT NULL DEFAULT 0,
    change INTEGER NOT NULL,
    PRIMARY KEY (kind, period, scope, offer, shard)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX grants_by_change ON grants (change);
  CREATE INDEX contended_grants ON grants (shard) WHERE contended = 1;
`,
    `
  -- Recorded clicks of the last days, from which the usual distribution of the clicks over a day is computed, as JSON.
  CREATE TABLE click_counts (
    scope INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    days TEXT NOT NULL,
    PRIMARY KEY (scope, shard)
  ) STRICT, WITHOUT ROWID;
`,
  ],
  createError: (message, options) => new QuotaStoreUnavailableError(message, options),
};

export function sharedLimitsPath(dataDir: string): string {
  return join(dataDir, 'shared.sqlite');
}

type QuotaColumns = readonly [kind: number, period: number, scope: number, offer: string];

interface GrantRow {
  readonly shard: number;
  readonly granted: number;
  readonly used: number;
  /** Number of the last applied request of the current epoch; 0 if the last request belongs to an earlier epoch. */
  readonly request: number;
}

interface QuotaRow {
  readonly kind: number;
  readonly period: number;
  readonly scope: number;
  readonly offer: string;
}

const quotaSql = 'kind = ? AND period = ? AND scope = ? AND offer = ?';

/** Store of the shared limits in a SQLite file that all shards of a machine open. Every change is written to the disk before it returns. */
export class SqliteQuotaStore implements QuotaStore {
  readonly #path: string;
  readonly #shards: number;
  readonly #database: Database.Database;
  readonly #statements: ReturnType<typeof prepareStatements>;

  /**
   * Opens the file, or creates it. A call blocks the thread for up to `quotaStoreOpenTimeoutMs` while another process writes, until
   * `limitWaits` is called. Throws `QuotaStoreUnavailableError`.
   *
   * @param shards number of shards
   */
  constructor(path: string, shards: number) {
    this.#path = path;
    this.#shards = shards;
    this.#database = openSqliteFile(path, format, bounds.quotaStoreOpenTimeoutMs);
    try {
      // After a power failure, another shard could take an amount whose grant was lost.
      this.#database.pragma('synchronous = FULL');
      this.#statements = prepareStatements(this.#database);
    } catch (error) {
      this.#database.close();
      throw this.#toUnavailableError(error);
    }
  }

  /** From now on, a call blocks the thread for at most `quotaStoreLockTimeoutMs`. Call this method before the first click. */
  limitWaits(): void {
    this.#database.pragma(`busy_timeout = ${bounds.quotaStoreLockTimeoutMs}`);
  }

  startEpoch(shard: number): { readonly epoch: number; readonly grants: readonly StoredGrant[] } {
    return this.#transact(() => {
      const { raiseEpoch, resetGrants, resetCatalogs, selectGrantsOfShard } = this.#statements;
      const { epoch } = raiseEpoch.get(shard)!;
      resetGrants.run(shard);
      resetCatalogs.run(shard);
      const rows = selectGrantsOfShard.all(shard);
      return { epoch, grants: rows.map((row) => ({ quota: toQuota(row), granted: row.granted, used: row.used })) };
    });
  }

  settle(shard: number, epoch: number, requests: readonly GrantRequest[]): readonly GrantReply[] {
    if (requests.length === 0) return [];
    return this.#transact(() => {
      if (!this.#isCurrent(shard, epoch)) {
        return requests.map((request) => ({ request, outcome: 'outdated', granted: request.granted }));
      }
      const states = new Map<number, ShardsState>();
      return requests.map((request) => this.#settleRequest(shard, request, states));
    });
  }

  markCatalogActive(shard: number, epoch: number, { scope, version, number }: CatalogActivation): void {
    this.#transact(() => {
      if (this.#isCurrent(shard, epoch)) this.#statements.upsertCatalog.run(scope, shard, version, number);
    });
  }

  /** Stores that a shard that has never started has used nothing, so that the others need not wait for its start. */
  markUnused(shard: number, scope: number, version: string): void {
    this.#transact(() => this.#statements.insertUnusedCatalog.run(scope, shard, version));
  }

  /** Whether each shard has declared its use of the limits of a vertical and mode, so that the store grants parts of them. */
  hasAllDeclarations(scope: number): boolean {
    return this.#read(() => this.#readShardsState(scope).allActive);
  }

  listContended(shard: number): readonly Quota[] {
    return this.#read(() => this.#statements.selectContended.all(shard).map(toQuota));
  }

  readUse(since: number): { readonly lastChange: number; readonly uses: readonly ReportedUse[] } {
    return this.#read(() => {
      const rows = this.#statements.selectChanges.all(since);
      const uses = rows.map((row) => ({ quota: toQuota(row), shard: row.shard, used: row.used }));
      return { lastChange: rows.at(-1)?.change ?? since, uses };
    });
  }

  writeClickCounts(shard: number, epoch: number, scope: number, days: readonly ClickCountsOfDay[]): void {
    this.#transact(() => {
      if (this.#isCurrent(shard, epoch)) this.#statements.upsertClicks.run(scope, shard, JSON.stringify(days));
    });
  }

  readClickCounts(): readonly StoredClickCounts[] {
    const rows = this.#read(() => this.#statements.selectClicks.all());
    return rows.map(({ scope, shard, days }) => ({ scope, shard, days: JSON.parse(days) }));
  }

  close(): void {
    this.#database.close();
  }

  #settleRequest(shard: number, request: GrantRequest, states: Map<number, ShardsState>): GrantReply {
    const { quota, number } = request;
    const columns = toColumns(quota);
    const rows = this.#statements.selectGrants.all(...columns);
    const own = rows.find((row) => row.shard === shard);
    if (own !== undefined && number <= own.request) return { request, outcome: 'outdated', granted: own.granted };
    // The use of such a period is unknown, so nothing may be booked.
    if (rows.length === 0 && this.#isForgotten(columns)) return { request, outcome: 'contended', granted: 0 };
    const others = rows.filter((row) => row.shard !== shard);
    let state = states.get(quota.scope);
    if (state === undefined) {
      state = this.#readShardsState(quota.scope);
      states.set(quota.scope, state);
    }
    const { granted, outcome } = settleGrant(request, others, state);
    this.#statements.upsertGrant.run(...columns, shard, granted, request.used, number);
    if (outcome === 'contended') this.#statements.markContended.run(...columns, shard);
    if (rows.length === 0) this.#deleteOldPeriods(columns[0]);
    return { request, outcome, granted };
  }

  #readShardsState(scope: number): ShardsState {
    const { active, versions } = this.#statements.countCatalogs.get(scope)!;
    return { count: this.#shards, allActive: active >= this.#shards, sameCatalog: versions === 1 };
  }

  #isCurrent(shard: number, epoch: number): boolean {
    return this.#statements.selectEpoch.get(shard)?.epoch === epoch;
  }

  /** Whether the grants of the period may be deleted, because the store has grants of enough later periods. */
  #isForgotten([kind, period]: QuotaColumns): boolean {
    return period < (this.#findOldestPeriod(kind) ?? Number.NEGATIVE_INFINITY);
  }

  #deleteOldPeriods(kind: number): void {
    const oldest = this.#findOldestPeriod(kind);
    if (oldest !== null) this.#statements.deletePeriodsBefore.run(kind, oldest);
  }

  /**
   * Returns the oldest of the last `quotaPeriodsStoredMax` periods with grants; null if there are fewer. Counts periods instead of reading a
   * clock, so that a wrong clock deletes no grants that are in use.
   */
  #findOldestPeriod(kind: number): number | null {
    let period = Number.MAX_SAFE_INTEGER;
    for (let count = 0; count < bounds.quotaPeriodsStoredMax; count++) {
      const earlier = this.#statements.selectPeriodBefore.get(kind, period)?.period ?? null;
      if (earlier === null) return null;
      period = earlier;
    }
    return period;
  }

  #transact<Result>(run: () => Result): Result {
    return this.#read(() => this.#database.transaction(run).immediate());
  }

  #read<Result>(run: () => Result): Result {
    try {
      return run();
    } catch (error) {
      throw this.#toUnavailableError(error);
    }
  }

  #toUnavailableError(error: unknown): Error {
    if (!(error instanceof Database.SqliteError) && this.#database.open) return error as Error;
    const message = error instanceof Error ? error.message : String(error);
    const text = `cannot use the ${format.name} ${this.#path}: ${message}`;
    return new QuotaStoreUnavailableError(text, { cause: error, isBusy: isSqliteFileBusy(error) });
  }
}

function prepareStatements(database: Database.Database) {
  return {
    selectEpoch: database.prepare<[number], { readonly epoch: number }>('SELECT epoch FROM epochs WHERE shard = ?'),
    raiseEpoch: database.prepare<[number], { readonly epoch: number }>(
      `INSERT INTO epochs (shard, epoch) VALUES (?, 1)
       ON CONFLICT (shard) DO UPDATE SET epoch = epoch + 1 RETURNING epoch`,
    ),
    resetGrants: database.prepare<[number]>('UPDATE grants SET request = 0, contended = 0 WHERE shard = ?'),
    resetCatalogs: database.prepare<[number]>('UPDATE active_catalogs SET request = 0 WHERE shard = ?'),
    selectGrantsOfShard: database.prepare<[number], QuotaRow & GrantRow>('SELECT * FROM grants WHERE shard = ?'),
    upsertCatalog: database.prepare<[number, number, string, number]>(
      `INSERT INTO active_catalogs (scope, shard, version, request) VALUES (?, ?, ?, ?)
       ON CONFLICT (scope, shard) DO UPDATE SET version = excluded.version, request = excluded.request
       WHERE excluded.request > request`,
    ),
    insertUnusedCatalog: database.prepare<[number, number, string]>(
      'INSERT INTO active_catalogs (scope, shard, version, request) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING',
    ),
    countCatalogs: database.prepare<[number], { readonly active: number; readonly versions: number }>(
      'SELECT count(*) AS active, count(DISTINCT version) AS versions FROM active_catalogs WHERE scope = ?',
    ),
    selectGrants: database.prepare<[...QuotaColumns], GrantRow>(
      `SELECT shard, granted, used, request FROM grants WHERE ${quotaSql}`,
    ),
    upsertGrant: database.prepare<[...QuotaColumns, shard: number, granted: number, used: number, request: number]>(
      `INSERT INTO grants (kind, period, scope, offer, shard, granted, used, request, change)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(change), 0) + 1 FROM grants))
       ON CONFLICT (kind, period, scope, offer, shard) DO UPDATE SET
         change = CASE WHEN used = excluded.used THEN change ELSE excluded.change END,
         granted = excluded.granted, used = excluded.used, request = excluded.request,
         contended = CASE WHEN excluded.granted > excluded.used THEN contended ELSE 0 END`,
    ),
    markContended: database.prepare<[...QuotaColumns, shard: number]>(
      `UPDATE grants SET contended = 1 WHERE ${quotaSql} AND shard <> ? AND granted > used`,
    ),
    selectContended: database.prepare<[number], QuotaRow>(
      'SELECT kind, period, scope, offer FROM grants WHERE shard = ? AND contended = 1',
    ),
    selectChanges: database.prepare<[number], QuotaRow & GrantRow & { readonly change: number }>(
      'SELECT * FROM grants WHERE change > ? ORDER BY change',
    ),
    upsertClicks: database.prepare<[number, number, string]>(
      `INSERT INTO click_counts (scope, shard, days) VALUES (?, ?, ?)
       ON CONFLICT (scope, shard) DO UPDATE SET days = excluded.days`,
    ),
    selectClicks: database.prepare<[], { readonly scope: number; readonly shard: number; readonly days: string }>(
      'SELECT scope, shard, days FROM click_counts',
    ),
    selectPeriodBefore: database.prepare<[number, number], { readonly period: number | null }>(
      'SELECT max(period) AS period FROM grants WHERE kind = ? AND period < ?',
    ),
    deletePeriodsBefore: database.prepare<[number, number]>('DELETE FROM grants WHERE kind = ? AND period < ?'),
  };
}

function toColumns({ kind, period, scope, offerId }: Quota): QuotaColumns {
  return [quotaKinds.indexOf(kind), period, scope, offerId];
}

function toQuota({ kind, period, scope, offer }: QuotaRow): Quota {
  return { kind: quotaKinds[kind]!, period, scope, offerId: offer };
}
