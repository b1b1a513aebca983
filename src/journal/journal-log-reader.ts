import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { findFieldIndex } from '../domain/field-vector.ts';
import type { PocketField, Vertical } from '../domain/vertical.ts';
import { RecordDecoder } from '../event-log/log-format.ts';
import { LogDamagedError } from '../event-log/segment-reader.ts';
import { decodeSubId, subIdByteLength } from '../ids/sub-id.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import { JournalCipher, journalRecordKinds } from './journal-format.ts';

/**
 * Encoding of a pocket field's value as a number. Each journal log stores the encodings of its values, so that a later version of the
 * service can read the log even if fields were added, removed or reordered.
 */
const FieldEncoding = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  /** Values of a choice field as text; absent for other fields. A value is encoded as its index in `words`. */
  words: Type.Optional(Type.Array(Type.String())),
});
type FieldEncoding = Static<typeof FieldEncoding>;

const FieldEncodings = Compile(Type.Record(Type.String(), Type.Array(FieldEncoding)));

export function getPocketFieldEncodings({ fields }: Vertical): FieldEncoding[] {
  return fields.map((field) => {
    const { name, kind } = field;
    return field.kind === 'choice' ? { name, kind, words: [...field.values] } : { name, kind };
  });
}

export function formatPocketFieldEncodings(verticals: readonly Vertical[]): string {
  return JSON.stringify(
    Object.fromEntries(verticals.map((vertical) => [vertical.number, getPocketFieldEncodings(vertical)])),
  );
}

/** Parses the JSON text that lists how a journal log encodes the fields of each vertical number. Throws an `Error` for invalid text. */
export function parsePocketFieldEncodings(text: string): ReadonlyMap<number, readonly FieldEncoding[]> {
  const parsed: unknown = JSON.parse(text);
  if (!FieldEncodings.Check(parsed)) throw new Error('field encodings are invalid');
  return new Map(Object.entries(parsed).map(([number, encodings]) => [Number(number), encodings]));
}

/**
 * Creates a function that converts field changes from stored encodings to the current fields of a vertical. The returned function skips
 * fields and choices that the vertical no longer has. Returns null if no conversion is needed, because the stored and the current field
 * encodings are equal.
 */
export function createFieldChangeConverter(
  written: readonly FieldEncoding[],
  vertical: Vertical,
): ((changes: readonly number[]) => number[]) | null {
  if (JSON.stringify(written) === JSON.stringify(getPocketFieldEncodings(vertical))) return null;
  const currentIndexes = written.map(({ name, kind }) => {
    const index = findFieldIndex(vertical, name);
    return vertical.fields[index]?.kind === kind ? index : -1;
  });
  return (changes) => {
    const translated: number[] = [];
    for (let i = 0; i < changes.length; i += 2) {
      const index = currentIndexes[changes[i]!] ?? -1;
      if (index < 0) continue;
      const value = convertValue(written[changes[i]!]!, vertical.fields[index]!, changes[i + 1]!);
      if (value !== null) translated.push(index, value);
    }
    return translated;
  };
}

function convertValue(from: FieldEncoding, to: PocketField, value: number): number | null {
  if (to.kind !== 'choice' || value < 0) return value;
  const index = to.values.indexOf(from.words?.[value] ?? '');
  return index < 0 ? null : index;
}

interface JournalLogReaderOptions {
  readonly secrets: SecretSet;
  readonly verticals: readonly Vertical[];
  readonly onFieldChanges: (sub: Uint8Array, changes: readonly number[]) => void;
}

type FieldChangeConverter = (changes: readonly number[]) => readonly number[];

/**
 * Decrypts and validates the field changes in one event log of the journal. Every item of a record is validated, because the log may be
 * damaged.
 */
export class JournalLogReader {
  /** Unix time in milliseconds of the newest batch of field changes; minus infinity if there is no batch. */
  lastWallMs = Number.NEGATIVE_INFINITY;
  readonly #folder: string;
  readonly #options: JournalLogReaderOptions;
  /** One request may change every field, and each change is stored as two numbers: the field index and the value. */
  readonly #decoder = new RecordDecoder(Math.max(bounds.logRecordItemsMax, 2 * bounds.fieldsMax));
  #cipher: JournalCipher | null = null;
  #converters: ReadonlyMap<number, FieldChangeConverter> = new Map();

  constructor(folder: string, options: JournalLogReaderOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Decodes the next record of the journal log. Throws `LogDamagedError` for a record that the service cannot have written. */
  readRecord(position: number, record: unknown): void {
    const [kind, wallMs, ...members] = record as unknown[];
    if (kind === journalRecordKinds.header && position === 1) {
      this.#readHeader(members);
    } else if (kind === journalRecordKinds.encryptedBatch && typeof wallMs === 'number') {
      this.lastWallMs = Math.max(this.lastWallMs, wallMs);
      // The first record is the header.
      this.#readEncryptedBatch(position - 2, members[0]);
    } else {
      throw this.#createDamagedJournalError(`record ${position} has an unknown kind`);
    }
  }

  #readHeader([secretNumber, salt, encodings]: unknown[]): void {
    if (typeof secretNumber !== 'number' || !(salt instanceof Uint8Array) || typeof encodings !== 'string') {
      throw this.#createDamagedJournalError('first record is not a journal log header');
    }
    const { secrets, verticals } = this.#options;
    const secret = secrets.deriveKey(secretNumber, 'journal');
    if (secret === null)
      throw this.#createDamagedJournalError(
        `it is encrypted with secret ${secretNumber}, which is not in the secret file`,
      );
    this.#cipher = new JournalCipher(secret, salt);
    const written = parsePocketFieldEncodings(encodings);
    this.#converters = new Map(
      verticals.map((vertical) => [
        vertical.number,
        createFieldChangeConverter(written.get(vertical.number) ?? [], vertical) ?? ((changes) => changes),
      ]),
    );
  }

  #readEncryptedBatch(number: number, ciphertext: unknown): void {
    const plaintext =
      ciphertext instanceof Uint8Array ? (this.#cipher?.decryptBatch(number, ciphertext) ?? null) : null;
    if (plaintext === null)
      throw this.#createDamagedJournalError(`batch ${number} cannot be decrypted with the secrets in the secret file`);
    const items = this.#decoder.decodeRecord(plaintext);
    for (let i = 0; i < items.length; i += 2) {
      const [sub, changes] = [items[i], items[i + 1]];
      if (!(sub instanceof Uint8Array) || sub.length !== subIdByteLength || !isNumbers(changes)) {
        throw this.#createDamagedJournalError(`batch ${number} contains an invalid field change`);
      }
      // Field changes of a vertical that is no longer served are skipped.
      const translate = this.#converters.get(decodeSubId(sub).vertical);
      if (translate !== undefined) this.#options.onFieldChanges(sub, translate(changes));
    }
  }

  #createDamagedJournalError(reason: string): LogDamagedError {
    return new LogDamagedError(this.#folder, 0, reason);
  }
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.length % 2 === 0 && value.every((each) => typeof each === 'number');
}
