import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { writeFileDurably, writeFileDurablyInBackground } from './durable-files.ts';

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const KeyFileNumbersSchema = Type.Object({
  /** Highest account number of each shard that has accounts. */
  accounts: Type.Array(count),
  key: count,
  /** Number of the last change of a key or of the allowed origins. */
  change: count,
  /** Numbers and IDs of the first and the newest key, which identify the key file. */
  knownKeys: Type.Array(Type.Tuple([count, Type.String()])),
});
/** Highest numbers that a key file has assigned. The numbers of a key file never decrease. */
export type KeyFileNumbers = Readonly<Static<typeof KeyFileNumbersSchema>>;

const LogEndSchema = Type.Object({ position: count, crc: count });
/** End of a log: position and CRC of its last record. */
export type LogEnd = Readonly<Static<typeof LogEndSchema>>;

const JournalLogEndSchema = Type.Object({ name: Type.String(), position: count, lastWallMs: count });
/** Log of the journal, with the position and the time (Unix milliseconds) of its last batch of field changes. */
export type JournalLogEnd = Readonly<Static<typeof JournalLogEndSchema>>;

const AuditLogEndSchema = Type.Object({
  number: count,
  hash: Type.String(),
  /** Hash of the first entry, which identifies the log. Absent while a loss is accepted. */
  firstHash: Type.Optional(Type.String()),
});
/** Last entry of the audit log. */
export type AuditLogEnd = Readonly<Static<typeof AuditLogEndSchema>>;

const DataInventorySchema = Type.Object({
  /**
   * `crc` is null if the CRC of the record at `position` is unknown. If `acceptedStart` is present, an operator has accepted that the ledger
   * records before this position are missing.
   */
  ledger: Type.Optional(
    Type.Object({ position: count, crc: Type.Union([count, Type.Null()]), acceptedStart: Type.Optional(count) }),
  ),
  sealed: Type.Optional(LogEndSchema),
  journal: Type.Optional(Type.Array(JournalLogEndSchema)),
  keys: Type.Optional(KeyFileNumbersSchema),
  /** Inventories of earlier releases do not have this member. */
  audit: Type.Optional(AuditLogEndSchema),
  /** Present if the secret file has a unit key. Inventories of earlier releases do not have this member. */
  hasUnitKey: Type.Optional(Type.Literal(true)),
  /** Present if the data folder was created with a test clock; see `readTestClockDays`. */
  testClock: Type.Optional(
    Type.Object({ advancedDays: Type.Integer({ minimum: 0, maximum: bounds.testClockDaysMax }) }),
  ),
});
/**
 * What the data folder contained when the service last wrote the inventory. A start compares the inventory with the files, so that the
 * service does not continue with a file that is missing or was replaced by an older copy. The files may contain more than the inventory. A
 * part is absent if it is unknown.
 */
export type DataInventory = Readonly<Static<typeof DataInventorySchema>>;

const inventoryValidator = Compile(DataInventorySchema);

/** Replaces the highest account number in an inventory of an earlier release, which had no shards, by the list of this release. */
function readAccountOfEarlierRelease(inventory: unknown): void {
  const { keys } = (inventory ?? {}) as { keys?: { account?: unknown; accounts?: unknown } };
  if (typeof keys?.account === 'number' && keys.accounts === undefined) keys.accounts = [keys.account];
}

function dataInventoryPath(dataDir: string): string {
  return join(dataDir, 'inventory.json');
}

/**
 * Reads the inventory. Returns an empty inventory if the file is missing or damaged. `problem` is null unless the file is damaged.
 * `hasTestClock` is null if the file does not prove whether the data folder has a test clock; a damaged file may still prove it.
 */
export function readDataInventory(dataDir: string): {
  readonly inventory: DataInventory;
  readonly problem: string | null;
  readonly hasTestClock: boolean | null;
} {
  let text = '';
  let inventory: unknown;
  let problem: string | null = 'unexpected members';
  try {
    text = readFileSync(dataInventoryPath(dataDir), 'utf8');
    inventory = JSON.parse(text);
    readAccountOfEarlierRelease(inventory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    problem = code === 'ENOENT' ? null : (code ?? 'not JSON');
  }
  if (!inventoryValidator.Check(inventory)) {
    return { inventory: {}, problem, hasTestClock: text.includes('"testClock"') || null };
  }
  return { inventory, problem: null, hasTestClock: inventory.testClock !== undefined };
}

type Inventory = Omit<DataInventory, 'testClock'> & { readonly testClock?: DataInventory['testClock'] | undefined };

/**
 * Writes the inventory durably. The caller must have locked the data folder, or create a new one. Throws a system error.
 *
 * @param testClockDays as `readTestClockDays` returns it. Replaces `inventory.testClock`, which may be from an older or damaged file
 */
export function writeDataInventory(dataDir: string, inventory: DataInventory, testClockDays: number | null): void {
  const testClock = testClockDays === null ? undefined : { advancedDays: testClockDays };
  writeFileDurably(dataInventoryPath(dataDir), encodeInventory({ ...inventory, testClock }));
}

/** Writes the inventory of a running service durably, and does not block the event loop. */
export function writeDataInventoryInBackground(dataDir: string, inventory: DataInventory): Promise<void> {
  return writeFileDurablyInBackground(dataInventoryPath(dataDir), encodeInventory(inventory));
}

/** Encodes the mark of a test clock first, so that a truncated file still has the mark. */
function encodeInventory({ testClock, ...others }: Inventory): string {
  return `${JSON.stringify({ testClock, ...others }, null, 2)}\n`;
}
