import { randomFillSync } from 'node:crypto';

/**
 * Pool of cryptographic random bytes. The pool reads 8 KiB at a time from the system, because a separate read of ten bytes takes two
 * microseconds. When the pool returns bytes, the pool overwrites its own copy of the bytes with zeros.
 */
export class RandomBytesPool {
  readonly #pool = Buffer.alloc(8_192);
  #nextOffset = this.#pool.length;

  /** Writes `length` random bytes into `target` at `offset`; `length` is at most 8192. */
  writeRandomBytes(target: Buffer, offset: number, length: number): void {
    if (this.#nextOffset + length > this.#pool.length) {
      randomFillSync(this.#pool);
      this.#nextOffset = 0;
    }
    const end = this.#nextOffset + length;
    for (let from = this.#nextOffset, to = offset; from < end; from++, to++) {
      target[to] = this.#pool[from]!;
      this.#pool[from] = 0;
    }
    this.#nextOffset = end;
  }

  /** Returns a new buffer of `length` random bytes; `length` is at most 8192. */
  randomBytes(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    this.writeRandomBytes(bytes, 0, length);
    return bytes;
  }
}
