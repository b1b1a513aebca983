/**
 * What lies in the journal. The records of an epoch are an opening, and then batches sealed under the epoch's own key; what
 * the opening says is no secret.
 */
export type JournalRecord = EpochOpened | EncryptedBatch;

export const journalRecordKind = { epochOpened: 1, encryptedBatch: 2 } as const;

/** `[1, wallMs, secretNumber, salt, shapes]` */
export type EpochOpened = readonly [
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
export type EncryptedBatch = readonly [kind: 2, wallMs: number, sealed: Uint8Array];
