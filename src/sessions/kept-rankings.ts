import { bounds } from '../bounds.ts';
import type { ClosedOffers } from '../offers/closed-offers.ts';
import { sorts } from '../offers/matcher.ts';
import { packOrderBytes } from '../offers/packed-orders.ts';
import type { Ranked } from './session.ts';
import { SharedValues } from './shared-values.ts';

// A record, in bytes: six numbers of 32 bits, the text of the sealed value, the orders of the ranking, 16 bits an offer.
const versionWord = 0;
const closedWord = 1;
const totalWord = 2;
const todayWord = 3;
const creditBandWord = 4;
/** Characters of the sealed value, from bit 8 on the places of one order, in bit 16 whether the orders leave closed offers out. */
const shapeWord = 5;
const placesShift = 8;
const openOnlyBit = 1 << 16;
const sealedByte = 4 * 6;
const ordersByte = sealedByte + bounds.sealedValueCharactersMax;
const ordersMax = sorts.length * bounds.offersRankedMax;
const recordBytes = ordersByte + 2 * ordersMax;
const recordWords = recordBytes / 4;

/** Records of one buffer: enough that buffers are few, not so many that making one takes long. A power of two. */
const chunkBits = 12;
const chunkRecords = 1 << chunkBits;

interface Chunk {
  readonly words: Int32Array;
  readonly bytes: Buffer;
}

const noPlace = -1;

/**
 * The rankings that sessions keep, outside the JavaScript heap (docs/contributing/decisions/sessions.md): as objects they would
 * be five for each of millions of sessions. What is not needed any more makes room for others; memory once taken is kept.
 */
export class KeptRankings {
  readonly #versions = new SharedValues<string>();
  readonly #closed = new SharedValues<ClosedOffers>();
  readonly #chunks: Chunk[] = [];
  /** Places given out so far, those that are free again included. */
  #given = 0;
  /** The place that became free last; each free record begins with the place that became free before it. */
  #free = noPlace;

  /**
   * The place where the ranking is kept from now on. Throws a RangeError for one that no matcher makes: with longer orders, or of
   * different lengths, or with a longer value.
   */
  keep({ ranking, today, closed, creditBand, sealedValue }: Ranked): number {
    const { catalogVersion, total, openOnly, orders } = ranking;
    const places = orders.length / sorts.length;
    if (
      orders.length > ordersMax ||
      !Number.isInteger(places) ||
      sealedValue.length > bounds.sealedValueCharactersMax
    ) {
      throw new RangeError('this is no ranking that can be kept');
    }
    const place = this.#take();
    const { words, bytes } = this.#chunkOf(place);
    const record = place & (chunkRecords - 1);
    const word = record * recordWords;
    words[word + versionWord] = this.#versions.hold(catalogVersion);
    words[word + closedWord] = this.#closed.hold(closed);
    words[word + totalWord] = total;
    words[word + todayWord] = today;
    words[word + creditBandWord] = creditBand;
    words[word + shapeWord] = sealedValue.length | (places << placesShift) | (openOnly ? openOnlyBit : 0);
    const byte = record * recordBytes;
    bytes.write(sealedValue, byte + sealedByte, 'latin1');
    bytes.write(orders, byte + ordersByte, 'utf16le');
    return place;
  }

  /** What is kept at a place that `keep` gave. */
  read(place: number): Ranked {
    const { words, bytes } = this.#chunkOf(place);
    const record = place & (chunkRecords - 1);
    const word = record * recordWords;
    const byte = record * recordBytes;
    const shape = words[word + shapeWord]!;
    const places = (shape >>> placesShift) & 0xff;
    const ordersEnd = byte + ordersByte + 2 * sorts.length * places;
    const sealedEnd = byte + sealedByte + (shape & 0xff);
    return {
      ranking: {
        catalogVersion: this.#versions.at(words[word + versionWord]!),
        total: words[word + totalWord]!,
        openOnly: (shape & openOnlyBit) !== 0,
        orders: packOrderBytes(bytes, byte + ordersByte, ordersEnd),
      },
      today: words[word + todayWord]!,
      closed: this.#closed.at(words[word + closedWord]!),
      creditBand: words[word + creditBandWord]!,
      sealedValue: bytes.toString('latin1', byte + sealedByte, sealedEnd),
    };
  }

  /** Nobody will read it any more. */
  release(place: number): void {
    const { words } = this.#chunkOf(place);
    const word = (place & (chunkRecords - 1)) * recordWords;
    this.#versions.release(words[word + versionWord]!);
    this.#closed.release(words[word + closedWord]!);
    // The credit band is the borrower's, and no longer anybody's business.
    words.fill(0, word, word + recordWords);
    words[word] = this.#free;
    this.#free = place;
  }

  #take(): number {
    const place = this.#free;
    if (place !== noPlace) {
      this.#free = this.#chunkOf(place).words[(place & (chunkRecords - 1)) * recordWords]!;
      return place;
    }
    if (this.#given === this.#chunks.length * chunkRecords) {
      const bytes = Buffer.alloc(chunkRecords * recordBytes);
      this.#chunks.push({ bytes, words: new Int32Array(bytes.buffer, bytes.byteOffset, chunkRecords * recordWords) });
    }
    return this.#given++;
  }

  #chunkOf(place: number): Chunk {
    return this.#chunks[place >>> chunkBits]!;
  }
}
