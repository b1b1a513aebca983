import { RecordDecoder } from '../events/record-decoder.ts';
import { LogDamagedError } from '../events/segment-reader.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { decodeSubId, subIdByteLength } from '../sessions/sub-id.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { parseFieldEncodings, createChangeTranslator } from './field-shapes.ts';
import { journalRecordKind } from './journal-record.ts';
import { JournalCipher } from './journal-seal.ts';

export interface EpochReaderOptions {
  readonly secrets: SecretRing;
  readonly verticals: readonly Vertical[];
  readonly onFieldChanges: (sub: Uint8Array, changes: readonly number[]) => void;
}

type ChangeTranslator = (changes: readonly number[]) => readonly number[];

/** Reads the merges of one epoch out of its records, as they come from the log. What a file holds is not trusted. */
export class EpochReader {
  /** Of the last batch; minus infinity when there was none. */
  lastWallMs = Number.NEGATIVE_INFINITY;
  readonly #folder: string;
  readonly #options: EpochReaderOptions;
  readonly #decoder = new RecordDecoder();
  #cipher: JournalCipher | null = null;
  #translators: ReadonlyMap<number, ChangeTranslator> = new Map();
  #batchesRead = 0;

  constructor(folder: string, options: EpochReaderOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Takes the records in order. Throws `LogDamagedError` for one that this service cannot have written. */
  readRecord(position: number, record: unknown): void {
    const [kind, wallMs, ...members] = record as unknown[];
    if (kind === journalRecordKind.epochOpened && position === 1) {
      this.#readEpochOpened(members);
    } else if (kind === journalRecordKind.encryptedBatch && typeof wallMs === 'number') {
      this.lastWallMs = Math.max(this.lastWallMs, wallMs);
      this.#readEncryptedBatch(members[0]);
    } else {
      throw this.#damagedError(`record ${position} is none of the journal's`);
    }
  }

  #readEpochOpened([secretNumber, salt, shapes]: unknown[]): void {
    if (typeof secretNumber !== 'number' || !(salt instanceof Uint8Array) || typeof shapes !== 'string') {
      throw this.#damagedError('its first record does not open it');
    }
    const { secrets, verticals } = this.#options;
    const secret = secrets.deriveKey(secretNumber, 'journal');
    if (secret === null)
      throw this.#damagedError(`it is sealed with secret ${secretNumber}, which the secret file does not list`);
    this.#cipher = new JournalCipher(secret, salt);
    const written = parseFieldEncodings(shapes);
    this.#translators = new Map(
      verticals.map((vertical) => [
        vertical.number,
        createChangeTranslator(written.get(vertical.number) ?? [], vertical) ?? ((changes) => changes),
      ]),
    );
  }

  #readEncryptedBatch(sealed: unknown): void {
    const number = this.#batchesRead++;
    const plain = sealed instanceof Uint8Array ? (this.#cipher?.decrypt(number, sealed) ?? null) : null;
    if (plain === null) throw this.#damagedError(`batch ${number} does not open with the secrets of the secret file`);
    const items = this.#decoder.decode(plain);
    for (let i = 0; i < items.length; i += 2) {
      const [sub, changes] = [items[i], items[i + 1]];
      if (!(sub instanceof Uint8Array) || sub.length !== subIdByteLength || !isNumbers(changes)) {
        throw this.#damagedError(`batch ${number} holds something that is no merge`);
      }
      // A vertical that is served no longer has no sessions either.
      const translate = this.#translators.get(decodeSubId(sub).vertical);
      if (translate !== undefined) this.#options.onFieldChanges(sub, translate(changes));
    }
  }

  #damagedError(what: string): LogDamagedError {
    return new LogDamagedError(this.#folder, 0, what);
  }
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.length % 2 === 0 && value.every((each) => typeof each === 'number');
}
