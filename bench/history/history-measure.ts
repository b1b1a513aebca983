import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A measurement of the persistent part: logs, restart and counters. */
export interface HistoryMeasure {
  readonly name: string;
  measure(scale: HistoryScale): Promise<readonly HistoryFigure[]>;
}

export interface HistoryScale {
  /** Sessions of the ledger that is read and counted. */
  readonly sessions: number;
  /** Duration of one round of a repeated measurement. */
  readonly seconds: number;
  readonly rounds: number;
  /** Existing folder on the measured disk; its new content is deleted. */
  readonly folder: string;
}

export interface HistoryFigure {
  readonly name: string;
  /** Value with its unit, and its spread over several rounds. */
  readonly value: string;
  /** Target or value for comparison. */
  readonly beside: string;
  /** Bytes per session on disk in ledger and analytics store, with a view and its share of clicks. */
  readonly bytesPerSession?: number;
}

/** Total size of the files of a folder. */
export async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
