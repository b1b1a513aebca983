import { bounds } from '../bounds.ts';
import { LogUnavailableError } from './event-log.ts';
import { chainFieldsBytes, frameCrc, frameHeaderBytes, syncMarkBit, writeChainFields } from './log-format.ts';

/** Frames that are written and synced together. They lie end to end in one buffer, which is reused. */
export class FrameGroup {
  #buffer = Buffer.allocUnsafeSlow(bounds.logGroupInitialBytes);
  /** Bytes of the frames. */
  length = 0;
  records = 0;
  firstSequence = 0;
  /** CRC of the record before the group. */
  previousCrc = 0;
  /** CRC of the last record in the group. */
  lastCrc = 0;
  #durable: PromiseWithResolvers<void> | null = null;
  /** For callers whose promise was rejected while the frames are still to be written. */
  #durableLater: PromiseWithResolvers<void> | null = null;

  get bytes(): Buffer {
    return this.#buffer;
  }

  add(payload: Uint8Array, sequence: number, previousCrc: number, hasSyncMark: boolean): void {
    const start = this.length + frameHeaderBytes + (hasSyncMark ? chainFieldsBytes : 0);
    const end = start + payload.length;
    if (end > this.#buffer.length) this.#grow(end);
    const buffer = this.#buffer;
    const crc = frameCrc(sequence, previousCrc, payload);
    buffer.writeUInt32BE(hasSyncMark ? syncMarkBit + payload.length : payload.length, this.length);
    buffer.writeUInt32BE(crc, this.length + 4);
    if (hasSyncMark) writeChainFields(buffer, this.length + frameHeaderBytes, sequence, previousCrc);
    buffer.set(payload, start);
    if (this.records === 0) {
      this.firstSequence = sequence;
      this.previousCrc = previousCrc;
    }
    this.records++;
    this.length = end;
    this.lastCrc = crc;
  }

  /** One promise for all records of the group. */
  durablePromise(): Promise<void> {
    this.#durable ??= Promise.withResolvers();
    return this.#durable.promise;
  }

  settleDurable(): void {
    // First, because the rejected records precede those that were appended after the log worked again.
    this.#durableLater?.resolve();
    this.#durableLater = null;
    this.#durable?.resolve();
    this.#durable = null;
  }

  /** Rejects the promise of the records; the frames stay in the group. */
  rejectWaiters(cause: unknown): void {
    if (this.#durable === null) return;
    this.#durableLater ??= Promise.withResolvers();
    this.#durable.reject(new LogUnavailableError('the log cannot be written', this.#durableLater.promise, { cause }));
    this.#durable = null;
  }

  clear(): void {
    this.length = 0;
    this.records = 0;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.length);
    this.#buffer = larger;
  }
}
