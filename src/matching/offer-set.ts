/** Bit set of offers: offer `n` is bit `n & 31` of word `n >>> 5`. Set operations process 32 offers with one instruction. */
export type OfferSet = Int32Array;

export function emptyOfferSet(offerCount: number): OfferSet {
  return new Int32Array((offerCount + 31) >>> 5);
}

export function addOffer(bits: OfferSet, offer: number): void {
  bits[offer >>> 5]! |= 1 << (offer & 31);
}

export function removeOffer(bits: OfferSet, offer: number): void {
  bits[offer >>> 5]! &= ~(1 << (offer & 31));
}

export function hasOffer(bits: OfferSet, offer: number): boolean {
  return (bits[offer >>> 5]! & (1 << (offer & 31))) !== 0;
}

/** Replaces the content of `offers` with all offers of a catalog. */
export function fillOfferSet(offers: OfferSet, offerCount: number): void {
  offers.fill(-1);
  const rest = offerCount & 31;
  if (rest !== 0) offers[offers.length - 1] = (1 << rest) - 1;
}

/** Returns the position of the lowest set bit of a word that is not 0. */
export function lowestBitIndex(word: number): number {
  return 31 - Math.clz32(word & -word);
}

export function countOffers(offers: OfferSet): number {
  let count = 0;
  for (let word = 0; word < offers.length; word++) count += bitCount(offers[word]!);
  return count;
}

export function intersectOffers(offers: OfferSet, others: OfferSet): void {
  for (let word = 0; word < offers.length; word++) offers[word]! &= others[word]!;
}

function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
