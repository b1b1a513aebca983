import { hkdfSync } from 'node:crypto';

export interface Secret {
  /** 1 to 255, never reused; contained in every token that the secret signed. */
  readonly number: number;
  /** 32 random bytes. */
  readonly bytes: Buffer;
}

/** HKDF info of a derived key: part of the stored formats. Each kind of token has its own purpose, so that kinds cannot be confused. */
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

/** The secrets of a service (docs/contract.md#secrets): the newest one signs, all of them verify. */
export class SecretRing {
  readonly newest: Secret;
  readonly #secrets: ReadonlyMap<number, Secret>;

  constructor(secrets: readonly Secret[]) {
    const newest = secrets.reduce<Secret | null>(
      (best, each) => (best === null || each.number > best.number ? each : best),
      null,
    );
    if (newest === null) throw new Error('secret ring is empty');
    this.newest = newest;
    this.#secrets = new Map(secrets.map((secret) => [secret.number, secret]));
  }

  get secretNumbers(): readonly number[] {
    return [...this.#secrets.keys()];
  }

  /** Derives a 32-byte key. Returns null for a number that is not in the ring. */
  deriveKey(number: number, purpose: KeyPurpose): Buffer | null {
    const secret = this.#secrets.get(number);
    return secret === undefined ? null : Buffer.from(hkdfSync('sha256', secret.bytes, '', purpose, 32));
  }
}
