import { bounds } from '../bounds.ts';
import { addOffer, emptyOfferSet, hasOffer, intersectOffers, type OfferSet, removeOffer } from './offer-set.ts';

/** The offers that some value between two neighbouring cuts may pass, and those among them that not every such value does. */
interface Bucket {
  readonly candidates: OfferSet;
  readonly undecided: Uint16Array;
}

/**
 * Answers for a whole number which offers' ranges it lies in. The numbers are cut into at most `matchIndexBucketsMax` buckets where
 * ranges begin or end. With more beginnings and ends than that some lie inside a bucket, and the offers they belong to,
 * few in each, are looked at one by one. A bucket is made when a value first falls into it, and its bytes are told to
 * `reckon` before it is kept.
 */
export class RangeIndex {
  readonly #min: Float64Array;
  readonly #max: Float64Array;
  /** Where each bucket but the first begins. */
  readonly #cuts: Float64Array;
  readonly #buckets: (Bucket | undefined)[];
  readonly #reserveBytes: (bytes: number) => void;

  /** `min` and `max` by offer, both inclusive; they may be infinite, and a range that ends before it begins holds nothing. */
  constructor(min: Float64Array, max: Float64Array, reserveBytes: (bytes: number) => void = () => {}) {
    this.#min = min;
    this.#max = max;
    this.#cuts = chooseCuts(min, max);
    this.#buckets = new Array<Bucket | undefined>(this.#cuts.length + 1);
    this.#reserveBytes = reserveBytes;
  }

  /** What is held without any bucket, and without the ranges, which are the caller's. */
  get byteLength(): number {
    return this.#cuts.byteLength;
  }

  /** Lets go of all buckets. */
  clear(): void {
    this.#buckets.fill(undefined);
  }

  /** Leaves in `eligible` the offers whose range holds the value. */
  filter(eligible: OfferSet, value: number): void {
    const at = this.#bucketOf(value);
    const bucket = this.#buckets[at] ?? this.#buildBucket(at);
    this.#buckets[at] = bucket;
    const { candidates, undecided } = bucket;
    intersectOffers(eligible, candidates);
    for (let i = 0; i < undecided.length; i++) {
      const offer = undecided[i]!;
      if (hasOffer(eligible, offer) && (value < this.#min[offer]! || value > this.#max[offer]!)) {
        removeOffer(eligible, offer);
      }
    }
  }

  #bucketOf(value: number): number {
    const cuts = this.#cuts;
    let low = 0;
    let high = cuts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (cuts[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #buildBucket(at: number): Bucket {
    const least = at === 0 ? Number.NEGATIVE_INFINITY : this.#cuts[at - 1]!;
    const end = at === this.#cuts.length ? Number.POSITIVE_INFINITY : this.#cuts[at]!;
    const candidates = emptyOfferSet(this.#min.length);
    const undecided: number[] = [];
    for (let offer = 0; offer < this.#min.length; offer++) {
      const min = this.#min[offer]!;
      const max = this.#max[offer]!;
      if (min >= end || max < least || min > max) continue;
      addOffer(candidates, offer);
      if (min > least || max + 1 < end) undecided.push(offer);
    }
    const bucket: Bucket = { candidates, undecided: Uint16Array.from(undecided) };
    this.#reserveBytes(bucket.candidates.byteLength + bucket.undecided.byteLength);
    return bucket;
  }
}

/** Where ranges begin and where they have just ended; of too many, some with as many ranges between each two of them. */
function chooseCuts(min: Float64Array, max: Float64Array): Float64Array {
  const edges = new Float64Array(min.length + max.length);
  edges.set(min);
  for (let offer = 0; offer < max.length; offer++) edges[min.length + offer] = max[offer]! + 1;
  edges.sort();
  // Behind the last of each run of equal edges comes another one; infinite ones cut nothing.
  const cuts = edges.filter((edge, at) => edge !== edges[at + 1] && Number.isFinite(edge));
  if (cuts.length < bounds.matchIndexBucketsMax) return cuts;
  const step = edges.length / bounds.matchIndexBucketsMax;
  const chosen = Float64Array.from(
    { length: bounds.matchIndexBucketsMax - 1 },
    (_, at) => edges[Math.floor((at + 1) * step)]!,
  );
  return chosen.filter((edge, at) => edge !== chosen[at + 1] && Number.isFinite(edge));
}
