import { bounds } from '../bounds.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import { type ArchivedOfferViews, archiveRecordKind } from './archive-record.ts';
import type { OfferTotals } from './offer-totals.ts';
import type { SessionState } from './projection-state.ts';
import { decodeVarints, encodeVarints, RowWriter, type SqlDatabase } from './sql-database.ts';

const positionsMax = bounds.offerPositionsMax;

/** Offers that a batch shows to the sessions of one referrer tag and cohort day. */
export class ShownOffers {
  readonly tagNumber: number;
  readonly day: number;
  /** One item for each time that an offer was shown: the number of the offer times `positionsMax`, plus the position. */
  readonly places: number[] = [];

  constructor(tagNumber: number, day: number) {
    this.tagNumber = tagNumber;
    this.day = day;
  }

  /** @param position 0 for the first position; the last counted position includes all later positions */
  add(offer: number, position: number): void {
    this.places.push(toPlace(offer, position));
  }
}

function toPlace(offer: number, position: number): number {
  return offer * positionsMax + Math.min(position, positionsMax - 1);
}

/** Places (see `ShownOffers`) in ascending order, each followed by its count. */
type PlaceCounts = readonly number[];

/**
 * Counts how often each offer was shown to the sessions of a referrer tag and day (docs/contract.md#offers), in the table `offer_view`. One
 * row contains the counts of all offers, because one row for each offer would make the aggregator much slower.
 */
export class OfferViews {
  readonly #database: SqlDatabase;
  readonly #writer: RowWriter;
  readonly #totals: OfferTotals;
  readonly #changes = new Map<number, ShownOffers>();
  /** Counts by place of archived days of one tag. */
  readonly #restored = new Map<number, Map<number, number>>();

  constructor(database: SqlDatabase, totals: OfferTotals) {
    this.#database = database;
    this.#totals = totals;
    const columns = ['tag_number', 'day', 'shown'];
    database.defineFunction('add_shown', (stored: Uint8Array, added: Uint8Array) =>
      encodeCounts(mergeCounts(decodeCounts(stored), decodeCounts(added))),
    );
    const conflict = 'ON CONFLICT DO UPDATE SET shown = add_shown(shown, excluded.shown)';
    this.#writer = new RowWriter(database, 'offer_view', columns, conflict);
  }

  /** Returns the changes of the batch for the session's tag and cohort day. */
  changesOf({ tagNumber, createdMs }: SessionState): ShownOffers {
    const day = daysSinceEpoch(createdMs);
    return getOrAdd(this.#changes, tagNumber * 2 ** 22 + day, () => new ShownOffers(tagNumber, day));
  }

  /** Adds the changes of the batch to the stored counts. */
  writeChanges(): void {
    for (const { tagNumber, day, places } of this.#changes.values()) {
      this.#write(tagNumber, day, countPlaces(new Uint32Array(places).sort()));
    }
    this.#writer.flush();
    this.#changes.clear();
  }

  /** Collects the counts of an archived day. The caller must call `writeRestored` after the last day of a tag. */
  restore(offer: number, [, [day, , first, ...counts]]: ArchivedOfferViews): void {
    const places = getOrAdd(this.#restored, day, () => new Map<number, number>());
    for (const [index, count] of counts.entries()) {
      const place = toPlace(offer, first + index);
      if (count > 0) places.set(place, count + (places.get(place) ?? 0));
    }
  }

  writeRestored(tagNumber: number): void {
    for (const [day, places] of this.#restored) {
      this.#write(tagNumber, day, [...places].sort(([a], [b]) => a - b).flat());
    }
    this.#writer.flush();
    this.#restored.clear();
  }

  #write(tagNumber: number, day: number, counts: PlaceCounts): void {
    if (counts.length === 0) return;
    this.#writer.add([tagNumber, day, encodeCounts(counts)]);
    for (let index = 0; index < counts.length; index += 2) {
      this.#totals.add(tagNumber, day, Math.floor(counts[index]! / positionsMax), { shown: counts[index + 1]! });
    }
  }

  /** Yields the counts of a tag from `fromDay` (inclusive) to `untilDay` (exclusive) for the archive. */
  *readDays(tagNumber: number, fromDay: number, untilDay: number): Generator<ArchivedOfferViews, void> {
    for (const [day, shown] of [...selectRows(this.#database, tagNumber, fromDay, untilDay - 1)]) {
      for (const [offer, counts] of addByOffer(new Map(), decodeCounts(shown))) {
        const id = this.#database.value<string>('SELECT id FROM offer WHERE number = ?', [offer])!;
        const first = counts.findIndex((count) => count > 0);
        const end = counts.findLastIndex((count) => count > 0) + 1;
        yield [archiveRecordKind.offerViews, [day, id, first, ...counts.slice(first, end)]];
      }
    }
  }
}

/** How often offers were shown at each position, by the number of the offer. */
type ShownByOffer = Map<number, number[]>;

/** Reads how often each offer was shown to the sessions of a tag from `fromDay` to `toDay`, both inclusive. */
export function readShownOffers(
  database: SqlDatabase,
  tagNumber: number,
  fromDay: number,
  toDay: number,
): ShownByOffer {
  const byOffer: ShownByOffer = new Map();
  for (const [, shown] of selectRows(database, tagNumber, fromDay, toDay)) addByOffer(byOffer, decodeCounts(shown));
  return byOffer;
}

function selectRows(database: SqlDatabase, tagNumber: number, fromDay: number, toDay: number) {
  return database.iterateRows<[day: number, shown: Uint8Array]>(
    'SELECT day, shown FROM offer_view WHERE tag_number = ? AND day BETWEEN ? AND ?',
    [tagNumber, fromDay, toDay],
  );
}

function addByOffer(byOffer: ShownByOffer, counts: PlaceCounts): ShownByOffer {
  for (let index = 0; index < counts.length; index += 2) {
    const place = counts[index]!;
    const offer = Math.floor(place / positionsMax);
    const shown = getOrAdd(byOffer, offer, () => Array<number>(positionsMax).fill(0));
    shown[place % positionsMax]! += counts[index + 1]!;
  }
  return byOffer;
}

/** Counts equal places in a sorted list. */
function countPlaces(sorted: Uint32Array): PlaceCounts {
  const counts: number[] = [];
  for (let start = 0, index = 1; index <= sorted.length; index++) {
    if (sorted[index] === sorted[start]) continue;
    counts.push(sorted[start]!, index - start);
    start = index;
  }
  return counts;
}

/** Adds the counts of two lists. */
function mergeCounts(a: PlaceCounts, b: PlaceCounts): PlaceCounts {
  const merged: number[] = [];
  let nextA = 0;
  let nextB = 0;
  while (nextA < a.length || nextB < b.length) {
    const placeA = a[nextA] ?? Number.POSITIVE_INFINITY;
    const placeB = b[nextB] ?? Number.POSITIVE_INFINITY;
    let count = 0;
    if (placeA <= placeB) {
      count += a[nextA + 1]!;
      nextA += 2;
    }
    if (placeB <= placeA) {
      count += b[nextB + 1]!;
      nextB += 2;
    }
    merged.push(Math.min(placeA, placeB), count);
  }
  return merged;
}

/** Encodes each place as the difference to the previous place, so that most numbers take one byte. */
function encodeCounts(counts: PlaceCounts): Uint8Array | null {
  let previous = 0;
  const numbers = counts.map((number, index) => {
    if (index % 2 === 1) return number;
    const difference = number - previous;
    previous = number;
    return difference;
  });
  return encodeVarints(numbers);
}

function decodeCounts(shown: Uint8Array): PlaceCounts {
  const numbers = decodeVarints(shown);
  for (let index = 2; index < numbers.length; index += 2) numbers[index]! += numbers[index - 2]!;
  return numbers;
}
