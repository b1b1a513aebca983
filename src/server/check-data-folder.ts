import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { readStoreEvidence, type StoreEvidence } from '../analytics/analytics-database.ts';
import { CounterArchive } from '../analytics/counter-archive.ts';
import { hasKnownKeys, listRegisteredShards, readKeyFileNumbers } from '../auth/key-file.ts';
import type { DurabilityMode } from '../config/service-settings.ts';
import { HighestAccounts } from '../domain/home-shard.ts';
import { type CapturedPiece, OutdatedPartError, type SnapshotPart, type StoredPiece } from '../domain/snapshot-part.ts';
import type { FileEventLog } from '../event-log/file-event-log.ts';
import { nodeFileSystem } from '../event-log/log-files.ts';
import { parseSegmentFileNames } from '../event-log/log-format.ts';
import { verifyLog } from '../event-log/verify-log.ts';
import {
  type DataInventory,
  type JournalLogEnd,
  type KeyFileNumbers,
  readDataInventory,
} from '../files/data-inventory.ts';
import {
  assertShardCountAtLeast,
  DataMissingError,
  type DataPaths,
  dataPaths,
  FolderMissingError,
  listShardFolders,
} from '../files/data-paths.ts';
import { formatSubId, readAccount, readSecretNumber, SubIds } from '../ids/sub-id.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import { type LedgerRecord, ledgerRecordKind, parseLedgerRecord } from '../ledger/ledger-record.ts';
import { RandomBytesPool } from '../secrets/random-pool.ts';
import { addUnitKey, SecretFileError, unitKeyMember } from '../secrets/secret-file.ts';
import type { SecretSet } from '../secrets/secret-set.ts';

const acceptLedgerCommand = 'marketplace log repair --accept-missing-ledger --yes';
const acceptJournalCommand = 'marketplace log repair --accept-missing-journal --yes';
const acceptKeysCommand = 'marketplace keys repair --yes';
const ledgerRemedy = `put the folder back or restore a backup; to continue without the missing records, run ${acceptLedgerCommand}`;

/** What the files of a data folder prove about each other (docs/operating.md#missing-and-older-files). */
export interface FolderEvidence {
  readonly files: DataPaths;
  readonly inventory: DataInventory;
  /** Error in the inventory file, or null. */
  readonly inventoryProblem: string | null;
  /** Null if the analytics store is missing or damaged. */
  readonly store: StoreEvidence | null;
  readonly archive: CounterArchive;
}

/**
 * Reads the evidence of a data folder. Throws `LogDamagedError` if the newest segment of the archive is damaged.
 *
 * @param options `readonly` must be true if another process may use the folder
 */
export function readFolderEvidence(dataDir: string, options: { readonly readonly: boolean }): FolderEvidence {
  const files = dataPaths(dataDir);
  const { inventory, problem } = readDataInventory(dataDir);
  const store = readStoreEvidence(files.analyticsStoreFile, options);
  return { files, inventory, inventoryProblem: problem, store, archive: new CounterArchive(files.archiveFolder) };
}

/** Returns the first position of each segment of the ledger; an empty list if the ledger is missing or empty. */
export function listLedgerSegments({ ledgerFolder }: DataPaths): number[] {
  return existsSync(ledgerFolder) ? parseSegmentFileNames(nodeFileSystem.listFiles(ledgerFolder)) : [];
}

/**
 * Checks that no shard is missing that has served before: neither this one, whose folder may be lost, nor one after the last shard that is
 * started. Throws `DataMissingError`, or `ShardCountError` if too few shards are started.
 */
export function assertShardsComplete(
  keyFile: string,
  { files, inventory }: FolderEvidence,
  { number, count }: { readonly number: number; readonly count: number },
): void {
  const registered = listRegisteredShards(keyFile);
  assertShardCountAtLeast(dirname(keyFile), (registered.at(-1) ?? 0) + 1, count);
  if (!registered.includes(number) || inventory.ledger !== undefined || existsSync(files.ledgerFolder)) return;
  throw new FolderMissingError(files.ledgerFolder, `but shard ${number} has served before: ${ledgerRemedy}`);
}

/**
 * Checks that the ledger folder exists and that its first segments, and the archive, are not missing. Throws `DataMissingError` if another
 * file proves that more existed, because a rebuild of the analytics would lose the figures of the missing records.
 *
 * @param keepsStore whether the analytics store is kept, which has the figures of the archived days until the archive is written again
 */
export function assertLedgerStart(
  { files, inventory, store, archive }: FolderEvidence,
  { keepsStore = true }: { readonly keepsStore?: boolean } = {},
): void {
  const { ledgerFolder, analyticsStoreFile, archiveFolder } = files;
  const archivedPosition = inventory.ledger === undefined ? archive.ledgerStartPosition - 1 : 0;
  const lastPosition = Math.max(inventory.ledger?.position ?? 0, store?.position ?? 0, archivedPosition);
  if (!existsSync(ledgerFolder) && (lastPosition > 0 || existsSync(analyticsStoreFile))) {
    throw new FolderMissingError(
      ledgerFolder,
      `and ${analyticsStoreFile} may be the last copy of its figures: ${ledgerRemedy}`,
    );
  }
  const [first] = listLedgerSegments(files);
  if (first === undefined) {
    if (lastPosition === 0) return;
    throw new DataMissingError(ledgerFolder, `is empty, but had ${lastPosition} records: ${ledgerRemedy}`);
  }
  const hasArchivedFigures = keepsStore && store !== null && coversArchive(store, archive);
  const storeStart = hasArchivedFigures ? store.firstNeededSegment : 1;
  const start = Math.max(1, archive.ledgerStartPosition, inventory.ledger?.acceptedStart ?? 1, storeStart);
  if (first > start) {
    throw new DataMissingError(
      ledgerFolder,
      `starts with record ${first}, but the records from ${start} on are not in ${archiveFolder}: ${ledgerRemedy}`,
    );
  }
  const { sealed } = inventory;
  if (sealed === undefined) return;
  const { position, crc } = archive.end;
  if (position > sealed.position || (position === sealed.position && crc === sealed.crc)) return;
  // The next run of the retention writes an archive that is missing or empty again.
  if (position === 0 && hasArchivedFigures) return;
  const alternative = hasArchivedFigures
    ? `to write it again from ${analyticsStoreFile}, move it away`
    : `to continue without the missing figures, run ${acceptLedgerCommand}`;
  throw new DataMissingError(
    archiveFolder,
    `is not the archive with ${sealed.position} records of this data folder: put the folder back; ${alternative}`,
  );
}

/** Whether the store has the figures of all days that the archive has, or should have. */
function coversArchive({ firstRetainedDay }: StoreEvidence, archive: CounterArchive): boolean {
  return firstRetainedDay > 0 && firstRetainedDay >= archive.firstRetainedDay;
}

/**
 * Checks that the end of the ledger is not missing. Call this function after the ledger is opened, and before a record is appended.
 *
 * With durability `write`, a power cut can lose the last records. The log then has no end mark, and the service continues.
 */
export function assertLedgerEnd(
  { files, inventory, store }: FolderEvidence,
  ledger: Pick<FileEventLog<never>, 'lastAppendedPosition' | 'lastAppendedCrc' | 'hadEndMark'>,
  durability: DurabilityMode,
): void {
  const { position = 0, crc = null } = inventory.ledger ?? {};
  const { lastAppendedPosition: last } = ledger;
  const known = Math.max(position, store?.position ?? 0);
  const remedy = `put the current ledger back; to continue with this ledger, run ${acceptLedgerCommand}`;
  if (last < known && (durability === 'fsync' || ledger.hadEndMark)) {
    throw new DataMissingError(files.ledgerFolder, `ends with record ${last}, but had ${known} records: ${remedy}`);
  }
  if (last > 0 && last === position && crc !== null && crc !== ledger.lastAppendedCrc) {
    throw new DataMissingError(files.ledgerFolder, `is not the ledger of this data folder: ${remedy}`);
  }
}

/**
 * Throws `DataMissingError` if the ledger is empty, but the journal has pocket fields of sessions. Inventory, store and archive, which
 * otherwise prove that records are missing, can be lost together with the ledger.
 *
 * @param journal all logs of the journal; the first record of a log is its header
 */
export function assertLedgerOfJournal(
  { files: { ledgerFolder, journalFolder }, inventory }: FolderEvidence,
  { lastAppendedPosition }: Pick<FileEventLog<never>, 'lastAppendedPosition'>,
  journal: readonly Pick<JournalLogEnd, 'position'>[],
): void {
  if (lastAppendedPosition > 0 || inventory.ledger !== undefined || journal.every(({ position }) => position <= 1)) {
    return;
  }
  throw new DataMissingError(
    ledgerFolder,
    `is empty, but ${journalFolder} has pocket fields of sessions: ${ledgerRemedy}`,
  );
}

/** What a `LedgerWitness` remembers, in a snapshot. */
interface StoredWitness {
  /** Highest account number of each home shard. Snapshots of earlier releases have `highestAccount`, the number of shard 0. */
  readonly highestAccounts?: readonly number[];
  readonly highestAccount?: number;
  readonly highestKey: number;
  readonly hasUnits: boolean;
  /** Position of the first record that the numbers include. */
  readonly startPosition: number;
  /** Last sub_id in hex. */
  readonly sub: string | null;
}

/**
 * Remembers the highest account numbers and key number in the replayed and new ledger records, the last sub_id, and whether a session has a
 * unit.
 */
export class LedgerWitness implements LedgerSubscriber, SnapshotPart {
  readonly name = 'witness';
  /** Requests no replay of records by their time; other subscribers do. */
  readonly replayStartTimeMs = Number.POSITIVE_INFINITY;
  replayStartPosition: number;
  #startPosition: number;
  readonly accounts = new HighestAccounts();
  highestKey = 0;
  /** Whether a replayed session has the hash of a `unit_id`. */
  hasUnits = false;
  #lastSub: Buffer | null = null;

  /** @param knownPosition position of the last record that needs no replay */
  constructor(knownPosition = 0) {
    this.#startPosition = knownPosition + 1;
    this.replayStartPosition = this.#startPosition;
  }

  applyLedgerRecord(record: LedgerRecord): void {
    if (record[0] !== ledgerRecordKind.sessionCreated) return;
    this.accounts.add(readAccount(record[2]));
    this.highestKey = Math.max(this.highestKey, record[4]);
    this.#lastSub ??= Buffer.alloc(record[2].length);
    this.#lastSub.set(record[2]);
    if (record[9] !== undefined) this.hasUnits = true;
  }

  *capture(): Generator<CapturedPiece> {
    const { highestKey, hasUnits } = this;
    const highestAccounts = this.accounts.list();
    const startPosition = this.#startPosition;
    const sub = this.#lastSub?.toString('hex') ?? null;
    const text = JSON.stringify({ highestAccounts, highestKey, hasUnits, startPosition, sub } satisfies StoredWitness);
    yield { id: `${crc32(text)}`, chunks: () => [Buffer.from(text)] };
  }

  restore(pieces: Iterable<StoredPiece>): void {
    const [{ bytes }] = [...pieces] as [StoredPiece];
    const stored: StoredWitness = JSON.parse(bytes.toString());
    const { highestKey, hasUnits, startPosition, sub } = stored;
    if (startPosition > this.#startPosition) throw new OutdatedPartError('the inventory is older than the snapshot');
    this.#startPosition = startPosition;
    for (const account of stored.highestAccounts ?? [stored.highestAccount ?? 0]) this.accounts.add(account);
    Object.assign(this, { highestKey, hasUnits, replayStartPosition: Number.POSITIVE_INFINITY });
    this.#lastSub = sub === null ? null : Buffer.from(sub, 'hex');
  }

  /**
   * Checks that the secret file belongs to the ledger. A secret that the operator removed after a leak is no error, because its number is
   * lower than the numbers of all later secrets.
   */
  assertSecretsMatch(secrets: SecretSet, secretFile: string): void {
    const sub = this.#lastSub;
    if (sub === null) return;
    const number = readSecretNumber(sub);
    const isKnown = secrets.secretVersions.includes(number);
    if (isKnown ? new SubIds(secrets, new RandomBytesPool()).verify(formatSubId(sub)) : number < secrets.newest.number)
      return;
    const problem = isKnown ? `secret ${number} is another secret` : `secret ${number} is missing`;
    throw new SecretFileError(
      `${secretFile} does not belong to the ledger, because ${problem}; put the current files back (see SVC_SECRET_FILE)`,
    );
  }
}

/**
 * Returns the unit key of the secret file. Adds a key to the secret file of an earlier release. Throws `SecretFileError` if the secret file
 * has lost its key, because every returning visitor would count as a new visitor.
 *
 * @param onAdd called before a key is added; an error that it throws prevents this
 */
export function readOrAddUnitKey(
  { unitKey }: SecretSet,
  secretFile: string,
  { inventory }: FolderEvidence,
  { hasUnits }: Pick<LedgerWitness, 'hasUnits'>,
  onAdd: () => unknown,
): Buffer {
  if (unitKey !== null) return unitKey;
  if (inventory.hasUnitKey !== true && !hasUnits) return addUnitKey(secretFile, onAdd);
  throw new SecretFileError(
    `${secretFile} has lost its unit_key, with which the service hashes ids of visitors: put the current file back; to ` +
      `count every returning visitor as a new one, add ${unitKeyMember} to the file`,
  );
}

/** Throws `DataMissingError` if sessions are live, but the journal has no log. Every start of the service creates a log. */
export function assertJournalExists({ files: { journalFolder } }: FolderEvidence, liveSessions: number): void {
  if (liveSessions === 0) return;
  const details = `the pocket fields of ${liveSessions} live sessions: ${journalRemedy}`;
  if (!existsSync(journalFolder)) throw new FolderMissingError(journalFolder, `with ${details}`);
  if (nodeFileSystem.listFiles(journalFolder).some((name) => /^\d{16}$/.test(name))) return;
  throw new DataMissingError(journalFolder, `is empty, without ${details}`);
}

const journalRemedy = `put the folder back, or accept that these sessions must submit their inputs again, by ${acceptJournalCommand}`;

/**
 * Throws `DataMissingError` if a log of the journal is missing or shorter than in the inventory, and has pocket fields of sessions that may
 * be live.
 *
 * @param stored all logs that the journal has read
 */
export function assertJournalComplete(
  { files: { journalFolder }, inventory }: FolderEvidence,
  stored: readonly Omit<JournalLogEnd, 'lastWallMs'>[],
  { oldestLiveMs, durability }: { readonly oldestLiveMs: number; readonly durability: DurabilityMode },
): void {
  for (const { name, position, lastWallMs } of inventory.journal ?? []) {
    if (lastWallMs <= oldestLiveMs) continue;
    const log = stored.find((each) => each.name === name);
    // With durability `write`, a power cut can lose the last batches of a log.
    if (log !== undefined && (log.position >= position || durability === 'write')) continue;
    const problem = log === undefined ? `part ${name} is missing` : `the end of part ${name} is missing`;
    throw new DataMissingError(journalFolder, `is not complete, ${problem}: ${journalRemedy}`);
  }
}

/**
 * Returns the position of the last ledger record whose account and key the inventory or the store knows. Later records must be read, because
 * inventory and store may have been replaced together with the key file.
 */
export function findKnownNumbersPosition({ inventory, store }: FolderEvidence): number {
  return (inventory.keys === undefined ? store?.position : inventory.ledger?.position) ?? 0;
}

interface KnownNumbersOptions {
  /**
   * Part of the ledger that is read although the inventory or the store has the numbers: nothing, the records after
   * `findKnownNumbersPosition`, or all records. Without an inventory and a store, all records are always read.
   */
  readonly ledger: 'none' | 'unknown' | 'all';
  readonly onBytesRead?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/** Finds the highest numbers of accounts and keys that were used. */
export async function findKnownKeyNumbers(
  evidence: FolderEvidence,
  { ledger, ...options }: KnownNumbersOptions,
): Promise<KeyFileNumbers> {
  const { files, inventory, store, archive } = evidence;
  const { keys } = inventory;
  const accounts = new HighestAccounts([...(keys?.accounts ?? []), ...(store?.highestAccounts ?? [])]);
  let key = keys?.key ?? 0;
  const knownPosition = ledger === 'all' ? 0 : findKnownNumbersPosition(evidence);
  if (existsSync(files.ledgerFolder) && (ledger !== 'none' || (keys === undefined && store === null))) {
    const witness = new LedgerWitness();
    const onRecord = (_position: number, value: readonly unknown[]): void => {
      const record = parseLedgerRecord(value);
      if (record !== null) witness.applyLedgerRecord(record);
    };
    const fromSegment = listLedgerSegments(files).findLast((first) => first <= knownPosition + 1) ?? 1;
    await verifyLog(nodeFileSystem, files.ledgerFolder, { onRecord, fromSegment, ...options });
    for (const account of witness.accounts.list()) accounts.add(account);
    key = Math.max(key, witness.highestKey);
  }
  if (ledger === 'all' || store === null || !coversArchive(store, archive)) {
    for (const account of archive.readAccounts()) accounts.add(account);
  }
  return { accounts: accounts.list(), key, change: keys?.change ?? 0, knownKeys: keys?.knownKeys ?? [] };
}

/**
 * As `findKnownKeyNumbers`, for the folders of all shards of a data folder.
 *
 * @param options `readonly` must be true if another process may use the folders
 */
export async function findKnownNumbersOfShards(
  rootDir: string,
  { readonly, ...options }: KnownNumbersOptions & { readonly readonly: boolean },
): Promise<KeyFileNumbers> {
  const found: KeyFileNumbers[] = [];
  for (const dataDir of listShardFolders(rootDir)) {
    const evidence = readFolderEvidence(dataDir, { readonly });
    found.push(await findKnownKeyNumbers(evidence, options));
  }
  return {
    accounts: new HighestAccounts(found.flatMap(({ accounts }) => accounts)).list(),
    key: Math.max(...found.map(({ key }) => key)),
    change: Math.max(...found.map(({ change }) => change)),
    knownKeys: found.flatMap(({ knownKeys }) => knownKeys),
  };
}

/**
 * Throws `DataMissingError` if the key file is missing, older than the data folder, or from another data folder. An account number or key
 * number that the ledger knows would otherwise be assigned again, and revoked keys would be valid again.
 *
 * @param path path of the key file, which may be missing
 */
export function assertKeyFileIsCurrent(
  path: string,
  known: AssignedNumbers & Partial<Pick<KeyFileNumbers, 'knownKeys'>>,
): void {
  const remedy = `put the current file back; to continue without the lost keys, run ${acceptKeysCommand}`;
  const isNew = known.accounts.length === 0 && known.key === 0 && known.change === 0;
  if (!existsSync(path)) {
    if (isNew) return;
    throw new DataMissingError(
      path,
      `is missing, but the ledger has accounts up to number ${formatAccounts(known)}: ${remedy}`,
    );
  }
  if (isNew) return;
  if (!hasKnownKeys(path, known.knownKeys ?? [])) {
    throw new DataMissingError(
      path,
      'is not the key file of this data folder, whose accounts have the same numbers: put the current file back; to ' +
        `continue without keys, move this file away and run ${acceptKeysCommand}`,
    );
  }
  const stored = readKeyFileNumbers(path);
  if (!isOlderKeyFile(stored, known)) return;
  throw new DataMissingError(
    path,
    `is older than the data folder (accounts up to ${formatAccounts(stored)}, keys up to ${stored.key}, ${stored.change} changes; ` +
      `the data folder has accounts up to ${formatAccounts(known)}, keys up to ${known.key}, ${known.change} changes): ${remedy}`,
  );
}

type AssignedNumbers = Omit<KeyFileNumbers, 'knownKeys'>;

/** Whether a key file has not assigned all known numbers. */
export function isOlderKeyFile(stored: AssignedNumbers, known: AssignedNumbers): boolean {
  const accounts = new HighestAccounts(stored.accounts);
  return (
    !known.accounts.every((account) => accounts.includes(account)) ||
    stored.key < known.key ||
    stored.change < known.change
  );
}

/** Formats the highest account number of each shard for messages. */
export function formatAccounts({ accounts }: Pick<KeyFileNumbers, 'accounts'>): string {
  return accounts.length === 0 ? '0' : accounts.join(', ');
}
