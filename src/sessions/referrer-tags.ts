import { getOrAdd } from '../domain/get-or-add.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { Tenant } from '../domain/tenant.ts';
import { encodeVerticalAndMode } from '../ids/sub-id.ts';

const referrerTagPattern = /^[a-z0-9_-]{3,64}$/;

/** Whether a value is a valid referrer tag (docs/contract.md#session-members). */
export function isReferrerTag(value: unknown): value is string {
  return typeof value === 'string' && referrerTagPattern.test(value);
}

/** Maximum length of a tag in bytes. The tag length is stored in one byte. */
const tagBytesMax = 255;
const indexSlotsMin = 16;

const lookupBytes = Buffer.alloc(tagBytesMax);

/**
 * Set of ASCII tags outside the JavaScript heap, because 100,000 strings on the heap would slow the garbage collector. A tag uses one byte
 * per character, one byte for the length, and 8 to 16 bytes in the hash index. A full buffer is replaced by a buffer of twice the size.
 *
 * The hash function needs no secret key, because an account that chooses tags with equal hashes slows only its own requests.
 */
export class ReferrerTagSet {
  /** All tags of the set. For each tag, the buffer contains one byte with the length of the tag, followed by the characters of the tag. */
  #bytes = Buffer.alloc(indexSlotsMin * 16);
  #usedBytes = 0;
  /** Hash index: each slot contains the offset of a tag in `#bytes` plus one, or 0 if empty. At least half of the slots are empty. */
  #index = new Int32Array(indexSlotsMin);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(tag: string): boolean {
    return this.#index[this.#findHashSlot(lookupBytes.write(tag, 'latin1'))] !== 0;
  }

  /** Adds a tag. Has no effect if the set already contains the tag. */
  add(tag: string): void {
    const length = lookupBytes.write(tag, 'latin1');
    const slot = this.#findHashSlot(length);
    if (this.#index[slot] !== 0) return;
    if (this.#usedBytes + 1 + length > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    this.#bytes[this.#usedBytes] = length;
    lookupBytes.copy(this.#bytes, this.#usedBytes + 1, 0, length);
    this.#index[slot] = this.#usedBytes + 1;
    this.#usedBytes += 1 + length;
    this.#size++;
    if (this.#size * 2 >= this.#index.length) this.#growIndex();
  }

  /** Returns the index slot of the tag in `lookupBytes`, or the empty slot in which the tag would be inserted. */
  #findHashSlot(length: number): number {
    const mask = this.#index.length - 1;
    let slot = fnv1a(lookupBytes, 0, length) & mask;
    while (this.#index[slot] !== 0 && !this.#matchesTag(this.#index[slot]! - 1, length)) slot = (slot + 1) & mask;
    return slot;
  }

  #matchesTag(offset: number, length: number): boolean {
    const bytes = this.#bytes;
    if (bytes[offset] !== length) return false;
    for (let i = 0; i < length; i++) if (bytes[offset + 1 + i] !== lookupBytes[i]) return false;
    return true;
  }

  #growIndex(): void {
    const index = new Int32Array(this.#index.length * 2);
    const mask = index.length - 1;
    for (let offset = 0; offset < this.#usedBytes; ) {
      const next = offset + 1 + this.#bytes[offset]!;
      let slot = fnv1a(this.#bytes, offset + 1, next) & mask;
      while (index[slot] !== 0) slot = (slot + 1) & mask;
      index[slot] = offset + 1;
      offset = next;
    }
    this.#index = index;
  }
}

function fnv1a(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Reservation of a referrer tag for a new session whose ledger record is not durable yet. */
export interface ReferrerTagReservation {
  /** Ends this reservation; call exactly once. `taken` is true if the ledger contains the session's record or will write it. */
  settleReservation(taken: boolean): void;
}

const completedReservation: ReferrerTagReservation = { settleReservation: () => {} };

/**
 * Referrer tags of each account, vertical and mode. The number of tags is limited, because the daily totals of a tag are stored forever.
 *
 * A reserved tag also counts towards the limit. After a restart, the referrer tags are restored from the analytics store. The limit on the
 * number of tags is not enforced until all tags are restored.
 */
export class ReferrerTags {
  readonly #tagsMax: number;
  readonly #tenants = new Map<number, TenantTags>();
  #isLimitEnabled = false;

  /** @param tagsMax maximum number of tags per account, vertical and mode */
  constructor(tagsMax: number) {
    this.#tagsMax = tagsMax;
  }

  /** Reserves a tag for a new session. Returns null if the tag is new and the number of tags has reached the limit. */
  reserveReferrerTag({ account, vertical, mode }: Tenant, tag: string): ReferrerTagReservation | null {
    const limit = this.#isLimitEnabled ? this.#tagsMax : Number.POSITIVE_INFINITY;
    return this.#getTenantTags(account, vertical.number, mode).reserveReferrerTag(tag, limit);
  }

  restoreReferrerTag(account: number, vertical: number, mode: ApiKeyMode, tag: string): void {
    this.#getTenantTags(account, vertical, mode).add(tag);
  }

  /** Enforces the limit on the number of referrer tags from now on. Call this method when all stored tags are restored. */
  enableTagCountLimit(): void {
    this.#isLimitEnabled = true;
  }

  #getTenantTags(account: number, vertical: number, mode: ApiKeyMode): TenantTags {
    const key = account * 256 + encodeVerticalAndMode(vertical, mode);
    return getOrAdd(this.#tenants, key, () => new TenantTags());
  }
}

class TenantTags {
  readonly #tags = new ReferrerTagSet();
  /** Number of open reservations by tag, for tags that are not in the ledger yet. */
  readonly #pendingCounts = new Map<string, number>();

  reserveReferrerTag(tag: string, limit: number): ReferrerTagReservation | null {
    if (this.#tags.has(tag)) return completedReservation;
    const uses = this.#pendingCounts.get(tag) ?? 0;
    if (uses === 0 && this.#tags.size + this.#pendingCounts.size >= limit) return null;
    this.#pendingCounts.set(tag, uses + 1);
    return { settleReservation: (taken) => (taken ? this.add(tag) : this.#cancelReservation(tag)) };
  }

  add(tag: string): void {
    this.#tags.add(tag);
    this.#pendingCounts.delete(tag);
  }

  #cancelReservation(tag: string): void {
    const uses = this.#pendingCounts.get(tag);
    if (uses === 1) this.#pendingCounts.delete(tag);
    else if (uses !== undefined) this.#pendingCounts.set(tag, uses - 1);
  }
}
