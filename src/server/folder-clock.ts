import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { keyFilePath } from '../auth/key-file.ts';
import type { Clock } from '../domain/clock.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { TestClock } from '../domain/test-clock.ts';
import { dataPaths } from '../files/data-paths.ts';
import { readTestClockDays } from '../files/test-clock-file.ts';

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
 * Throws `TestClockMismatchError` if the folder was created with a test clock and `testClock` is false, or the other way round. Writes no file.
 */
export function openTestClock({ dataDir, testClock, clock }: FolderClockOptions): TestClock | null {
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

/** Whether no service and no command has stored data in the folder. */
function isNewFolder(dataDir: string): boolean {
  const paths = [...Object.values(dataPaths(dataDir)), keyFilePath(dataDir), join(dataDir, 'inventory.json')];
  return !paths.some((path) => existsSync(path));
}
