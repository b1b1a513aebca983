import { OutdatedPartError, type SnapshotPart } from '../domain/snapshot-part.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import type { DataPaths } from '../files/data-paths.ts';
import { hasLedgerSpan } from '../ledger/ledger.ts';
import { describeError } from '../logging/describe-error.ts';
import { type PlacedPart, readSnapshotContent, restorePart } from '../snapshots/snapshot-files.ts';
import type { ServiceOptions } from './service.ts';

interface RestoredSnapshot {
  /** Position of the ledger after which the records must be applied; null if no part was restored. */
  readonly cursor: LogCursor | null;
  /** The other parts remain empty, and need all their records. */
  readonly restoredParts: ReadonlySet<SnapshotPart>;
}

/** Restores the parts of the last snapshot, if it can be used. */
export function restoreSnapshot(
  { logger }: ServiceOptions,
  { snapshotFolder, ledgerFolder }: DataPaths,
  parts: readonly PlacedPart[],
): RestoredSnapshot {
  const { content, problem } = readSnapshotContent(snapshotFolder);
  const isUsable = content !== null && hasLedgerSpan(ledgerFolder, content.span);
  if (!isUsable) {
    const reason = content === null ? problem : 'does not match the ledger';
    if (reason !== null) logger.warn({ problem: reason }, 'snapshot cannot be used; reading the logs');
    return { cursor: null, restoredParts: new Set() };
  }
  const restoredParts = new Set<SnapshotPart>();
  for (const placed of parts) {
    try {
      restorePart(content, placed);
      restoredParts.add(placed.part);
    } catch (error) {
      const { name: part } = placed.part;
      if (error instanceof OutdatedPartError) {
        logger.info({ part, reason: error.message }, 'part of the snapshot is outdated; reading the logs');
      } else {
        logger.warn({ part, err: describeError(error) }, 'part of the snapshot cannot be used; reading the logs');
      }
    }
  }
  return { cursor: restoredParts.size > 0 ? content.span.start : null, restoredParts };
}
