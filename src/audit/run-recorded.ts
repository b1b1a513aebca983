import type { RecordChange } from './audit-log.ts';

/**
 * Runs a change that records itself with the given function before it takes effect. If the change then throws an error, records that it
 * failed, so that its entry is not mistaken for a change.
 */
export function runRecorded<Result>(record: RecordChange, change: (record: RecordChange) => Result): Result {
  const numbers: number[] = [];
  try {
    return change((...described) => {
      const number = record(...described);
      numbers.push(number);
      return number;
    });
  } catch (error) {
    for (const number of numbers) recordFailure(record, number, 'failed');
    throw error;
  }
}

/** Records that the change of an entry failed, or that it is unknown whether the change took effect. Never throws. */
export function recordFailure(record: RecordChange, number: number, outcome: 'failed' | 'unknown'): void {
  try {
    record('change.failed', `entry ${number}`, { outcome });
  } catch {
    // The entry of the change stays without this explanation.
  }
}
