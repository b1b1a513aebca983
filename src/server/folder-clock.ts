import { existsSync, readdirSync } from 'node:fs';
import type { Clock } from '../domain/clock.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { TestClock } from '../domain/test-clock.ts';
import { readTestClockDays, writeTestClockDays } from '../files/test-clock-file.ts';

/** Error for a data folder that was created with a test clock but is opened without one, or the other way round. */
export class TestClockMismatchError extends OperatorError {
  override readonly name = 'TestClockMismatchError';
}

interface FolderClockOptions {
  readonly dataDir: string;
  /** Whether the caller asks for a test clock (`SVC_TEST_CLOCK`). */
  readonly testClock: boolean;
  /** Clock that the test clock is ahead of. */
  readonly clock: Clock;
}

/**
 * Returns the test clock with which a service or a command may change a data folder, or null if it may use the clock without a test clock.
 * Throws `TestClockMismatchError` if the folder was created with a test clock and `testClock` is false, or the other way round, and
 * `DataMissingError` if the files of the folder contradict each other. Writes no file.
 */
export function checkTestClock({ dataDir, testClock, clock }: FolderClockOptions): TestClock | null {
  const days = readTestClockDays(dataDir);
  if (days !== null && !testClock) {
    throw new TestClockMismatchError(
      `${dataDir} was created with a test clock, which is ${days} days ahead; set SVC_TEST_CLOCK=on (embedded: testClock: true), or use another data folder (see SVC_DATA_DIR)`,
    );
  }
  if (!testClock) return null;
  if (days === null && !isNewFolder(dataDir)) {
    throw new TestClockMismatchError(
      `${dataDir} was created without a test clock; use a new data folder (see SVC_DATA_DIR), or unset SVC_TEST_CLOCK (embedded: testClock)`,
    );
  }
  return new TestClock(clock, days ?? 0);
}

/**
 * As `checkTestClock`, and marks the folder if it has a test clock. The caller must have locked the folder, and must not have created
 * another file in a new folder, so that a crash leaves a folder that is either new or marked.
 */
export function openTestClock(options: FolderClockOptions): TestClock | null {
  const testClock = checkTestClock(options);
  if (testClock !== null) writeTestClockDays(options.dataDir, testClock.advancedDays);
  return testClock;
}

/** Whether a folder is missing or contains no file that a service, a command or an operator has stored. */
function isNewFolder(dataDir: string): boolean {
  // A new volume contains `lost+found`. Names of hidden files, such as `.gitkeep`, start with a dot.
  const isIgnored = (name: string) => name === 'lock' || name === 'lost+found' || name.startsWith('.');
  return !existsSync(dataDir) || readdirSync(dataDir).every(isIgnored);
}
