import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { zeroHash } from '../../audit/audit-log.ts';
import { tryOpenAuditLog } from '../../audit/open-audit-log.ts';
import { auditLogPath, SqliteAuditLog } from '../../audit/sqlite-audit-log.ts';
import { bounds } from '../../bounds.ts';
import { readDataDir } from '../../config/config.ts';
import { systemClock } from '../../domain/clock.ts';
import { readDataInventory, writeDataInventory } from '../../files/data-inventory.ts';
import { fsyncPath } from '../../files/durable-files.ts';
import { readTestClockDays } from '../../files/test-clock-file.ts';
import { CommandLineError, defineCommand } from '../command.ts';
import { commandLineActor } from '../command-recorder.ts';
import { readFolderClock } from '../folder-clock.ts';
import { formatTimestamp, printJson, printNotice, printResult } from '../output.ts';
import { dryRunNotice, type RepairOptions } from './accept-loss.ts';
import { withLockedDataFolder } from './log-folder.ts';

export function createAuditRepairCommand(): Command {
  return defineCommand('repair', {
    summary: 'accept an audit log that is missing, damaged or an older copy',
    description:
      'Accepts that entries of the audit log are lost. The service does not start with an audit log that is missing, damaged or older than the ' +
      'data folder. The command appends an entry that says which entries are lost, so that no number is used twice. A damaged file is moved ' +
      'to another name. The service must be stopped. Without --yes, the command only prints what it would do.',
    examples: ['marketplace audit repair', 'marketplace audit repair --yes'],
    exitCodes: { 0: 'the loss is accepted, or the changes are printed' },
    json: 'one object: outcome, audit_log, lost_from, lost_to, moved_to',
  })
    .option('--yes', 'make the changes')
    .action((options: RepairOptions) =>
      withLockedDataFolder(readDataDir(), options, async (dataDir) => acceptAuditLoss(dataDir, options)),
    );
}

function acceptAuditLoss(dataDir: string, { yes, json }: RepairOptions): void {
  const path = auditLogPath(dataDir);
  const { log, loss } = tryOpenAuditLog(dataDir, bounds.auditCommandLockTimeoutMs);
  const end = log?.readEnd()?.number ?? 0;
  log?.close();
  if (loss?.kind === 'foreign') throw new CommandLineError(loss.error.message);
  const { inventory } = readDataInventory(dataDir);
  const known = inventory.audit ?? { number: 0, hash: zeroHash };
  const lost = { lost_from: loss === null ? null : end + 1, lost_to: loss === null ? null : known.number };
  let movedTo: string | null = null;
  if (yes && loss !== null) {
    const days = readTestClockDays(dataDir);
    // Forgets the first entry first, so that an interrupted repair can be repeated with a new file.
    writeDataInventory(dataDir, { ...inventory, audit: { number: known.number, hash: known.hash } }, days);
    if (loss.kind === 'damaged') movedTo = moveAway(path, dataDir);
    const repaired = new SqliteAuditLog(path, bounds.auditCommandLockTimeoutMs);
    try {
      const entry = repaired.appendAcceptedLoss(readFolderClock(dataDir).wallMs(), commandLineActor(), known);
      const { hash: firstHash } = repaired.readEntriesAfter(0, 1)[0]!;
      writeDataInventory(dataDir, { ...inventory, audit: { number: entry.number, hash: entry.hash, firstHash } }, days);
    } finally {
      repaired.close();
    }
  }
  const outcome = loss === null ? 'nothing_to_do' : yes ? 'accepted' : 'would_accept';
  if (json) printJson({ outcome, audit_log: path, ...lost, moved_to: movedTo });
  else if (loss === null) printResult(`No entries of ${path} are known to be missing: nothing to do.`);
  else {
    const range = known.number === 0 ? 'All entries' : `The entries ${end + 1} to ${known.number}`;
    printResult(`${yes ? 'Accepted' : 'Would accept'}: ${path} has lost entries. ${range} are missing.`);
    if (movedTo !== null) printResult(`The damaged file is ${movedTo}.`);
    if (!yes) printNotice(dryRunNotice);
  }
}

/** Moves the damaged file to another name. Returns its new path. */
function moveAway(path: string, dataDir: string): string {
  const timestamp = formatTimestamp(systemClock.wallMs()).replaceAll(/[-:.]/g, '');
  const target = join(dataDir, `audit-removed-${timestamp}.sqlite`);
  for (const suffix of ['-shm', '-wal', '']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, target + suffix);
  }
  fsyncPath(dataDir);
  return target;
}
