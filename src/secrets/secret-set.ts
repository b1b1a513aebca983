import { hkdfSync } from 'node:crypto';

export interface Secret {
  /** Number of the secret from 1 to 255, never reused. Each token contains the number of the secret that signed the token. */
  readonly number: number;
  /** Value of the secret: 32 random bytes. */
  readonly bytes: Buffer;
}

/**
 * Purpose of a derived key, used as the HKDF info. A change to the text of a purpose changes the derived key, and so invalidates stored
 * data and existing tokens. A token of one kind is never valid as a token of another kind.
 */
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
  | 'tag-cursor'
  | 'experiment-cursor'
  | 'unit-cursor-pad'
  | 'unit-cursor-tag'
  | 'widget';

/** All secrets of a service (docs/contract.md#secrets). The newest secret signs new tokens, and all secrets can verify tokens. */
export class SecretSet {
  readonly newest: Secret;
  /** Key of `UnitHasher`, which never changes; null if an earlier release created the secret file. */
  readonly unitKey: Buffer | null;
  readonly #secrets: ReadonlyMap<number, Secret>;

  constructor(secrets: readonly Secret[], unitKey: Buffer | null = null) {
    const newest = secrets.toSorted((one, other) => other.number - one.number)[0];
    if (newest === undefined) throw new Error('secret set is empty');
    this.newest = newest;
    this.unitKey = unitKey;
    this.#secrets = new Map(secrets.map((secret) => [secret.number, secret]));
  }

  get secretVersions(): readonly number[] {
    return [...this.#secrets.keys()];
  }

  /** Derives a 32-byte key from a secret. Returns null if the ring contains no secret with this number. */
  deriveKey(number: number, purpose: KeyPurpose): Buffer | null {
    const secret = this.#secrets.get(number);
    return secret === undefined ? null : Buffer.from(hkdfSync('sha256', secret.bytes, '', purpose, 32));
  }
}
