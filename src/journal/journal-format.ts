import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/**
 * What lies in the journal. The records of an epoch are an opening, and then batches sealed under the epoch's own key; what
 * the opening says is no secret.
 */
export type JournalRecord = EpochOpened | EncryptedBatch;

export const journalRecordKind = { epochOpened: 1, encryptedBatch: 2 } as const;

/** `[1, wallMs, secretNumber, salt, shapes]` */
type EpochOpened = readonly [
  kind: 1,
  wallMs: number,
  /** Number of the secret the epoch's key is derived from. */
  secretNumber: number,
  /** 16 random bytes, so that no two epochs share a key. */
  salt: Uint8Array,
  /** JSON text of the `FieldEncoding`s of every vertical served, by the vertical's number. */
  shapes: string,
];

/**
 * `[2, wallMs, sealed]`: batches are numbered from 0 in the order they stand, and the number is the nonce. Sealed is one list of all
 * merges, two items each: a session's 32 bytes, and a list of position, value, position, value.
 */
type EncryptedBatch = readonly [kind: 2, wallMs: number, sealed: Uint8Array];

const tagBytes = 16;
const nonceBytes = 12;
export const saltBytes = 16;

/**
 * Seals the batches of one epoch with AES-256-GCM under a key of its own, derived from a secret and the epoch's salt. The
 * batch's number is the nonce: it never repeats under one key, since an epoch is never continued after a restart.
 */
export class JournalCipher {
  readonly #key: Buffer;

  constructor(secret: Uint8Array, salt: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, salt, 'journal epoch', 32));
  }

  /** The sealed bytes: ciphertext and tag. */
  encrypt(batchNumber: number, plain: Uint8Array): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#key, batchNonce(batchNumber), { authTagLength: tagBytes });
    const sealed = cipher.update(plain);
    cipher.final();
    return Buffer.concat([sealed, cipher.getAuthTag()]);
  }

  /** The plain bytes, or null when they were not sealed by this key as this batch. */
  decrypt(batchNumber: number, sealed: Uint8Array): Buffer | null {
    if (sealed.length < tagBytes) return null;
    const end = sealed.length - tagBytes;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, batchNonce(batchNumber), { authTagLength: tagBytes });
    decipher.setAuthTag(sealed.subarray(end));
    const plain = decipher.update(sealed.subarray(0, end));
    try {
      decipher.final();
      return plain;
    } catch {
      return null;
    }
  }
}

function batchNonce(batchNumber: number): Buffer {
  const nonce = Buffer.alloc(nonceBytes);
  nonce.writeUIntBE(batchNumber, nonceBytes - 6, 6);
  return nonce;
}
