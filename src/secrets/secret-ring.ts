import { hkdfSync } from 'node:crypto';

export interface Secret {
  /** Number of the secret, 1 to 255, never reused. Every token signed with the secret contains this number. */
  readonly number: number;
  /** Value of the secret: 32 random bytes. */
  readonly bytes: Buffer;
}

/** HKDF info of a derived key, which is part of the stored formats. Each kind of token has its own purpose, so kinds cannot be confused. */
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

/** Secrets of a service (docs/contract.md#secrets). The newest secret signs, and all secrets verify. */
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

  /** Derives a 32-byte key. Returns null if the ring contains no secret with this number. */
  deriveKey(number: number, purpose: KeyPurpose): Buffer | null {
    const secret = this.#secrets.get(number);
    return secret === undefined ? null : Buffer.from(hkdfSync('sha256', secret.bytes, '', purpose, 32));
  }
}
