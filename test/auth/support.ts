import type { TestContext } from 'node:test';
import type { RecordChange } from '../../src/audit/audit-log.ts';
import type { ApiKeyScope } from '../../src/auth/api-key.ts';
import { Authenticator } from '../../src/auth/authenticator.ts';
import { EmbedOriginRegistry } from '../../src/auth/embed-origin-registry.ts';
import { keyFilePath, registerShard } from '../../src/auth/key-file.ts';
import { KeyRegistry } from '../../src/auth/key-registry.ts';
import { defaultLimitOverrides, type KeyLimitOverrides, type KeyLimits } from '../../src/auth/rate-limits.ts';
import { SqliteKeyDirectory } from '../../src/auth/sqlite-key-directory.ts';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The time of a new `ManualClock`. */
export const noonMs = new ManualClock().wallMs();

/** Records nothing, for tests without an audit log. */
export const unrecorded: RecordChange = () => 0;

export interface KeyOptions {
  readonly account?: string;
  readonly vertical?: Pick<Vertical, 'segment' | 'number' | 'keyPrefix'>;
  readonly mode?: ApiKeyMode;
  readonly scope?: ApiKeyScope;
  readonly expiresAtMs?: number | null;
  readonly limits?: Partial<KeyLimitOverrides>;
}

/** Changes keys through a separate connection, as another process would. */
function changeKeys<Result>(folder: string, change: (registry: KeyRegistry) => Result): Result {
  const registry = new KeyRegistry(keyFilePath(folder));
  try {
    return change(registry);
  } finally {
    registry.close();
  }
}

export function issueKey(folder: string, options: KeyOptions = {}, nowMs = noonMs) {
  const { account = 'acme', vertical = personalLoans, mode = 'live', scope = 'full', expiresAtMs = null } = options;
  const limits = { ...defaultLimitOverrides, ...options.limits };
  return changeKeys(folder, (registry) =>
    registry.create({ accountName: account, vertical, mode, scope, expiresAtMs, limits }, nowMs, unrecorded),
  );
}

export function revokeKey(folder: string, id: string, nowMs = noonMs) {
  return changeKeys(folder, (registry) => registry.revokeKey(id, nowMs, unrecorded));
}

/** Changes embed origins through a separate connection, as another process would. */
export function changeOrigins(folder: string, change: (registry: EmbedOriginRegistry) => unknown): void {
  const registry = new EmbedOriginRegistry(keyFilePath(folder));
  try {
    change(registry);
  } finally {
    registry.close();
  }
}

/** Opens a directory until the end of the test. A read error fails the test unless `onReadError` is given. */
export function openDirectory(
  t: TestContext,
  folder: string,
  options: Partial<ConstructorParameters<typeof SqliteKeyDirectory>[0]> = {},
): SqliteKeyDirectory {
  const onReadError = (error: unknown) => {
    throw error;
  };
  const path = keyFilePath(folder);
  const directory = new SqliteKeyDirectory({
    path,
    clock: new ManualClock(),
    onReadError,
    onRecovered: () => {},
    ...options,
  });
  t.after(() => directory.close());
  return directory;
}

const contractLimits: KeyLimits = { requestsPerMinute: 500, analyticsPerMinute: 50, sessionsPerDay: 10_000 };

/** Opens an authenticator on a new data folder. Only the clock is simulated. */
export function openAuth(t: TestContext, { clock = new ManualClock(), defaultLimits = contractLimits } = {}) {
  const folder = temporaryFolder(t);
  const keyDirectory = openDirectory(t, folder, { clock });
  return {
    folder,
    clock,
    keyDirectory,
    authenticator: new Authenticator({ keyDirectory, clock, defaultLimits }),
  };
}

/** Registers the shards 0 to `count - 1` in the key file, as their starts do. */
export function registerShards(path: string, count: number): void {
  for (let shard = 0; shard < count; shard++) registerShard(path, shard);
}
