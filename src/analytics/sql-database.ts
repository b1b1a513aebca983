import Database, { type Statement } from 'better-sqlite3';

export type SqlValue = number | bigint | string | Uint8Array | null;

/**
 * SQLite database that prepares each SQL text once. Pass constant texts only, because prepared statements are never deleted. Rows are
 * arrays, except the results of `object` and `objects`. All methods throw SQLite errors.
 */
export class SqlDatabase {
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Statement<unknown[]>>();

  constructor(file: string, options?: Database.Options) {
    this.#database = new Database(file, options);
  }

  rows<Row extends readonly unknown[]>(sql: string, parameters: readonly SqlValue[] = []): Row[] {
    return this.#statement(sql, true).all(...parameters) as Row[];
  }

  /** Reads rows one at a time. The database cannot be changed during the iteration. */
  iterateRows<Row extends readonly unknown[]>(
    sql: string,
    parameters: readonly SqlValue[] = [],
  ): IterableIterator<Row> {
    return this.#statement(sql, true).iterate(...parameters) as IterableIterator<Row>;
  }

  /** Returns the first row, or null if there are no rows. */
  row<Row extends readonly unknown[]>(sql: string, parameters: readonly SqlValue[] = []): Row | null {
    return (this.#statement(sql, true).get(...parameters) as Row | undefined) ?? null;
  }

  /** Returns the first column of the first row, or null if there are no rows. */
  value<Value>(sql: string, parameters: readonly SqlValue[] = []): Value | null {
    return this.row<[Value]>(sql, parameters)?.[0] ?? null;
  }

  /** Returns the first row as an object with the names of the columns, or null if there are no rows. */
  object<Row>(sql: string, parameters: readonly SqlValue[] = []): Row | null {
    return (this.#statement(sql, false).get(...parameters) as Row | undefined) ?? null;
  }

  objects<Row>(sql: string, parameters: readonly SqlValue[] = []): Row[] {
    return this.#statement(sql, false).all(...parameters) as Row[];
  }

  /** Runs a statement that changes rows. Returns the number of changed rows and the row ID of the last inserted row. */
  run(sql: string, parameters: readonly SqlValue[] = []): Database.RunResult {
    // For the many values of a `RowWriter`, one array is faster than many arguments; for a query, arguments are faster.
    return this.#statement(sql, false).run(parameters);
  }

  /** Runs several statements, which are separated by semicolons and have no parameters. */
  execute(sql: string): void {
    this.#database.exec(sql);
  }

  /** Defines a deterministic function that SQL statements can call. */
  defineFunction<Parameters extends SqlValue[]>(name: string, compute: (...parameters: Parameters) => SqlValue): void {
    this.#database.function(name, { deterministic: true }, compute as (...parameters: unknown[]) => SqlValue);
  }

  /** Runs `read` in one transaction, because SQLite would otherwise lock the file separately for each query. */
  read<Result>(read: () => Result): Result {
    return this.#database.transaction(read)();
  }

  /** Runs `write` in one transaction, which locks the file for other writers from its start. */
  write<Result>(write: () => Result): Result {
    return this.#database.transaction(write).immediate();
  }

  /** Closes the file. Repeated calls have no effect. */
  close(): void {
    this.#database.close();
  }

  #statement(sql: string, returnsArrays: boolean): Statement<unknown[]> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      if (returnsArrays) statement.raw();
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Number of rows per INSERT statement. With 8 rows per statement, the aggregator is 12 to 20 % faster than with 1 row. */
const rowsPerStatement = 8;

/** Inserts rows into one table, several rows per statement, in the order of the `add` calls. */
export class RowWriter {
  readonly #database: SqlDatabase;
  readonly #insertManySql: string;
  readonly #insertOneSql: string;
  readonly #columnCount: number;
  #pendingValues: SqlValue[] = [];

  /** @param conflict an `ON CONFLICT` clause; required if the table may already contain some of the rows */
  constructor(database: SqlDatabase, table: string, columns: readonly string[], conflict = '') {
    this.#database = database;
    const row = `(${columns.map(() => '?').join(', ')})`;
    const insert = (rows: number) =>
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')} ${conflict}`;
    this.#insertManySql = insert(rowsPerStatement);
    this.#insertOneSql = insert(1);
    this.#columnCount = columns.length;
  }

  /** Buffers a row. Buffered rows are written together when there are enough rows for one statement, or when `flush` is called. */
  add(row: readonly SqlValue[]): void {
    this.#pendingValues.push(...row);
    if (this.#pendingValues.length < rowsPerStatement * this.#columnCount) return;
    this.#database.run(this.#insertManySql, this.#pendingValues);
    this.#pendingValues = [];
  }

  flush(): void {
    const values = this.#pendingValues;
    this.#pendingValues = [];
    for (let start = 0; start < values.length; start += this.#columnCount) {
      this.#database.run(this.#insertOneSql, values.slice(start, start + this.#columnCount));
    }
  }
}

/** Converts a name such as `recordCount` to the name of a column, such as `record_count`. */
export function toColumnName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Returns the assignments of an `ON CONFLICT DO UPDATE SET` clause that adds the new values to the stored values. A sum beyond 64 bits is
 * rounded, and never becomes negative by the rounding. A null stays null.
 */
export function createIncrementSql(columns: readonly string[]): string {
  return columns.map((column) => `${column} = max(0, ${column} + excluded.${column})`).join(', ');
}

/** Converts an integer to a value that SQLite can store. An integer beyond 64 bits becomes a floating-point number. */
export function toSqlInteger(value: bigint): bigint | number {
  return BigInt.asIntN(64, value) === value ? value : Number(value);
}

/** Returns an expression with the decimal digits of a sum that is not negative, also of one beyond 64 bits. */
export function createDigitsSql(column: string): string {
  return `iif(typeof(${column}) = 'integer', CAST(${column} AS TEXT), replace(format('%!.0f', ${column}), '.0', ''))`;
}

/** Encodes numbers as LEB128 varints, so that small numbers take only one or two bytes. Returns null for an empty list. */
export function encodeVarints(numbers: readonly number[]): Uint8Array | null {
  if (numbers.length === 0) return null;
  let length = 0;
  for (const number of numbers) length += number < 0x80 ? 1 : varintLength(number);
  const bytes = Buffer.allocUnsafe(length);
  let offset = 0;
  for (const number of numbers) {
    let remaining = number;
    while (remaining >= 0x80) {
      bytes[offset++] = (remaining % 0x80) | 0x80;
      remaining = Math.floor(remaining / 0x80);
    }
    bytes[offset++] = remaining;
  }
  return bytes;
}

function varintLength(number: number): number {
  let length = 1;
  for (let limit = 0x80; number >= limit; limit *= 0x80) length++;
  return length;
}

export function decodeVarints(bytes: Uint8Array | null): number[] {
  const numbers: number[] = [];
  let number = 0;
  let scale = 1;
  if (bytes === null) return numbers;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    number += (byte & 0x7f) * scale;
    scale *= 0x80;
    if (byte < 0x80) {
      numbers.push(number);
      number = 0;
      scale = 1;
    }
  }
  return numbers;
}
