import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { PeriodicTask } from '../domain/async.ts';
import { writeFileDurablyInBackground } from '../files/durable-files.ts';

/** When keys were used last. */
export interface KeyUses {
  /** Time since which all uses are known, in Unix milliseconds. */
  readonly sinceMs: number;
  /** Number of each used key, and the time of its last use in Unix milliseconds. */
  readonly lastUses: Iterable<readonly [keyNumber: number, lastUsedMs: number]>;
}

export function keyUsePath(dataDir: string): string {
  return join(dataDir, 'key-use.txt');
}

const header = /^svc-key-use 1 (\d{1,15})$/;
const usePattern = /^(\d{1,10}) (\d{1,15})$/;

/**
 * Reads the times of the last uses. `problem` is null if the file does not exist. The first line of the file contains the format and the
 * time `sinceMs`, each further line the number of a key and its time, and the last line is `end`.
 */
export function readKeyUses(path: string): { readonly uses: KeyUses | null; readonly problem: string | null } {
  try {
    if (statSync(path).size > bounds.keyUseFileBytesMax) return { uses: null, problem: 'too large' };
    const [first = '', ...lines] = readFileSync(path, 'utf8').split('\n');
    const [, since] = header.exec(first) ?? [];
    const isComplete = lines.pop() === '' && lines.pop() === 'end';
    const matches = lines.map((line) => usePattern.exec(line));
    if (since === undefined || !isComplete || matches.includes(null)) return { uses: null, problem: 'damaged' };
    const lastUses = matches.map((match) => [Number(match![1]), Number(match![2])] as const);
    return { uses: { sinceMs: Number(since), lastUses }, problem: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { uses: null, problem: code === 'ENOENT' ? null : `unreadable: ${code}` };
  }
}

/** Encodes the times in several turns of the event loop, because encoding 100,000 times at once would block it for many milliseconds. */
async function encodeKeyUses({ sinceMs, lastUses }: KeyUses): Promise<string> {
  let text = `svc-key-use 1 ${sinceMs}\n`;
  let count = 0;
  for (const [keyNumber, lastUsedMs] of lastUses) {
    text += `${keyNumber} ${lastUsedMs}\n`;
    if (++count % bounds.keyUsesEncodedPerTurn === 0) await nextTurn();
  }
  return `${text}end\n`;
}

interface KeyUseWriterOptions {
  readonly path: string;
  /** Returns the time of the last use of any key; 0 before the first use. */
  readonly latestUseMs: () => number;
  readonly readUses: () => KeyUses;
  /** Called for each failed write; the next write tries again. */
  readonly onError: (error: unknown) => void;
}

/** Writes the times of the last uses to a file every few minutes if they have changed, and when the service stops. */
export class KeyUseWriter {
  readonly #options: KeyUseWriterOptions;
  readonly #periodicWrite: PeriodicTask;
  #writtenUseMs = -1;

  constructor(options: KeyUseWriterOptions) {
    this.#options = options;
    this.#periodicWrite = new PeriodicTask(bounds.keyUseWriteIntervalMs, () => this.#write());
  }

  /** Stops the periodic writes and writes the last uses. Never rejects. */
  close(): Promise<void> {
    return this.#periodicWrite.close();
  }

  async #write(): Promise<void> {
    const { path, latestUseMs, readUses, onError } = this.#options;
    const useMs = latestUseMs();
    if (useMs === this.#writtenUseMs) return;
    try {
      await writeFileDurablyInBackground(path, await encodeKeyUses(readUses()));
      this.#writtenUseMs = useMs;
    } catch (error) {
      onError(error);
    }
  }
}
