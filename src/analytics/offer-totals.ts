import { bounds } from '../bounds.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import type { OfferTotal, OfferTotalsQuery } from './analytics.ts';
import { createIncrementSql, RowWriter, type SqlDatabase } from './sql-database.ts';

type OfferSums = Omit<OfferTotal, 'offerId'>;
type ChangedSums = { -readonly [Name in keyof OfferSums]: number };

/** Changes of the sums of one vertical and mode. */
interface TenantChanges {
  readonly vertical: number;
  readonly test: number;
  /** Changes by the number of the offer times `dayFactor`, plus the day. */
  readonly sums: Map<number, ChangedSums>;
}

/** Above every day number. */
const dayFactor = 2 ** 22;

const keyColumns = ['vertical', 'test', 'offer', 'day'];
const sumColumns = ['shown', 'clicks', 'attributed_micros', 'confirmed_micros'];

/**
 * Sums of the counters of each offer over all referrer tags and accounts of a vertical and mode, by cohort day, in the table `offer_total`.
 * Without this table, a query would have to read the counters of all tags.
 */
export class OfferTotals {
  readonly #database: SqlDatabase;
  readonly #writer: RowWriter;
  /** Changes that are not written yet. */
  readonly #changes: TenantChanges[] = [];
  #changeCount = 0;
  /** Changes of the vertical and mode of a referrer tag, by number of the tag. */
  readonly #changesByTag = new Map<number, TenantChanges>();

  constructor(database: SqlDatabase) {
    this.#database = database;
    const conflict = `ON CONFLICT DO UPDATE SET ${createIncrementSql(sumColumns)}`;
    this.#writer = new RowWriter(database, 'offer_total', [...keyColumns, ...sumColumns], conflict);
  }

  /** Adds counts of one referrer tag, day and offer. The number 0 means clicks that an earlier release archived without offers. */
  add(tagNumber: number, day: number, offer: number, added: Partial<OfferSums>): void {
    if (offer === 0) return;
    const { sums: changes } = this.#changesByTag.get(tagNumber) ?? this.#findTenant(tagNumber);
    const sums = getOrAdd(changes, offer * dayFactor + day, () => {
      this.#changeCount++;
      return { shown: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };
    });
    sums.shown += added.shown ?? 0;
    sums.clicks += added.clicks ?? 0;
    sums.attributedMicros += added.attributedMicros ?? 0;
    sums.confirmedMicros += added.confirmedMicros ?? 0;
    if (this.#changeCount >= bounds.offerTotalsBufferedMax) this.flush();
  }

  /** Adds the changes to the stored sums. */
  flush(): void {
    for (const { vertical, test, sums } of this.#changes) {
      for (const [key, { shown, clicks, attributedMicros, confirmedMicros }] of sums) {
        const [offer, day] = [Math.floor(key / dayFactor), key % dayFactor];
        this.#writer.add([vertical, test, offer, day, shown, clicks, attributedMicros, confirmedMicros]);
      }
      sums.clear();
    }
    this.#writer.flush();
    this.#changeCount = 0;
  }

  /** Finds the vertical and mode of a referrer tag in the store. */
  #findTenant(tagNumber: number): TenantChanges {
    const sql = 'SELECT vertical, test FROM referrer_tag WHERE number = ?';
    const [vertical, test] = this.#database.row<[number, number]>(sql, [tagNumber])!;
    let changes = this.#changes.find((each) => each.vertical === vertical && each.test === test);
    if (changes === undefined) {
      changes = { vertical, test, sums: new Map() };
      this.#changes.push(changes);
    }
    if (this.#changesByTag.size >= bounds.projectionNameCacheEntriesMax) this.#changesByTag.clear();
    this.#changesByTag.set(tagNumber, changes);
    return changes;
  }
}

const selectTotalsSql = `
  SELECT ifnull(sum(shown), 0) AS shown, ifnull(sum(clicks), 0) AS clicks,
    total(attributed_micros) AS attributedMicros, total(confirmed_micros) AS confirmedMicros
  FROM offer_total
  WHERE vertical = ? AND test = ? AND offer = (SELECT number FROM offer WHERE id = ?) AND day BETWEEN ? AND ?`;

/** Reads the sums of the given offers over all accounts and the days of the query, in the order of the query. */
export function readOfferTotals(database: SqlDatabase, query: OfferTotalsQuery): readonly OfferTotal[] {
  const { vertical, mode, fromDay, toDay, offerIds } = query;
  return offerIds.map((offerId) => ({
    offerId,
    ...database.object<OfferSums>(selectTotalsSql, [vertical, mode === 'test' ? 1 : 0, offerId, fromDay, toDay])!,
  }));
}
