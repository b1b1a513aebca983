import { readFileSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { bounds } from '../bounds.ts';
import { PeriodicTask } from '../domain/async.ts';
import type { Clock } from '../domain/clock.ts';
import { writeFileDurablyInBackground } from '../files/durable-files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { StoredVerticalBookings } from './vertical-bookings.ts';

/** Booked revenue of all offers, computed from all ledger records up to `lastRecord`. */
export interface BookedRevenueSnapshot {
  /** The last record, with its sub_id in hex and a checksum. A start uses these values to detect a snapshot of another ledger. */
  readonly lastRecord: {
    readonly position: number;
    readonly wallMs: number;
    readonly sub: string;
    /** Checksum of the record without its byte arrays. */
    readonly crc32: number;
  };
  /** First UTC day since which the bookings contain all clicks. */
  readonly knownSinceDay: number;
  /** Bookings by vertical and mode, see `encodeVerticalAndMode`. */
  readonly verticals: readonly (readonly [verticalAndMode: number, bookings: StoredVerticalBookings])[];
}

const formatNumber = 2;

/** Encodes a snapshot in two lines: a header with the format and the CRC-32 of the second line, and the snapshot. Both are JSON. */
export function encodeSnapshot(snapshot: BookedRevenueSnapshot): string {
  const body = JSON.stringify(snapshot);
  return `${JSON.stringify({ format: formatNumber, crc32: crc32(body) })}\n${body}\n`;
}

/** Decodes a snapshot. Returns null if the text is damaged or has another format. */
export function decodeSnapshot(text: string): BookedRevenueSnapshot | null {
  const [header, body, end] = text.split('\n');
  if (header === undefined || body === undefined || end !== '') return null;
  try {
    const { format, crc32: checksum } = JSON.parse(header) as { readonly format: unknown; readonly crc32: unknown };
    // The checksum proves that `encodeSnapshot` wrote the body, so the members need no further checks.
    return format === formatNumber && checksum === crc32(body) ? JSON.parse(body) : null;
  } catch {
    return null;
  }
}

/** Reads the snapshot file. `problem` is null if the file does not exist. */
export function readSnapshot(file: string): {
  readonly snapshot: BookedRevenueSnapshot | null;
  readonly problem: string | null;
} {
  try {
    if (statSync(file).size > bounds.bookedRevenueSnapshotBytesMax) return { snapshot: null, problem: 'too large' };
    const snapshot = decodeSnapshot(readFileSync(file, 'utf8'));
    return { snapshot, problem: snapshot === null ? 'damaged' : null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { snapshot: null, problem: code === 'ENOENT' ? null : `unreadable: ${code}` };
  }
}

interface SnapshotWriterOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, 'durablePosition' | 'healthy'>;
  readonly bookings: { takeSnapshot(nowMs: number): BookedRevenueSnapshot };
  readonly onError: (error: unknown) => void;
  readonly intervalMs?: number;
}

/**
 * Writes the booked revenue of all offers to a file, every few minutes and when the service stops. A snapshot is written only after its
 * last ledger record is durable.
 */
export class BookedRevenueSnapshotWriter {
  readonly #options: SnapshotWriterOptions;
  readonly #periodicWrite: PeriodicTask;
  #writtenPosition = 0;

  constructor(options: SnapshotWriterOptions) {
    this.#options = options;
    const { intervalMs = bounds.bookedRevenueSnapshotIntervalMs } = options;
    this.#periodicWrite = new PeriodicTask(intervalMs, () => this.#write());
  }

  /** Stops the periodic writes and writes a last snapshot. Call this method after the ledger was closed. Never rejects. */
  close(): Promise<void> {
    return this.#periodicWrite.close();
  }

  async #write(): Promise<void> {
    const { file, clock, ledger, bookings, onError } = this.#options;
    try {
      const snapshot = bookings.takeSnapshot(clock.wallMs());
      const { position } = snapshot.lastRecord;
      if (position === this.#writtenPosition) return;
      const text = encodeSnapshot(snapshot);
      while (ledger.durablePosition < position) {
        if (!ledger.healthy || this.#periodicWrite.isClosing) return;
        await pause(bounds.logLingerMs);
      }
      await writeFileDurablyInBackground(file, text);
      this.#writtenPosition = position;
    } catch (error) {
      onError(error);
    }
  }
}
