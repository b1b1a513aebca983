import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/**
 * Record in a journal log. The first record of a journal log is an unencrypted header. All other records of a journal log are batches of
 * field changes, encrypted with the key of the log.
 */
export type JournalRecord = JournalLogHeader | EncryptedBatch;

export const journalRecordKinds = { header: 1, encryptedBatch: 2 } as const;

/** `[1, wallMs, secretNumber, salt, fieldEncodings]` */
type JournalLogHeader = readonly [
  kind: 1,
  wallMs: number,
  /** Number of the secret from which the encryption key of the log is derived. */
  secretNumber: number,
  /** Salt of 16 random bytes. Because of the salt, each journal log has a different encryption key. */
  salt: Uint8Array,
  /** Field encodings of each vertical, as the JSON text of an object whose keys are vertical numbers. */
  fieldEncodings: string,
];

/**
 * `[2, wallMs, ciphertext]`. Batches are numbered from 0 in log order, and the batch number is the nonce. The plaintext is a msgpack list
 * with two items per request: the 32 bytes of the sub_id, and a list of field index, value, field index, value, ...
 */
type EncryptedBatch = readonly [kind: 2, wallMs: number, ciphertext: Uint8Array];

const tagBytes = 16;
const nonceBytes = 12;
export const keySaltLength = 16;

/**
 * Encrypts the batches of one journal log with AES-256-GCM. The encryption key is derived from a secret and the salt of the log. The batch
 * number is the nonce of the encryption. No nonce repeats with the same key, because each restart creates a new journal log with a new key.
 */
export class JournalCipher {
  readonly #key: Buffer;

  constructor(secret: Uint8Array, salt: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, salt, 'journal epoch', 32));
  }

  /** Encrypts a batch. Returns the ciphertext followed by the authentication tag. */
  encryptBatch(batchNumber: number, plaintext: Uint8Array): Buffer {
    return Buffer.concat(this.encryptBatchInParts(batchNumber, plaintext));
  }

  /** Returns the result of `encryptBatch` in parts, without copying a large batch. */
  encryptBatchInParts(batchNumber: number, plaintext: Uint8Array): [ciphertext: Buffer, tag: Buffer] {
    const cipher = createCipheriv('aes-256-gcm', this.#key, batchNonce(batchNumber), { authTagLength: tagBytes });
    const ciphertext = cipher.update(plaintext);
    cipher.final();
    return [ciphertext, cipher.getAuthTag()];
  }

  /** Decrypts a batch. Returns null if the ciphertext was not encrypted with this key and batch number. */
  decryptBatch(batchNumber: number, ciphertext: Uint8Array): Buffer | null {
    if (ciphertext.length < tagBytes) return null;
    const end = ciphertext.length - tagBytes;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, batchNonce(batchNumber), { authTagLength: tagBytes });
    decipher.setAuthTag(ciphertext.subarray(end));
    const plaintext = decipher.update(ciphertext.subarray(0, end));
    try {
      decipher.final();
      return plaintext;
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
