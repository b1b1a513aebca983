/**
 * All the log asks of a file system, and nothing more: what a faulty one must imitate to show that no acknowledged record
 * is lost. Reading is synchronous, since recovery and the aggregator have nothing else to do meanwhile; writing is not.
 * Every call may throw, or reject with, the error of the system.
 */
export interface LogFiles {
  /**
   * Creates the folder and what leads to it, and makes their names durable. Also those of folders that exist: whoever made
   * them may have crashed before its sync.
   */
  createFolder(folder: string): void;
  /** Names in a folder, in no order. */
  listNames(folder: string): string[];
  /** Opens an existing file for reading. */
  openForReading(path: string): ReadableLogFile;
  /** Creates the file, or empties it, for writing. */
  create(path: string): Promise<WritableLogFile>;
  /** Opens an existing file for writing, leaving its bytes. */
  openForWriting(path: string): Promise<WritableLogFile>;
  /** Replaces `to` if it exists. Not durable before `syncFolder`. */
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes the names in a folder durable. */
  syncFolder(folder: string): Promise<void>;
}

export interface ReadableLogFile {
  size(): number;
  /** Reads into the whole of `target` from byte `position` on; returns how many bytes there were. */
  read(target: Uint8Array, position: number): number;
  close(): void;
}

export interface WritableLogFile {
  /** Writes `length` bytes of `source` from its byte 0, all of them, at byte `position` of the file. */
  write(source: Uint8Array, length: number, position: number): Promise<void>;
  /** Makes the bytes written durable, with what is needed to find them again. */
  datasync(): Promise<void>;
  /** As `write`, and these bytes are as durable as `datasync` makes them; of others nothing is said. */
  writeAndSync(source: Uint8Array, length: number, position: number): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}
