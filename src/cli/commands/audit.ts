import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { auditActions } from '../../audit/audit-actions.ts';
import type { AuditEntry } from '../../audit/audit-log.ts';
import { auditLogPath, SqliteAuditLog } from '../../audit/sqlite-audit-log.ts';
import { type AuditVerification, verifyAuditLog } from '../../audit/verify-audit-log.ts';
import { bounds } from '../../bounds.ts';
import { readDataDir } from '../../config/config.ts';
import { dayStartMs, parseIsoDate, parseIsoTimestamp } from '../../domain/calendar.ts';
import { escapeInvisibleCharacters } from '../../domain/text.ts';
import { readDataInventory } from '../../files/data-inventory.ts';
import { toAuditEntryView } from '../../operations/audit-views.ts';
import {
  CommandLineError,
  createChoiceOption,
  createCommandGroup,
  createIntegerParser,
  defineCommand,
  exitCodes,
} from '../command.ts';
import {
  type Column,
  formatFixedRows,
  formatTimestamp,
  printChunk,
  printJson,
  printNotice,
  printResult,
} from '../output.ts';
import { runWithProgress } from '../progress-bar.ts';
import { createAuditRepairCommand } from './audit-repair.ts';

const defaultLimit = 50;

export function createCommand(): Command {
  const list = auditListCommand();
  return createCommandGroup(
    'audit',
    'Prints and verifies the audit log of the data folder (SVC_DATA_DIR, or ./data): who changed keys, origins, catalogs, ' +
      'confirmations, experiments and secrets. A server may be running. Without a command, audit list runs.',
    [list, auditVerifyCommand(), createAuditRepairCommand()],
    list,
  );
}

function auditListCommand(): Command {
  return defineCommand('list', {
    summary: 'print the newest entries',
    description: 'Prints the newest entries of the audit log, newest first.',
    examples: [
      'marketplace audit list',
      'marketplace audit list --action key.revoke --since 2026-11-01',
      'marketplace audit list --json --limit 1000',
    ],
    json: 'one object per line and entry, newest first: number, time, actor, actor_name, action, subject, details, previous_hash, hash',
  })
    .option('--since <when>', 'only entries from this UTC day or ISO 8601 timestamp on', parseSince)
    .addOption(createChoiceOption('--action <action>', 'only entries with this action', auditActions))
    .option(
      '--limit <n>',
      `number of entries, up to ${bounds.auditEntriesListedMax}`,
      createIntegerParser(bounds.auditEntriesListedMax),
      defaultLimit,
    )
    .action(printEntries);
}

function auditVerifyCommand(): Command {
  return defineCommand('verify', {
    summary: 'verify the chain of hashes',
    description:
      'Reads the whole audit log and verifies that each entry has its own hash and the hash of the entry before, and that no entry is missing ' +
      'up to the last one that inventory.json knows. Prints the last number and hash: if you keep them elsewhere, you can prove later that the ' +
      'log has not been written again. Changes nothing.',
    examples: ['marketplace audit verify', 'marketplace audit verify --json | jq -r .last_hash'],
    exitCodes: { 3: 'an entry was changed, is missing or is in the wrong place', 130: null },
    json: 'one object: state, entries, lost_entries, last_number, last_hash, problem',
  }).action(verifyLog);
}

/** Parses a UTC day or a timestamp. Returns Unix milliseconds. */
function parseSince(text: string): number {
  const day = parseIsoDate(text);
  const ms = day === null ? parseIsoTimestamp(text) : dayStartMs(day);
  if (ms !== null) return ms;
  throw new InvalidArgumentError('The time must be a date like 2026-11-01 or a timestamp like 2026-11-01T18:00:00Z.');
}

/** Opens the audit log for a command that only reads it. Throws `CommandLineError` if there is none. */
function openExistingLog(dataDir: string): SqliteAuditLog {
  const path = auditLogPath(dataDir);
  if (existsSync(path)) return new SqliteAuditLog(path, bounds.auditCommandLockTimeoutMs);
  throw new CommandLineError(
    `there is no audit log at ${path} yet; the next start of the service creates it (see SVC_DATA_DIR)`,
  );
}

interface ListOptions {
  readonly since?: number | null;
  readonly action?: string | null;
  readonly limit: number;
  readonly json?: true;
}

async function printEntries({ since = null, action = null, limit, json }: ListOptions): Promise<void> {
  const log = openExistingLog(readDataDir());
  try {
    let beforeNumber: number | null = null;
    for (let left = limit; left > 0; ) {
      const isFirst = beforeNumber === null;
      const pageLimit = Math.min(left, bounds.auditEntriesPerRead);
      const page = log.listEntries({ limit: pageLimit, beforeNumber, action, sinceMs: since });
      if (page.length === 0) {
        if (isFirst) printNotice('No entries.');
        return;
      }
      const text = json
        ? page.map((entry) => escapeInvisibleCharacters(JSON.stringify(toAuditEntryView(entry)))).join('\n')
        : formatFixedRows(columns, page, isFirst);
      if (!(await printChunk(text))) return;
      left -= page.length;
      beforeNumber = page.at(-1)!.number;
    }
  } finally {
    log.close();
  }
}

const columns: readonly Column<AuditEntry>[] = [
  ['NUMBER', ({ number }) => number, 6],
  ['TIME', ({ timeMs }) => formatTimestamp(timeMs), 24],
  ['ACTOR', ({ actorKind, actorName }) => escapeInvisibleCharacters([actorKind, actorName ?? ''].join(' ').trim()), 29],
  ['ACTION', ({ action }) => escapeInvisibleCharacters(action), 20],
  ['SUBJECT', ({ subject }) => escapeInvisibleCharacters(subject), 24],
  ['DETAILS', ({ details }) => escapeInvisibleCharacters(details)],
];

async function verifyLog(output: { readonly json?: true }): Promise<void> {
  const dataDir = readDataDir();
  const log = openExistingLog(dataDir);
  let verification: AuditVerification;
  try {
    const known = readDataInventory(dataDir).inventory.audit ?? null;
    const progress = { total: log.readEnd()?.number ?? 0, unit: 'entries' };
    verification = await runWithProgress(output, progress, (onEntriesRead, signal) =>
      verifyAuditLog(log, { known, onEntriesRead, signal }),
    );
  } finally {
    log.close();
  }
  const { entries, end, lostEntries, problem } = verification;
  const description = problem === null ? null : `entry ${problem.number} ${problem.text}`;
  if (output.json) {
    printJson({
      state: problem === null ? 'whole' : 'damaged',
      entries,
      lost_entries: lostEntries,
      last_number: end?.number ?? 0,
      last_hash: end?.hash ?? null,
      problem: description,
    });
  } else {
    const lost = lostEntries === 0 ? '' : `; ${lostEntries} more are lost, as audit.accept_loss says`;
    printResult(`${problem === null ? 'whole' : 'damaged behind these entries'}: ${entries} entries${lost}`);
    if (end !== null) printResult(`entry ${end.number} has the hash ${end.hash}`);
  }
  if (description !== null) throw new CommandLineError(description, { exitCode: exitCodes.damage });
}
