import type { RetentionTask } from '../analytics/retention-task.ts';
import type { AuditTrail } from '../audit/audit-trail.ts';
import type { TestClock } from '../domain/test-clock.ts';
import { writeTestClockDaysInBackground } from '../files/test-clock-file.ts';
import type { FileJournal } from '../journal/file-journal.ts';
import { describeError } from '../logging/describe-error.ts';
import { ClockAdvance } from '../operations/advance-clock.ts';
import type { InventoryWriter } from './inventory-writer.ts';
import type { CleanupStack } from './lifecycle.ts';
import type { ServiceOptions } from './service.ts';

interface DailyWork {
  readonly retention: Pick<RetentionTask, 'runNow'> | null;
  readonly journal: Pick<FileJournal, 'rotateAndDeleteLogs'>;
  readonly inventoryWriter: Pick<InventoryWriter, 'requestWrite'>;
  readonly audit: Pick<AuditTrail, 'recorderOf'>;
}

/** Creates the operation that advances the test clock. Budgets, caps and daily limits need no task, because they are counted by day. */
export function createClockAdvance(
  { dataDir, logger }: ServiceOptions,
  cleanup: CleanupStack,
  clock: TestClock,
  { retention, journal, inventoryWriter, audit }: DailyWork,
): ClockAdvance {
  const clockAdvance = new ClockAdvance({
    clock,
    audit,
    storeDays: (days) => writeTestClockDaysInBackground(dataDir, days),
    dayTasks: [async () => retention?.runNow(), () => journal.rotateAndDeleteLogs()],
    onAdvanced: () => inventoryWriter.requestWrite(),
    onStoreError: (error) => logger.error({ err: describeError(error) }, 'time of the test clock could not be saved'),
  });
  cleanup.addCleanupCallback(() => clockAdvance.close());
  return clockAdvance;
}
