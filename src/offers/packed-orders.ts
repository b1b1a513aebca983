/**
 * The orders of a ranking as they are handed on: offer indices, 16 bits each, as the code units of a string. A typed array of as many
 * numbers takes seven times the memory (667 bytes for 80 of them, most of it outside the heap, against 87) and several times
 * as long to make.
 */
export type PackedOrders = string;

export function packOrders(orders: Uint16Array): PackedOrders {
  // Spread out, a typed array would be iterated: seven times as slow.
  return String.fromCharCode.apply(null, orders as unknown as number[]);
}

/** Packs what lies in `bytes[start, end)` as 16-bit numbers, little-endian, at any address. */
export function packOrderBytes(bytes: Buffer, start: number, end: number): PackedOrders {
  return bytes.toString('utf16le', start, end);
}

/** The offer at a place, counted from 0 through all orders end to end. */
export function packedOfferAt(orders: PackedOrders, place: number): number {
  return orders.charCodeAt(place);
}
