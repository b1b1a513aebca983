import type { Database, Statement } from 'better-sqlite3';

/** Rows one statement writes. The aggregator folds an eighth to a fifth more records than with one each; more rows gain little. */
const rowsPerStatement = 8;

export type SqlValue = number | bigint | string | Uint8Array | null;

/** Writes many rows of one table with few statements. */
export class RowWriter {
  readonly #many: Statement<[SqlValue[]]>;
  readonly #one: Statement<[SqlValue[]]>;
  readonly #columns: number;

  /** @param conflict what happens to a row that exists: an `ON CONFLICT` clause, or nothing. */
  constructor(database: Database, table: string, columns: readonly string[], conflict = '') {
    const row = `(${columns.map(() => '?').join(', ')})`;
    const insert = (rows: number) =>
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')} ${conflict}`;
    this.#many = database.prepare<[SqlValue[]]>(insert(rowsPerStatement));
    this.#one = database.prepare<[SqlValue[]]>(insert(1));
    this.#columns = columns.length;
  }

  /** Writes the rows in the order they come. */
  write(rows: Iterable<readonly SqlValue[]>): void {
    const width = this.#columns;
    let values: SqlValue[] = [];
    for (const row of rows) {
      values.push(...row);
      if (values.length < rowsPerStatement * width) continue;
      this.#many.run(values);
      values = [];
    }
    for (let at = 0; at < values.length; at += width) this.#one.run(values.slice(at, at + width));
  }
}
