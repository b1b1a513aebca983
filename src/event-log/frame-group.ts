import { bounds } from '../bounds.ts';
import { LogUnavailableError } from './event-log.ts';
import { chainFieldsBytes, frameCrc, frameHeaderBytes, syncMarkBit, writeChainFields } from './log-format.ts';

/** Group of frames that are written and synced together. The frames are contiguous in one buffer, which is reused. */
export class FrameGroup {
  #buffer = Buffer.allocUnsafeSlow(bounds.logGroupInitialBytes);
  /** Length of the frames in bytes. */
  length = 0;
  records = 0;
  firstSequence = 0;
  /** CRC of the record before the group. */
  previousCrc = 0;
  /** CRC of the last record in the group. */
  lastCrc = 0;
  #durable: PromiseWithResolvers<void> | null = null;
  /** Promise for callers whose first promise was rejected before the frames were written. */
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

  /** Returns the promise that all records of the group share. */
  durablePromise(): Promise<void> {
    this.#durable ??= Promise.withResolvers();
    return this.#durable.promise;
  }

  settleDurable(): void {
    // `durableLater` resolves first, because the rejected records precede those appended after the log could be written again.
    this.#durableLater?.resolve();
    this.#durableLater = null;
    this.#durable?.resolve();
    this.#durable = null;
  }

  /** Rejects the promise of the records. The frames remain in the group. */
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
