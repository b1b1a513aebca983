/**
 * Sets of offers as bits: offer `n` is bit `n & 31` of word `n >>> 5`. Rules that many offers share are kept as such sets, so
 * that 32 offers are decided by one instruction.
 */
export type OfferBits = Int32Array;

export function wordsFor(offerCount: number): number {
  return (offerCount + 31) >>> 5;
}

export function noOffers(offerCount: number): OfferBits {
  return new Int32Array(wordsFor(offerCount));
}

export function addOffer(bits: OfferBits, offer: number): void {
  bits[offer >>> 5]! |= 1 << (offer & 31);
}

export function removeOffer(bits: OfferBits, offer: number): void {
  bits[offer >>> 5]! &= ~(1 << (offer & 31));
}

export function hasOffer(bits: OfferBits, offer: number): boolean {
  return (bits[offer >>> 5]! & (1 << (offer & 31))) !== 0;
}

/** How many bits of one word are set. */
export function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/** The place of the lowest bit set in a word that is not 0. */
export function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
