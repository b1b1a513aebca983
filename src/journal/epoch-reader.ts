import { RecordDecoder } from '../events/record-decoder.ts';
import { LogDamaged } from '../events/segment-reader.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { decodeSubId, subIdBytes } from '../sessions/sub-id.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { parseShapes, translationOf } from './field-shapes.ts';
import { journalRecordKind } from './journal-record.ts';
import { JournalSeal } from './journal-seal.ts';

export interface EpochReaderOptions {
  readonly secrets: SecretRing;
  readonly verticals: readonly Vertical[];
  readonly onMerge: (sub: Uint8Array, changes: readonly number[]) => void;
}

type Translation = (changes: readonly number[]) => readonly number[];

/** Reads the merges of one epoch out of its records, as they come from the log. What a file holds is not trusted. */
export class EpochReader {
  /** Of the last batch; minus infinity when there was none. */
  lastWallMs = Number.NEGATIVE_INFINITY;
  readonly #folder: string;
  readonly #options: EpochReaderOptions;
  readonly #decoder = new RecordDecoder();
  #seal: JournalSeal | null = null;
  #translations: ReadonlyMap<number, Translation> = new Map();
  #batches = 0;

  constructor(folder: string, options: EpochReaderOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Takes the records in order. Throws `LogDamaged` for one that this service cannot have written. */
  visit(position: number, record: unknown): void {
    const [kind, wallMs, ...members] = record as unknown[];
    if (kind === journalRecordKind.epochOpened && position === 1) {
      this.#open(members);
    } else if (kind === journalRecordKind.sealedBatch && typeof wallMs === 'number') {
      this.lastWallMs = Math.max(this.lastWallMs, wallMs);
      this.#batch(members[0]);
    } else {
      throw this.#damage(`record ${position} is none of the journal's`);
    }
  }

  #open([secretNumber, salt, shapes]: unknown[]): void {
    if (typeof secretNumber !== 'number' || !(salt instanceof Uint8Array) || typeof shapes !== 'string') {
      throw this.#damage('its first record does not open it');
    }
    const { secrets, verticals } = this.#options;
    const secret = secrets.key(secretNumber, 'journal');
    if (secret === null)
      throw this.#damage(`it is sealed with secret ${secretNumber}, which the secret file does not list`);
    this.#seal = new JournalSeal(secret, salt);
    const written = parseShapes(shapes);
    this.#translations = new Map(
      verticals.map((vertical) => [
        vertical.number,
        translationOf(written.get(vertical.number) ?? [], vertical) ?? ((changes) => changes),
      ]),
    );
  }

  #batch(sealed: unknown): void {
    const number = this.#batches++;
    const plain = sealed instanceof Uint8Array ? (this.#seal?.open(number, sealed) ?? null) : null;
    if (plain === null) throw this.#damage(`batch ${number} does not open with the secrets of the secret file`);
    const items = this.#decoder.decode(plain);
    for (let i = 0; i < items.length; i += 2) {
      const [sub, changes] = [items[i], items[i + 1]];
      if (!(sub instanceof Uint8Array) || sub.length !== subIdBytes || !isNumbers(changes)) {
        throw this.#damage(`batch ${number} holds something that is no merge`);
      }
      // A vertical that is served no longer has no sessions either.
      const translate = this.#translations.get(decodeSubId(sub).vertical);
      if (translate !== undefined) this.#options.onMerge(sub, translate(changes));
    }
  }

  #damage(what: string): LogDamaged {
    return new LogDamaged(this.#folder, 0, what);
  }
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.length % 2 === 0 && value.every((each) => typeof each === 'number');
}
