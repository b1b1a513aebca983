/** Gathers the pieces of a request body in one buffer, which grows with them up to a bound. */
export class BodyBuffer {
  readonly #bytesMax: number;
  #buffer = Buffer.alloc(0);
  #byteLength = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Appends a copy of a piece. Returns false, and appends nothing, if the body would exceed the bound. */
  append(piece: Uint8Array): boolean {
    const bytes = this.#byteLength + piece.byteLength;
    if (bytes > this.#bytesMax) return false;
    if (bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(this.#bytesMax, Math.max(bytes, 2 * this.#buffer.length)));
      larger.set(this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#byteLength);
    this.#byteLength = bytes;
    return true;
  }

  /** Everything appended so far; valid until the next piece. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#byteLength);
  }
}
