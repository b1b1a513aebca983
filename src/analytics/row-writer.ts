import type { Database, Statement } from 'better-sqlite3';

/** Rows one statement writes. The aggregator folds an eighth to a fifth more records than with one each; more rows gain little. */
const rowsPerStatement = 8;

export type SqlValue = number | bigint | string | Uint8Array | null;

/** Writes many rows of one table with few statements, in the order they come. */
export class RowWriter {
  readonly #insertMany: Statement<[SqlValue[]]>;
  readonly #insertOne: Statement<[SqlValue[]]>;
  readonly #columnCount: number;
  #pendingValues: SqlValue[] = [];

  /** @param conflict what happens to a row that exists: an `ON CONFLICT` clause, or nothing. */
  constructor(database: Database, table: string, columns: readonly string[], conflict = '') {
    const row = `(${columns.map(() => '?').join(', ')})`;
    const insert = (rows: number) =>
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')} ${conflict}`;
    this.#insertMany = database.prepare<[SqlValue[]]>(insert(rowsPerStatement));
    this.#insertOne = database.prepare<[SqlValue[]]>(insert(1));
    this.#columnCount = columns.length;
  }

  /** Writes these rows, and those added before. */
  writeAll(rows: Iterable<readonly SqlValue[]>): void {
    for (const row of rows) this.add(row);
    this.flush();
  }

  /** Takes a row; it is written with the next few, or by `flush`. */
  add(row: readonly SqlValue[]): void {
    this.#pendingValues.push(...row);
    if (this.#pendingValues.length < rowsPerStatement * this.#columnCount) return;
    this.#insertMany.run(this.#pendingValues);
    this.#pendingValues = [];
  }

  flush(): void {
    const width = this.#columnCount;
    const values = this.#pendingValues;
    this.#pendingValues = [];
    for (let at = 0; at < values.length; at += width) this.#insertOne.run(values.slice(at, at + width));
  }
}
