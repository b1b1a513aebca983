import { LRUCache } from 'lru-cache';
import { bounds } from '../../bounds.ts';
import type { SessionState } from '../projection-state.ts';
import type { SqlDatabase } from '../sql-database.ts';

export interface CountedDimension {
  readonly name: string;
  /** Sessions at or before this ledger position have no value of the dimension. */
  readonly sincePosition: number;
}

interface StoredValue {
  readonly number: number;
  firstPosition: number;
}

/** Stored value of a dimension for sessions without the metadata key. Every other value is stored as a JSON string. */
export const absentValue = 'null';

/**
 * Numbers the groups of sessions: the device class, and the value of each dimension. The `bounds.dimensionValuesMax` values with the lowest
 * first position have figures of their own. While earlier sessions are counted, sessions do not come in the order of positions; therefore the
 * number of values is unlimited until `removeSurplus`. Afterwards a new value has a higher position than all others, so no value is removed.
 */
export class ExperimentGroups {
  readonly #database: SqlDatabase;
  readonly #values = new LRUCache<string, StoredValue>({ max: bounds.projectionNameCacheEntriesMax });

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /**
   * Returns the numbers of the groups of a session, with the device class first. Adds new values. `readMetadata` returns the metadata of the
   * session as JSON text; it is called only if the experiment has dimensions.
   */
  findGroups(
    { number, dimensions }: { readonly number: number; readonly dimensions: readonly CountedDimension[] },
    { device, position }: SessionState,
    isFilling: boolean,
    readMetadata: () => string | null,
  ): readonly number[] {
    const groups = [deviceGroupOf(device)];
    let metadata: Readonly<Record<string, unknown>> | null = null;
    for (const { name, sincePosition } of dimensions) {
      if (position <= sincePosition) continue;
      metadata ??= parseMetadata(readMetadata());
      const value = Object.hasOwn(metadata, name) ? JSON.stringify(String(metadata[name])) : absentValue;
      const group = this.#findNumber(number, name, value, { position, isFilling });
      if (group !== null) groups.push(group);
    }
    return groups;
  }

  #findNumber(
    experiment: number,
    dimension: string,
    value: string,
    { position, isFilling }: { readonly position: number; readonly isFilling: boolean },
  ): number | null {
    // JSON text contains no NUL character.
    const key = `${experiment} ${dimension}\0${value}`;
    let stored = this.#values.get(key) ?? this.#readValue(experiment, dimension, value);
    if (stored === null) {
      if (!isFilling && value !== absentValue && this.#isFull(experiment, dimension)) return null;
      stored = { number: this.addValue(experiment, dimension, value, position), firstPosition: position };
    } else if (position < stored.firstPosition) {
      this.addValue(experiment, dimension, value, position);
      stored.firstPosition = position;
    }
    this.#values.set(key, stored);
    return stored.number;
  }

  #readValue(experiment: number, dimension: string, value: string): StoredValue | null {
    return this.#database.object<StoredValue>(
      `SELECT number, first_position AS firstPosition FROM experiment_value
        WHERE experiment = ? AND dimension = ? AND value = ?`,
      [experiment, dimension, value],
    );
  }

  #isFull(experiment: number, dimension: string): boolean {
    const values = this.#database.value<number>(
      'SELECT count(*) FROM experiment_value WHERE experiment = ? AND dimension = ? AND value <> ?',
      [experiment, dimension, absentValue],
    )!;
    return values >= bounds.dimensionValuesMax;
  }

  /** Adds a value, or lowers its first position. Returns its number. */
  addValue(experiment: number, dimension: string, value: string, firstPosition: number): number {
    return this.#database.value<number>(
      `INSERT INTO experiment_value (experiment, dimension, value, first_position) VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET first_position = min(first_position, excluded.first_position) RETURNING number`,
      [experiment, dimension, value, firstPosition],
    )!;
  }

  /** Removes a limited number of the values beyond the maximum, with their figures. Returns whether more such values may remain. */
  removeSurplus(experiment: number, dimension: string): boolean {
    const limit = bounds.sessionsFilledPerTransaction;
    const surplus = this.#database.rows<[number: number]>(
      `SELECT number FROM experiment_value WHERE experiment = ? AND dimension = ? AND value <> ?
        ORDER BY first_position LIMIT ? OFFSET ?`,
      [experiment, dimension, absentValue, limit, bounds.dimensionValuesMax],
    );
    this.#remove(experiment, surplus);
    return surplus.length === limit;
  }

  /** Removes all values of a dimension with their figures. */
  removeDimension(experiment: number, dimension: string): void {
    const sql = 'SELECT number FROM experiment_value WHERE experiment = ? AND dimension = ?';
    this.#remove(experiment, this.#database.rows<[number: number]>(sql, [experiment, dimension]));
  }

  /** Removes all values and figures of an experiment. */
  removeAll(experiment: number): void {
    this.#database.run('DELETE FROM experiment_group WHERE experiment = ?', [experiment]);
    this.#database.run('DELETE FROM experiment_value WHERE experiment = ?', [experiment]);
    this.#values.clear();
  }

  #remove(experiment: number, values: readonly [number: number][]): void {
    for (const [number] of values) {
      this.#database.run('DELETE FROM experiment_group WHERE experiment = ? AND value = ?', [experiment, number]);
      this.#database.run('DELETE FROM experiment_value WHERE number = ?', [number]);
    }
    if (values.length > 0) this.#values.clear();
  }
}

/** Returns the number of the group of a device class. */
export function deviceGroupOf(device: number): number {
  return device + 1;
}

function parseMetadata(json: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = json === null ? null : JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
