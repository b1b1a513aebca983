import { bounds } from '../bounds.ts';
import { sortOrderNames } from '../domain/vertical.ts';
import { packOfferBytes, type Ranking } from '../matching/matcher.ts';
import { InternTable } from './intern-table.ts';

// Layout of a record: six 32-bit words, the click token, and the offer indices of each sort order with 16 bits per offer.
const versionWord = 0;
const unavailableWord = 1;
const totalWord = 2;
const dateWord = 3;
const creditBandWord = 4;
/**
 * Index of the 32-bit word that combines three values of a ranking: the length of the click token (bits 0-7), the number of offers in each
 * sort order (bits 8-15), and `availableOnly` (bit 16).
 */
const shapeWord = 5;
const orderLengthShift = 8;
const availableOnlyBit = 1 << 16;
const clickTokenOffset = 4 * 6;
const ordersOffset = clickTokenOffset + bounds.clickTokenCharactersMax;
const ordersMax = sortOrderNames.length * bounds.offersRankedMax;
const recordBytes = ordersOffset + 2 * ordersMax;
const recordWords = recordBytes / 4;

/** Number of bits of a record's index within its chunk. A chunk has 4096 records, so that the allocation of a chunk is fast. */
const chunkBits = 12;
const chunkRecords = 1 << chunkBits;

interface Chunk {
  readonly words: Int32Array;
  readonly bytes: Buffer;
}

const noRecord = -1;

export interface CachedRanking {
  readonly ranking: Ranking;
  /** Compact date (YYYYMMDD) for which the borrower's age was computed. */
  readonly rankedOn: number;
  /**
   * `setNumber` of the offers that were unavailable when the ranking was computed. An `availableOnly` ranking is valid only for the same
   * set of unavailable offers.
   */
  readonly unavailableSet: number;
  /** Index of the borrower's credit band in the list of credit bands. The revenue of a click depends on the credit band. */
  readonly creditBand: number;
  /** Encrypted credit band and catalog version. Value of the parameter `v` in click URLs (docs/contract.md#click-urls). */
  readonly clickToken: string;
}

/**
 * Cached rankings of sessions, outside the JavaScript heap (docs/contributing/decisions/sessions.md). On the heap, each ranking would be
 * five objects, and millions of objects slow garbage collection. Released records are reused, but their memory is never returned to the
 * system.
 */
export class RankingArena {
  readonly #versions = new InternTable<string>();
  readonly #chunks: Chunk[] = [];
  /** Number of ranking records allocated so far, including free records that can be reused. */
  #allocatedCount = 0;
  /** Index of the last released record, or -1. Each released record contains the index of the record that was released before it. */
  #freeListHead = noRecord;

  /** Stores a ranking and returns its index. Throws a RangeError if the sort orders or the click token have an invalid length. */
  storeRanking({ ranking, rankedOn, unavailableSet, creditBand, clickToken }: CachedRanking): number {
    const { catalogVersion, total, availableOnly, orders } = ranking;
    const orderLength = orders.length / sortOrderNames.length;
    if (
      orders.length > ordersMax ||
      !Number.isInteger(orderLength) ||
      clickToken.length > bounds.clickTokenCharactersMax
    ) {
      throw new RangeError('ranking has the wrong length');
    }
    const index = this.#allocateRecord();
    const { words, bytes } = this.#findChunk(index);
    const record = index & (chunkRecords - 1);
    const word = record * recordWords;
    words[word + versionWord] = this.#versions.internValue(catalogVersion);
    words[word + unavailableWord] = unavailableSet;
    words[word + totalWord] = total;
    words[word + dateWord] = rankedOn;
    words[word + creditBandWord] = creditBand;
    words[word + shapeWord] =
      clickToken.length | (orderLength << orderLengthShift) | (availableOnly ? availableOnlyBit : 0);
    const byte = record * recordBytes;
    bytes.write(clickToken, byte + clickTokenOffset, 'latin1');
    bytes.write(orders, byte + ordersOffset, 'utf16le');
    return index;
  }

  readRanking(index: number): CachedRanking {
    const { words, bytes } = this.#findChunk(index);
    const record = index & (chunkRecords - 1);
    const word = record * recordWords;
    const byte = record * recordBytes;
    const shape = words[word + shapeWord]!;
    const orderLength = (shape >>> orderLengthShift) & 0xff;
    const ordersEnd = byte + ordersOffset + 2 * sortOrderNames.length * orderLength;
    const clickTokenEnd = byte + clickTokenOffset + (shape & 0xff);
    return {
      ranking: {
        catalogVersion: this.#versions.get(words[word + versionWord]!),
        total: words[word + totalWord]!,
        availableOnly: (shape & availableOnlyBit) !== 0,
        orders: packOfferBytes(bytes, byte + ordersOffset, ordersEnd),
      },
      rankedOn: words[word + dateWord]!,
      unavailableSet: words[word + unavailableWord]!,
      creditBand: words[word + creditBandWord]!,
      clickToken: bytes.toString('latin1', byte + clickTokenOffset, clickTokenEnd),
    };
  }

  releaseRanking(index: number): void {
    const { words } = this.#findChunk(index);
    const word = (index & (chunkRecords - 1)) * recordWords;
    this.#versions.releaseValue(words[word + versionWord]!);
    // A released record is cleared, because the credit band is personal data.
    words.fill(0, word, word + recordWords);
    words[word] = this.#freeListHead;
    this.#freeListHead = index;
  }

  #allocateRecord(): number {
    const index = this.#freeListHead;
    if (index !== noRecord) {
      this.#freeListHead = this.#findChunk(index).words[(index & (chunkRecords - 1)) * recordWords]!;
      return index;
    }
    if (this.#allocatedCount === this.#chunks.length * chunkRecords) {
      const bytes = Buffer.alloc(chunkRecords * recordBytes);
      this.#chunks.push({ bytes, words: new Int32Array(bytes.buffer, bytes.byteOffset, chunkRecords * recordWords) });
    }
    return this.#allocatedCount++;
  }

  #findChunk(index: number): Chunk {
    return this.#chunks[index >>> chunkBits]!;
  }
}
