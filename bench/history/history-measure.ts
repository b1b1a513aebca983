import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What is measured of the service's memory: the logs, what a restart reads back, and the counters. */
export interface HistoryMeasure {
  readonly name: string;
  measure(scale: HistoryScale): Promise<readonly HistoryFigure[]>;
}

export interface HistoryScale {
  /** Sessions of the history that is read back and counted. */
  readonly sessions: number;
  /** Length of one round of what goes on until it is stopped. */
  readonly seconds: number;
  readonly rounds: number;
  /** An existing folder on the disk to be measured. What is put there is removed. */
  readonly folder: string;
}

export interface HistoryFigure {
  readonly name: string;
  /** The figure with its unit, and its spread where there were rounds. */
  readonly value: string;
  /** What it should be, or what it is compared with. */
  readonly beside: string;
  /** Bytes that one session leaves on the disk for good, with its view and its share of the clicks: ledger and store. */
  readonly bytesPerSession?: number;
}

/** What the files of a folder take together. */
export async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
