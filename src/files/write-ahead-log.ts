import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Magic number of a log whose checksums are computed over little-endian words. */
const magic = 0x377f_0682;
const formatVersion = 3_007_000;

/**
 * Writes pages of an SQLite database to a new write-ahead log, as one transaction (https://sqlite.org/fileformat2.html#walformat). SQLite reads
 * these pages in place of the pages of the database file, and moves them to the file at its next checkpoint. Throws system errors.
 */
export class WriteAheadLog {
  readonly #file: number;
  readonly #salts = randomBytes(8);
  readonly #checksum = new Checksum();
  /** Frame that is not written yet, because the last frame must contain the size of the database. */
  readonly #frame: Buffer;
  #offset = headerBytes;
  /** Number of added pages. */
  pages = 0;

  constructor(path: string, pageBytes: number) {
    this.#frame = Buffer.alloc(frameHeaderBytes + pageBytes);
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32BE(magic, 0);
    header.writeUInt32BE(formatVersion, 4);
    header.writeUInt32BE(pageBytes, 8);
    this.#salts.copy(header, 16);
    this.#checksum.add(header, 0, 24);
    this.#checksum.write(header, 24);
    this.#file = openSync(path, 'wx', 0o600);
    writeSync(this.#file, header);
  }

  /** Adds a page. Pages are numbered from 1. */
  addPage(number: number, page: Uint8Array): void {
    if (this.pages > 0) this.#writeFrame(0);
    this.#frame.writeUInt32BE(number, 0);
    this.#frame.set(page, frameHeaderBytes);
    this.pages++;
  }

  /** Ends the transaction, durably. `databasePages` is the size of the database after the transaction, in pages. */
  commit(databasePages: number): void {
    if (this.pages > 0) this.#writeFrame(databasePages);
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }

  /** @param databasePages 0 for every frame but the last */
  #writeFrame(databasePages: number): void {
    const frame = this.#frame;
    frame.writeUInt32BE(databasePages, 4);
    this.#salts.copy(frame, 8);
    this.#checksum.add(frame, 0, 8);
    this.#checksum.add(frame, frameHeaderBytes, frame.length);
    this.#checksum.write(frame, 16);
    writeSync(this.#file, frame, 0, frame.length, this.#offset);
    this.#offset += frame.length;
  }
}

/** Checksum of the header and all frames up to the current one, without the frames' salts and checksums. */
class Checksum {
  #first = 0;
  #second = 0;

  /** Adds bytes, whose number is a multiple of 8. */
  add(bytes: Buffer, from: number, to: number): void {
    let first = this.#first;
    let second = this.#second;
    for (let at = from; at < to; at += 8) {
      first = (first + bytes.readUInt32LE(at) + second) >>> 0;
      second = (second + bytes.readUInt32LE(at + 4) + first) >>> 0;
    }
    this.#first = first;
    this.#second = second;
  }

  write(target: Buffer, offset: number): void {
    target.writeUInt32BE(this.#first, offset);
    target.writeUInt32BE(this.#second, offset + 4);
  }
}
