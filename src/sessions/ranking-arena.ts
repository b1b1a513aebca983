import { bounds } from '../bounds.ts';
import type { UnavailableOffers } from '../matching/matcher.ts';
import { packOrderBytes, sortOrders } from '../matching/matcher.ts';
import { InternTable } from './intern-table.ts';
import type { CachedRanking } from './session-store.ts';

// A record, in bytes: six numbers of 32 bits, the text of the sealed value, the orders of the ranking, 16 bits an offer.
const versionWord = 0;
const unavailableWord = 1;
const totalWord = 2;
const dateWord = 3;
const creditBandWord = 4;
/** Characters of the sealed value, from bit 8 on the places of one order, in bit 16 whether the orders leave closed offers out. */
const shapeWord = 5;
const orderLengthShift = 8;
const availableOnlyBit = 1 << 16;
const clickTokenOffset = 4 * 6;
const ordersOffset = clickTokenOffset + bounds.clickTokenCharactersMax;
const ordersMax = sortOrders.length * bounds.offersRankedMax;
const recordBytes = ordersOffset + 2 * ordersMax;
const recordWords = recordBytes / 4;

/** Records of one buffer: enough that buffers are few, not so many that making one takes long. A power of two. */
const chunkBits = 12;
const chunkRecords = 1 << chunkBits;

interface Chunk {
  readonly words: Int32Array;
  readonly bytes: Buffer;
}

const noRecord = -1;

/**
 * The rankings that sessions keep, outside the JavaScript heap (docs/contributing/decisions/sessions.md): as objects they would
 * be five for each of millions of sessions. What is not needed any more makes room for others; memory once taken is kept.
 */
export class RankingArena {
  readonly #versions = new InternTable<string>();
  readonly #unavailableOffers = new InternTable<UnavailableOffers>();
  readonly #chunks: Chunk[] = [];
  /** Places given out so far, those that are free again included. */
  #allocatedCount = 0;
  /** The place that became free last; each free record begins with the place that became free before it. */
  #freeListHead = noRecord;

  /**
   * The place where the ranking is kept from now on. Throws a RangeError for one that no matcher makes: with longer orders, or of
   * different lengths, or with a longer value.
   */
  store({ ranking, rankedOn, unavailableOffers, creditBand, clickToken }: CachedRanking): number {
    const { catalogVersion, total, availableOnly, orders } = ranking;
    const places = orders.length / sortOrders.length;
    if (orders.length > ordersMax || !Number.isInteger(places) || clickToken.length > bounds.clickTokenCharactersMax) {
      throw new RangeError('this is no ranking that can be kept');
    }
    const place = this.#allocate();
    const { words, bytes } = this.#chunkOf(place);
    const record = place & (chunkRecords - 1);
    const word = record * recordWords;
    words[word + versionWord] = this.#versions.intern(catalogVersion);
    words[word + unavailableWord] = this.#unavailableOffers.intern(unavailableOffers);
    words[word + totalWord] = total;
    words[word + dateWord] = rankedOn;
    words[word + creditBandWord] = creditBand;
    words[word + shapeWord] = clickToken.length | (places << orderLengthShift) | (availableOnly ? availableOnlyBit : 0);
    const byte = record * recordBytes;
    bytes.write(clickToken, byte + clickTokenOffset, 'latin1');
    bytes.write(orders, byte + ordersOffset, 'utf16le');
    return place;
  }

  /** What is kept at a place that `keep` gave. */
  read(place: number): CachedRanking {
    const { words, bytes } = this.#chunkOf(place);
    const record = place & (chunkRecords - 1);
    const word = record * recordWords;
    const byte = record * recordBytes;
    const shape = words[word + shapeWord]!;
    const places = (shape >>> orderLengthShift) & 0xff;
    const ordersEnd = byte + ordersOffset + 2 * sortOrders.length * places;
    const sealedEnd = byte + clickTokenOffset + (shape & 0xff);
    return {
      ranking: {
        catalogVersion: this.#versions.get(words[word + versionWord]!),
        total: words[word + totalWord]!,
        availableOnly: (shape & availableOnlyBit) !== 0,
        orders: packOrderBytes(bytes, byte + ordersOffset, ordersEnd),
      },
      rankedOn: words[word + dateWord]!,
      unavailableOffers: this.#unavailableOffers.get(words[word + unavailableWord]!),
      creditBand: words[word + creditBandWord]!,
      clickToken: bytes.toString('latin1', byte + clickTokenOffset, sealedEnd),
    };
  }

  /** Nobody will read it any more. */
  release(place: number): void {
    const { words } = this.#chunkOf(place);
    const word = (place & (chunkRecords - 1)) * recordWords;
    this.#versions.release(words[word + versionWord]!);
    this.#unavailableOffers.release(words[word + unavailableWord]!);
    // The credit band is the borrower's, and no longer anybody's business.
    words.fill(0, word, word + recordWords);
    words[word] = this.#freeListHead;
    this.#freeListHead = place;
  }

  #allocate(): number {
    const place = this.#freeListHead;
    if (place !== noRecord) {
      this.#freeListHead = this.#chunkOf(place).words[(place & (chunkRecords - 1)) * recordWords]!;
      return place;
    }
    if (this.#allocatedCount === this.#chunks.length * chunkRecords) {
      const bytes = Buffer.alloc(chunkRecords * recordBytes);
      this.#chunks.push({ bytes, words: new Int32Array(bytes.buffer, bytes.byteOffset, chunkRecords * recordWords) });
    }
    return this.#allocatedCount++;
  }

  #chunkOf(place: number): Chunk {
    return this.#chunks[place >>> chunkBits]!;
  }
}
