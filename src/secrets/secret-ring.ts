import { hkdfSync } from 'node:crypto';

/** One secret: its number travels in every id and token it signed. */
export interface Secret {
  /** 1 to 255, never reused. */
  readonly number: number;
  /** 32 random bytes. */
  readonly bytes: Buffer;
}

/** What a derived key is for. Each purpose has a key of its own, so that no token can pass for another kind. */
export type KeyPurpose =
  | 'sub-id'
  | 'click-id'
  | 'click-id-pad'
  | 'click-id-tag'
  | 'offer-value'
  | 'offer-value-pad'
  | 'journal'
  | 'idempotency'
  | 'cursor'
  | 'widget';

/** The secrets of a service (docs/contract.md#secrets): the newest signs, all of them verify. */
export class SecretRing {
  readonly newest: Secret;
  readonly #secrets: ReadonlyMap<number, Secret>;

  constructor(secrets: readonly Secret[]) {
    const newest = secrets.reduce<Secret | null>(
      (best, each) => (best === null || each.number > best.number ? each : best),
      null,
    );
    if (newest === null) throw new Error('a service needs at least one secret');
    this.newest = newest;
    this.#secrets = new Map(secrets.map((secret) => [secret.number, secret]));
  }

  get secretNumbers(): readonly number[] {
    return [...this.#secrets.keys()];
  }

  /** A 32-byte key for one purpose, or null for a number that is not in the ring. */
  deriveKey(number: number, purpose: KeyPurpose): Buffer | null {
    const secret = this.#secrets.get(number);
    return secret === undefined ? null : Buffer.from(hkdfSync('sha256', secret.bytes, '', purpose, 32));
  }
}
