/** A part of the state of the service that snapshots contain, so that a start reads only the end of the logs (`SnapshotWriter`). */
export interface SnapshotPart {
  /** Name of the part in file names. */
  readonly name: string;
  /**
   * Captures the state in pieces. The writer pauses between two pieces and between two chunks of a piece, and the state may change
   * meanwhile. Therefore, each part stores the position of the ledger at which it captured something that cannot be applied twice.
   */
  capture(ledger: LedgerEnd, nowMs: number): Iterable<CapturedPiece>;
  /** Restores the state that `capture` captured. If `restore` throws, the state is empty as before, and the part is restored from the logs. */
  restore(pieces: Iterable<StoredPiece>): void;
  /** Whether a piece has no effect at present, so that it may be missing. */
  isObsolete?(id: string): boolean;
}

/** Error for a part of a snapshot that is intact, but that the service cannot use, for example because settings have changed. */
export class OutdatedPartError extends Error {
  override readonly name = 'OutdatedPartError';
}

/** The ledger, as far as parts of a snapshot need it. */
export interface LedgerEnd {
  readonly lastAppendedPosition: number;
}

export interface CapturedPiece {
  /** Identifies the content: lower-case letters, digits and hyphens. A piece with the id of a piece in the last snapshot is not written again. */
  readonly id: string;
  readonly chunks: () => Iterable<Uint8Array>;
}

export interface StoredPiece {
  readonly id: string;
  /** All chunks of the piece. */
  readonly bytes: Buffer;
}

/** Returns a copy of bytes as a typed array. The bytes may start at any address. */
export function toTypedArray<Words extends Int32Array | Uint32Array | Float64Array>(
  type: new (length: number) => Words,
  bytes: Uint8Array,
): Words {
  const words = new type(1);
  const copy = new type(bytes.byteLength / words.BYTES_PER_ELEMENT);
  new Uint8Array(copy.buffer).set(bytes);
  return copy;
}

/** Returns the memory of a typed array as bytes, without copying. */
export function toBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
