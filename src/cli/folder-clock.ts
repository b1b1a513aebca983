import { readTestClockSetting } from '../config/config.ts';
import { type Clock, systemClock } from '../domain/clock.ts';
import { TestClock } from '../domain/test-clock.ts';
import { createPrivateFolder } from '../files/durable-files.ts';
import { readTestClockDays, writeTestClockDays } from '../files/test-clock-file.ts';
import { openTestClock } from '../server/folder-clock.ts';

/** Returns the clock of a data folder for a command that only reads it: the test clock of a folder that has one, or the system clock. */
export function readFolderClock(dataDir: string): Clock {
  const days = readTestClockDays(dataDir);
  return days === null ? systemClock : new TestClock(systemClock, days);
}

/**
 * Returns the clock of a data folder for a command that changes it. Throws `TestClockMismatchError` if the folder has a test clock and
 * `SVC_TEST_CLOCK` is off, or the other way round.
 */
export function openFolderClock(dataDir: string): Clock {
  return openTestClock({ dataDir, testClock: readTestClockSetting(), clock: systemClock }) ?? systemClock;
}

/** Creates a data folder with a test clock if there is none and `SVC_TEST_CLOCK` is on. For a command that can create a data folder. */
export function markNewTestFolder(dataDir: string): void {
  if (!readTestClockSetting() || readTestClockDays(dataDir) !== null) return;
  createPrivateFolder(dataDir);
  writeTestClockDays(dataDir, 0);
}
