import { bounds } from '../bounds.ts';
import { addOffer, emptyOfferSet, hasOffer, intersectOffers, type OfferSet, removeOffer } from './offer-set.ts';

/** `candidates` are offers whose range overlaps the bucket; `undecided` are the candidates whose range covers only a part of the bucket. */
interface Bucket {
  readonly candidates: OfferSet;
  readonly undecided: Uint16Array;
}

/**
 * Index that finds the offers whose range contains an integer. The index divides the integers into at most `rangeIndexBucketsMax` intervals
 * (buckets), which begin and end at range limits. If there are more range limits than bucket boundaries, some range limits are inside a
 * bucket. A lookup in a bucket checks each offer whose range begins or ends inside the bucket. A bucket is built when it is first used.
 */
export class RangeIndex {
  readonly #min: Float64Array;
  readonly #max: Float64Array;
  /** Lowest number of each bucket except the first. */
  readonly #cuts: Float64Array;
  readonly #buckets: (Bucket | undefined)[];

  /** `min` and `max` are the inclusive limits of each offer's range and may be infinite. A range with `max` below `min` is empty. */
  constructor(min: Float64Array, max: Float64Array) {
    this.#min = min;
    this.#max = max;
    this.#cuts = chooseCuts(min, max);
    this.#buckets = new Array<Bucket | undefined>(this.#cuts.length + 1);
  }

  /** Removes from `eligible` the offers whose range does not contain `value`. */
  filterOffers(eligible: OfferSet, value: number): void {
    const at = this.#bucketIndexOf(value);
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

  #bucketIndexOf(value: number): number {
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
    const start = at === 0 ? Number.NEGATIVE_INFINITY : this.#cuts[at - 1]!;
    const end = at === this.#cuts.length ? Number.POSITIVE_INFINITY : this.#cuts[at]!;
    const candidates = emptyOfferSet(this.#min.length);
    const undecided: number[] = [];
    for (let offer = 0; offer < this.#min.length; offer++) {
      const min = this.#min[offer]!;
      const max = this.#max[offer]!;
      if (min >= end || max < start || min > max) continue;
      addOffer(candidates, offer);
      if (min > start || max + 1 < end) undecided.push(offer);
    }
    return { candidates, undecided: Uint16Array.from(undecided) };
  }
}

/** Returns bucket boundaries, ascending. A boundary is the first integer of an offer's range, or the first integer after the range. */
function chooseCuts(min: Float64Array, max: Float64Array): Float64Array {
  const edges = new Float64Array(min.length + max.length);
  edges.set(min);
  for (let offer = 0; offer < max.length; offer++) edges[min.length + offer] = max[offer]! + 1;
  edges.sort();
  // Removes repeated and infinite bucket boundaries.
  const cuts = edges.filter((edge, at) => edge !== edges[at + 1] && Number.isFinite(edge));
  if (cuts.length < bounds.rangeIndexBucketsMax) return cuts;
  const step = edges.length / bounds.rangeIndexBucketsMax;
  const chosen = Float64Array.from(
    { length: bounds.rangeIndexBucketsMax - 1 },
    (_, at) => edges[Math.floor((at + 1) * step)]!,
  );
  return chosen.filter((edge, at) => edge !== chosen[at + 1] && Number.isFinite(edge));
}
