import { hash } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;

/**
 * HMAC-SHA-256 with one key, computed as two one-shot hashes (RFC 2104). Creating a `createHmac` object takes several times longer than
 * hashing an ID, which has about a hundred bytes.
 */
export class Hmac {
  readonly #innerBlock: Buffer;
  readonly #outerBlock: Buffer;

  /** @param key the key, 1 to 64 bytes long */
  constructor(key: Uint8Array, messageBytesMax: number) {
    if (key.length === 0 || key.length > blockBytes) throw new RangeError('HMAC key must have 1 to 64 bytes');
    this.#innerBlock = Buffer.alloc(blockBytes + messageBytesMax, 0x36);
    this.#outerBlock = Buffer.alloc(blockBytes + digestBytes, 0x5c);
    for (let i = 0; i < key.length; i++) {
      this.#innerBlock[i] = key[i]! ^ 0x36;
      this.#outerBlock[i] = key[i]! ^ 0x5c;
    }
  }

  /** Computes the MAC of the first `messageBytes` bytes of `message`. Writes the first `macBytes` of the MAC into `target` at `offset`. */
  sign(message: Buffer, messageBytes: number, target: Buffer, offset: number, macBytes: number): void {
    const digest = this.#computeDigest(message, messageBytes);
    target.write(digest, offset, macBytes, 'latin1');
  }

  /** Returns, in constant time, whether the MAC of the first `messageBytes` bytes of `message` equals the MAC at `offset`. */
  verify(message: Buffer, messageBytes: number, mac: Buffer, offset: number, macBytes: number): boolean {
    const digest = this.#computeDigest(message, messageBytes);
    let difference = 0;
    for (let i = 0; i < macBytes; i++) difference |= digest.charCodeAt(i) ^ mac[offset + i]!;
    return difference === 0;
  }

  #computeDigest(message: Buffer, messageBytes: number): string {
    const end = blockBytes + messageBytes;
    if (end > this.#innerBlock.length) throw new RangeError('message is longer than messageBytesMax');
    message.copy(this.#innerBlock, blockBytes, 0, messageBytes);
    const innerDigest = hash(
      'sha256',
      end === this.#innerBlock.length ? this.#innerBlock : this.#innerBlock.subarray(0, end),
      'binary',
    );
    this.#outerBlock.write(innerDigest, blockBytes, digestBytes, 'latin1');
    return hash('sha256', this.#outerBlock, 'binary');
  }
}
