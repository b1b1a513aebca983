import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { RecordDecoder } from '../event-log/log-format.ts';
import { LogDamagedError } from '../event-log/segment-reader.ts';
import { decodeSubId, subIdByteLength } from '../ids/sub-id.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { fieldIndex } from '../verticals/field-vector.ts';
import type { PocketField, Vertical } from '../verticals/vertical.ts';
import { JournalCipher, journalRecordKind } from './journal-format.ts';

/**
 * How a field's value is kept as a number. The journal remembers the shapes it was written with, so that a version whose
 * fields are others, or in another order, reads what an earlier one wrote.
 */
export interface FieldEncoding {
  readonly name: string;
  readonly kind: string;
  /** Of a choice, whose value is kept as an index into these. */
  readonly words?: readonly string[];
}

const FieldEncodings = Compile(
  Type.Record(
    Type.String(),
    Type.Array(
      Type.Object({ name: Type.String(), kind: Type.String(), words: Type.Optional(Type.Array(Type.String())) }),
    ),
  ),
);

export function fieldEncodings({ fields }: Vertical): FieldEncoding[] {
  return fields.map(fieldEncoding);
}

function fieldEncoding(field: PocketField): FieldEncoding {
  const { name, kind } = field;
  return field.kind === 'choice' ? { name, kind, words: field.values } : { name, kind };
}

export function serializeFieldEncodings(verticals: readonly Vertical[]): string {
  return JSON.stringify(Object.fromEntries(verticals.map((vertical) => [vertical.number, fieldEncodings(vertical)])));
}

/** The shapes of each vertical by its number. Throws an error in words. */
export function parseFieldEncodings(text: string): ReadonlyMap<number, readonly FieldEncoding[]> {
  const parsed: unknown = JSON.parse(text);
  if (!FieldEncodings.Check(parsed)) throw new Error('the shapes of the fields cannot be read');
  return new Map(Object.entries(parsed).map(([number, shapes]) => [Number(number), shapes]));
}

/**
 * Changes (position, value, position, value) in one set of shapes, as they are in the fields of a vertical today. A field or a
 * word that is no more is left out. Null when the two are the same and there is nothing to do.
 */
export function createChangeTranslator(
  written: readonly FieldEncoding[],
  vertical: Vertical,
): ((changes: readonly number[]) => number[]) | null {
  if (JSON.stringify(written) === JSON.stringify(fieldEncodings(vertical))) return null;
  const positions = written.map(({ name, kind }) => {
    const position = fieldIndex(vertical, name);
    return vertical.fields[position]?.kind === kind ? position : -1;
  });
  return (changes) => {
    const translated: number[] = [];
    for (let i = 0; i < changes.length; i += 2) {
      const position = positions[changes[i]!] ?? -1;
      if (position < 0) continue;
      const value = translateValue(written[changes[i]!]!, vertical.fields[position]!, changes[i + 1]!);
      if (value !== null) translated.push(position, value);
    }
    return translated;
  };
}

function translateValue(from: FieldEncoding, to: PocketField, value: number): number | null {
  if (to.kind !== 'choice' || value < 0) return value;
  const index = to.values.indexOf(from.words?.[value] ?? '');
  return index < 0 ? null : index;
}

interface EpochReaderOptions {
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
