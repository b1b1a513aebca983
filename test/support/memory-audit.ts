import {
  type AuditChange,
  AuditLogUnavailableError,
  hashEntry,
  toEntryContent,
  zeroHash,
} from '../../src/audit/audit-log.ts';
import { AuditTrail } from '../../src/audit/audit-trail.ts';
import { ManualClock } from './manual-clock.ts';

/** An audit trail whose changes stay in memory, for tests that check what is recorded. */
export class MemoryAudit {
  readonly changes: AuditChange[] = [];
  /** Whether every write fails. */
  isFull = false;
  readonly trail = new AuditTrail({
    log: {
      append: (changes) => {
        if (this.isFull) throw new AuditLogUnavailableError('the audit log cannot be written');
        return changes.map((change) => {
          const content = toEntryContent(change, this.changes.push(change), zeroHash);
          return { ...content, hash: hashEntry(content) };
        });
      },
    },
    clock: new ManualClock(),
    onWriteError: () => {},
    onRecovered: () => {},
    onLost: () => {},
  });

  /** Actions of all changes, in order. */
  get actions(): readonly string[] {
    return this.changes.map(({ action }) => action);
  }
}
