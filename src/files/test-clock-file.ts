import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { readDataInventory } from './data-inventory.ts';
import { DataMissingError } from './data-paths.ts';
import { writeFileDurably, writeFileDurablyInBackground } from './durable-files.ts';
import { isMissing, readRegularFile } from './regular-file.ts';

const TestClockFileSchema = Type.Object({
  advanced_days: Type.Integer({ minimum: 0, maximum: bounds.testClockDaysMax }),
});
const fileValidator = Compile(TestClockFileSchema);

function testClockPath(dataDir: string): string {
  return join(dataDir, 'test-clock.json');
}

const remedy =
  'restore the file, or write it with the number of days that the test clock was ahead, such as {"advanced_days":46}';

/**
 * Returns the number of days that the test clock of a data folder is ahead, or null if the folder was created without a test clock. The
 * file `test-clock.json` and the inventory both contain the number, and each of them alone marks the folder, so that the loss of one file
 * neither turns rehearsed figures into real ones nor sets the clock back. Throws `DataMissingError` if the folder is marked but the number is
 * lost, and if the inventory proves that `test-clock.json` belongs to another folder.
 */
export function readTestClockDays(dataDir: string): number | null {
  const path = testClockPath(dataDir);
  const { inventory, hasTestClock } = readDataInventory(dataDir);
  const inventoryDays = inventory.testClock?.advancedDays ?? null;
  if (isMissing(path)) {
    if (inventoryDays !== null || !hasTestClock) return inventoryDays;
    throw new DataMissingError(path, `is missing and inventory.json is damaged: ${remedy}`);
  }
  if (hasTestClock === false) {
    throw new DataMissingError(
      path,
      'does not belong to this data folder, whose inventory.json has no test clock: if the data is real, remove test-clock.json; if the data is rehearsed, restore inventory.json',
    );
  }
  const read = readRegularFile(path, bounds.testClockFileBytesMax);
  if (!read.ok) throw new DataMissingError(path, `${read.problem}: ${remedy}`);
  const fileDays = parseDays(read.bytes.toString());
  if (fileDays !== null) return Math.max(fileDays, inventoryDays ?? 0);
  if (inventoryDays !== null) return inventoryDays;
  throw new DataMissingError(path, `is damaged: ${remedy}`);
}

/** Returns null if the text is invalid. */
function parseDays(text: string): number | null {
  try {
    const content: unknown = JSON.parse(text);
    return fileValidator.Check(content) ? content.advanced_days : null;
  } catch {
    return null;
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
