import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { readDataInventory } from './data-inventory.ts';
import { writeFileDurably, writeFileDurablyInBackground } from './durable-files.ts';

const TestClockFileSchema = Type.Object({
  advanced_days: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
});
const fileValidator = Compile(TestClockFileSchema);

function testClockPath(dataDir: string): string {
  return join(dataDir, 'test-clock.json');
}

/**
 * Returns the number of days that the test clock of a data folder is ahead, or null if the folder was created without a test clock. The
 * file `test-clock.json` and the inventory both contain the number, and each of them alone marks the folder, so that the loss of one file
 * neither turns rehearsed figures into real ones nor sets the clock back. A damaged `test-clock.json` still marks the folder.
 */
export function readTestClockDays(dataDir: string): number | null {
  const { testClock } = readDataInventory(dataDir).inventory;
  const fileDays = readFileDays(dataDir);
  if (testClock === undefined) return fileDays;
  return Math.max(testClock.advancedDays, fileDays ?? 0);
}

/** Returns null if the file is missing, and 0 if it is damaged. Throws a system error if the file cannot be read. */
function readFileDays(dataDir: string): number | null {
  let text: string;
  try {
    text = readFileSync(testClockPath(dataDir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const content: unknown = JSON.parse(text);
    return fileValidator.Check(content) ? content.advanced_days : 0;
  } catch {
    return 0;
  }
}

/** Marks a data folder as one with a test clock, durably. Throws a system error. */
export function writeTestClockDays(dataDir: string, days: number): void {
  writeFileDurably(testClockPath(dataDir), encodeDays(days));
}

/** As `writeTestClockDays`, but does not block the event loop. */
export function writeTestClockDaysInBackground(dataDir: string, days: number): Promise<void> {
  return writeFileDurablyInBackground(testClockPath(dataDir), encodeDays(days));
}

function encodeDays(days: number): string {
  return `${JSON.stringify({ advanced_days: days } satisfies Static<typeof TestClockFileSchema>)}\n`;
}
