import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Value of one measurement of logs, restart or counters. */
export interface HistoryMeasure {
  readonly name: string;
  measure(scale: HistoryScale): Promise<readonly HistoryFigure[]>;
}

export interface HistoryScale {
  /** Number of sessions in the measured ledger. */
  readonly sessions: number;
  /** Duration of one round of a repeated measurement. */
  readonly seconds: number;
  readonly rounds: number;
  /** Existing folder on the measured disk. The benchmark deletes the files that it creates there. */
  readonly folder: string;
}

export interface HistoryFigure {
  readonly name: string;
  /** Formatted value with unit, and its spread over several rounds. */
  readonly value: string;
  /** Target, or another value for comparison. */
  readonly beside: string;
  /** Bytes on disk per session in ledger and analytics store, including its view and its share of clicks. */
  readonly bytesPerSession?: number;
}

/** Returns the total size of the files of a folder in bytes. */
export async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
