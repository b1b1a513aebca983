import type { ApiKey } from '../auth/api-key.ts';
import { Authenticator } from '../auth/authenticator.ts';
import { OperatorConsole, PartnerConsole } from '../auth/console-access.ts';
import { ConsoleLoginFile, consoleLoginPath } from '../auth/console-login-file.ts';
import { ConsoleLogins } from '../auth/console-logins.ts';
import { EmbedOriginRegistry } from '../auth/embed-origin-registry.ts';
import { FailedLogins } from '../auth/failed-logins.ts';
import { keyFilePath } from '../auth/key-file.ts';
import { KeyRegistry } from '../auth/key-registry.ts';
import { KeyUseWriter, keyUsePath, readKeyUses } from '../auth/key-use-file.ts';
import { OperatorToken, operatorTokenPath } from '../auth/operator-token.ts';
import { SqliteKeyDirectory } from '../auth/sqlite-key-directory.ts';
import { bounds } from '../bounds.ts';
import type { CatalogSource } from '../catalogs/parse-catalog.ts';
import type { VerticalRegistry } from '../catalogs/vertical-registry.ts';
import { describeError } from '../logging/describe-error.ts';
import type { Metrics } from '../metrics/metrics.ts';
import {
  assertKeyFileIsCurrent,
  assertShardsComplete,
  type FolderEvidence,
  findKnownKeyNumbers,
} from './check-data-folder.ts';
import type { CleanupStack } from './lifecycle.ts';
import { type ServiceOptions, sharedDir } from './service.ts';

/**
 * Opens the key file, which only the key registry and the origin registry write. Requests are authenticated with keys in memory. Throws
 * `DataMissingError` if the key file is missing or older than the data folder.
 */
export async function createAuthenticator(
  options: ServiceOptions,
  cleanup: CleanupStack,
  metrics: Metrics,
  evidence: FolderEvidence,
) {
  const { clock, logger, limits } = options;
  const path = keyFilePath(sharedDir(options));
  assertKeyFileIsCurrent(path, await findKnownKeyNumbers(evidence, { ledger: 'none' }));
  assertShardsComplete(path, evidence, options.shard ?? { number: 0, count: 1 });
  const keyDirectory = new SqliteKeyDirectory({
    path,
    clock,
    onReadError: (error) =>
      logger.error({ err: describeError(error) }, 'key file unreadable; using the last loaded keys'),
    onRecovered: () => logger.info('key file readable again'),
    onKeyLoaded: createExampleCatalogWarning(options, cleanup),
  });
  cleanup.addCleanupCallback(() => keyDirectory.close());
  // Key changes by this process take effect immediately, and key changes by other processes at the next poll.
  const writerOptions = { waitMs: bounds.apiKeyServerLockTimeoutMs, onChanged: () => keyDirectory.reloadKeyFile() };
  const keys = new KeyRegistry(path, writerOptions);
  cleanup.addCleanupCallback(() => keys.close());
  const embedOrigins = new EmbedOriginRegistry(path, writerOptions);
  cleanup.addCleanupCallback(() => embedOrigins.close());
  const authenticator = new Authenticator({
    keyDirectory,
    clock,
    defaultLimits: limits,
    onRejected: metrics.countAuthRefusal,
  });
  restoreAndSaveKeyUses(options, cleanup, authenticator);
  return { authenticator, keyDirectory, keys, embedOrigins, readKeyNumbers: () => keys.readNumbers() };
}

/** Restores the times of the last uses of keys from their file, and keeps the file up to date until the service closes. */
function restoreAndSaveKeyUses(
  { dataDir, logger }: ServiceOptions,
  cleanup: CleanupStack,
  authenticator: Authenticator,
): void {
  const path = keyUsePath(dataDir);
  const { uses, problem } = readKeyUses(path);
  if (uses !== null) authenticator.restoreKeyUses(uses);
  if (problem !== null) logger.warn({ problem }, 'saved times of last key uses cannot be used; starting without them');
  const writer = new KeyUseWriter({
    path,
    latestUseMs: () => authenticator.latestUseMs,
    readUses: () => authenticator.readKeyUses(),
    onError: (error) => logger.warn({ err: describeError(error) }, 'times of last key uses could not be saved'),
  });
  cleanup.addCleanupCallback(() => writer.close());
}

/** Reads the operator token, or creates it. Throws `SecretFileError` if its file cannot be used. */
export function openOperatorToken(options: ServiceOptions, onCreate: () => unknown): OperatorToken {
  const { clock, logger } = options;
  return new OperatorToken({
    path: operatorTokenPath(sharedDir(options)),
    clock,
    onCreate,
    onUnusable: (problem) =>
      logger.error({ problem }, 'operator token unusable; operators are refused until its file is restored'),
    onReloaded: () => logger.info('operator token reloaded'),
  });
}

/** Opens the logins at both consoles. */
export function openConsoleAccess(
  { dataDir, clock, logger, registry }: ServiceOptions,
  cleanup: CleanupStack,
  keyDirectory: SqliteKeyDirectory,
  token: OperatorToken,
) {
  const file = new ConsoleLoginFile({
    path: consoleLoginPath(dataDir),
    onReadError: (error) =>
      logger.warn({ err: describeError(error) }, 'console logins unreadable; starting without them'),
    onWriteError: (error) => logger.warn({ err: describeError(error) }, 'console logins could not be saved'),
  });
  cleanup.addCleanupCallback(() => file.close());
  const logins = new ConsoleLogins(clock, file);
  return {
    partner: new PartnerConsole(keyDirectory, logins, clock, registry.verticals),
    operator: new OperatorConsole(token, logins),
    failedLogins: new FailedLogins(clock),
  };
}

/**
 * Returns a function that logs a warning if a live key is served by an example catalog, whose offers are made up: once for each vertical,
 * and in one line for all keys that are loaded in one turn of the event loop.
 */
function createExampleCatalogWarning(
  { catalogs, registry, clock, logger }: ServiceOptions,
  cleanup: CleanupStack,
): (key: ApiKey) => void {
  const unwarned = new Set(
    catalogs
      .filter((source) => source.mode === 'live' && isExampleCatalog(source, registry))
      .map(({ vertical }) => vertical.segment),
  );
  let verticals: string[] = [];
  let turn: NodeJS.Immediate | undefined;
  cleanup.addCleanupCallback(() => clearImmediate(turn));
  return ({ mode, vertical, expiresAtMs }) => {
    if (mode !== 'live' || expiresAtMs <= clock.wallMs() || !unwarned.delete(vertical)) return;
    verticals.push(vertical);
    if (verticals.length > 1) return;
    turn = setImmediate(() => {
      logger.warn({ verticals }, 'live API keys are served by example catalogs with made-up offers; set SVC_CATALOG');
      verticals = [];
    });
  };
}

function isExampleCatalog(source: CatalogSource, registry: VerticalRegistry): boolean {
  return 'file' in source && source.file === registry.exampleCatalogFile(source.vertical);
}
