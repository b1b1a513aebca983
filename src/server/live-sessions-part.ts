import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import {
  type CapturedPiece,
  OutdatedPartError,
  type SnapshotPart,
  type StoredPiece,
  toBytes,
  toTypedArray,
} from '../domain/snapshot-part.ts';
import type { Vertical } from '../domain/vertical.ts';
import type { JournalLogEnd } from '../files/data-inventory.ts';
import { formatPocketFieldEncodings } from '../journal/journal-log-reader.ts';
import { decryptChunks, encryptChunks } from '../journal/session-pieces.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import type { SessionRange, SessionStore } from '../sessions/session-store.ts';

interface LiveSessionsPartOptions {
  readonly clock: Clock;
  readonly secrets: SecretSet;
  readonly verticals: readonly Vertical[];
  readonly sessionTtlMs: number;
  readonly sessions: SessionStore;
}

interface Head {
  /** The sessions can be restored only with the same settings, because the captured sessions depend on them. */
  readonly settings: string;
  readonly completeSinceMs: number;
  /** Positions of the journal whose field changes the sessions contain. */
  readonly journal: readonly JournalLogEnd[];
}

/** Live sessions with their pocket fields and widget usage in a snapshot, encrypted as in the journal. */
export class LiveSessionsPart implements SnapshotPart {
  readonly name = 'sessions';
  /** Logs of the journal whose field changes up to a position are restored, by name. */
  restoredLogs: ReadonlyMap<string, JournalLogEnd> = new Map();
  /** Lists the logs of the journal; set when the journal is open. */
  listJournalLogs: () => readonly JournalLogEnd[] = () => [];
  readonly #options: LiveSessionsPartOptions;
  readonly #settings: string;

  constructor(options: LiveSessionsPartOptions) {
    this.#options = options;
    const { sessionTtlMs, verticals } = options;
    const encodings = formatPocketFieldEncodings(verticals);
    this.#settings = JSON.stringify({ sessionTtlMs, encodings, byteOrder: endianness() });
  }

  *capture(): Generator<CapturedPiece> {
    const { sessions, secrets } = this.#options;
    const { completeSinceMs } = sessions;
    const head: Head = { settings: this.#settings, completeSinceMs, journal: this.listJournalLogs() };
    const text = Buffer.from(JSON.stringify(head));
    yield { id: `head-${crc32(text)}`, chunks: () => [text] };
    for (const range of sessions.listRanges()) {
      const { endMs, to, change } = range;
      yield { id: `${endMs}-${to}-${change}`, chunks: () => encryptChunks(secrets, this.#encode(range)) };
    }
  }

  restore(pieces: Iterable<StoredPiece>): void {
    const { sessions, secrets, clock, sessionTtlMs } = this.#options;
    try {
      for (const { id, bytes } of pieces) {
        if (id.startsWith('head')) {
          const { settings, completeSinceMs, journal }: Head = JSON.parse(bytes.toString());
          if (settings !== this.#settings) throw new OutdatedPartError('the settings of sessions have changed');
          if (clock.wallMs() - sessionTtlMs < completeSinceMs) throw new OutdatedPartError('sessions are missing');
          this.restoredLogs = new Map(journal.map((log) => [log.name, log]));
        } else {
          for (const chunk of decryptChunks(secrets, bytes)) sessions.restoreSessions(toInt32Array(chunk));
        }
      }
    } catch (error) {
      sessions.clear();
      this.restoredLogs = new Map();
      throw error;
    }
  }

  /** Whether all sessions of a piece have expired, so that the piece is not needed and may be deleted. */
  isObsolete(id: string): boolean {
    const { clock, sessionTtlMs } = this.#options;
    return Number.parseInt(id, 10) + sessionTtlMs <= clock.wallMs();
  }

  *#encode({ from, to }: SessionRange): Generator<Uint8Array> {
    for (let first = from; first < to; first += bounds.snapshotRecordsPerChunk) {
      const last = Math.min(to, first + bounds.snapshotRecordsPerChunk);
      yield toBytes(this.#options.sessions.encodeSessions(first, last));
    }
  }
}

/** Returns the bytes as 32-bit words, without a copy if their address allows it. */
function toInt32Array(bytes: Buffer): Int32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  const isAligned = byteOffset % Int32Array.BYTES_PER_ELEMENT === 0;
  return isAligned
    ? new Int32Array(buffer, byteOffset, byteLength / Int32Array.BYTES_PER_ELEMENT)
    : toTypedArray(Int32Array, bytes);
}
