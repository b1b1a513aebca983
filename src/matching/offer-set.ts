/**
 * Sets of offers as bits: offer `n` is bit `n & 31` of word `n >>> 5`. Rules that many offers share are kept as such sets, so
 * that 32 offers are decided by one instruction.
 */
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

/** The place of the lowest bit set in a word that is not 0. */
export function lowestBitIndex(word: number): number {
  return 31 - Math.clz32(word & -word);
}

export function countOffers(offers: OfferSet): number {
  let count = 0;
  for (let word = 0; word < offers.length; word++) count += bitCount(offers[word]!);
  return count;
}

/** Leaves in `offers` those that are among `others`, too. */
export function intersectOffers(offers: OfferSet, others: OfferSet): void {
  for (let word = 0; word < offers.length; word++) offers[word]! &= others[word]!;
}

/** Leaves in `offers` those that are not among `others`. */
export function subtractOffers(offers: OfferSet, others: OfferSet): void {
  for (let word = 0; word < offers.length; word++) offers[word]! &= ~others[word]!;
}

/** How many bits of one word are set. */
function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
