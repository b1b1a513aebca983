import { readTestClockSetting } from '../config/config.ts';
import { type Clock, systemClock } from '../domain/clock.ts';
import { TestClock } from '../domain/test-clock.ts';
import { createPrivateFolder } from '../files/durable-files.ts';
import { FolderInUseError, lockFolder } from '../files/folder-lock.ts';
import { readTestClockDays } from '../files/test-clock-file.ts';
import { checkTestClock, openTestClock } from '../server/folder-clock.ts';

/** Returns the clock of a data folder for a command that only reads it: the test clock of a folder that has one, or the system clock. */
export function readFolderClock(dataDir: string): Clock {
  const days = readTestClockDays(dataDir);
  return days === null ? systemClock : new TestClock(systemClock, days);
}

/**
 * Returns the clock of a data folder for a command that changes it. Throws `TestClockMismatchError` if the folder has a test clock and
 * `SVC_TEST_CLOCK` is off, or the other way round. Writes no file.
 */
export function checkFolderClock(dataDir: string): Clock {
  return checkTestClock(folderClockOptions(dataDir)) ?? systemClock;
}

/** As `checkFolderClock`, and marks the folder if it has a test clock. The caller must have locked the folder. */
export function openLockedFolderClock(dataDir: string): Clock {
  return openTestClock(folderClockOptions(dataDir)) ?? systemClock;
}

/**
 * As `checkFolderClock`, for a command that can create a data folder: if `SVC_TEST_CLOCK` is on, creates and marks a new folder. Throws
 * `FolderInUseError` if a service without a test clock has just started in the folder.
 */
export function createFolderClock(dataDir: string): Clock {
  const clock = checkFolderClock(dataDir);
  if (!readTestClockSetting() || readTestClockDays(dataDir) !== null) return clock;
  createPrivateFolder(dataDir);
  const lock = lockUnmarkedFolder(dataDir);
  if (lock === null) return clock;
  try {
    return openLockedFolderClock(dataDir);
  } finally {
    lock.release();
  }
}

/** Locks a folder. Returns null if another process has locked the folder and marked it. */
function lockUnmarkedFolder(dataDir: string) {
  try {
    return lockFolder(dataDir);
  } catch (error) {
    if (error instanceof FolderInUseError && readTestClockDays(dataDir) !== null) return null;
    throw error;
  }
}

function folderClockOptions(dataDir: string) {
  return { dataDir, testClock: readTestClockSetting(), clock: systemClock };
}
