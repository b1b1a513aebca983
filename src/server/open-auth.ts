import { Authenticator } from '../auth/authenticator.ts';
import { EmbedOriginRegistry } from '../auth/embed-origin-registry.ts';
import { keyFilePath } from '../auth/key-file.ts';
import { KeyRegistry } from '../auth/key-registry.ts';
import { SqliteKeyDirectory } from '../auth/sqlite-key-directory.ts';
import { bounds } from '../bounds.ts';
import { describeError } from '../logging/describe-error.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { assertKeyFileIsCurrent, type FolderEvidence, findKnownKeyNumbers } from './check-data-folder.ts';
import type { CleanupStack } from './lifecycle.ts';
import type { Service, ServiceOptions } from './service.ts';

/**
 * Opens the key file, which only the key registry and the origin registry write. Requests are authenticated with keys in memory. Throws
 * `DataMissingError` if the key file is missing or older than the data folder.
 */
export async function createAuthenticator(
  { dataDir, clock, logger, limits }: ServiceOptions,
  cleanup: CleanupStack,
  metrics: Metrics,
  evidence: FolderEvidence,
) {
  const path = keyFilePath(dataDir);
  assertKeyFileIsCurrent(path, await findKnownKeyNumbers(evidence));
  const keyRegistry = KeyRegistry.open(path, bounds.apiKeyServerLockTimeoutMs);
  cleanup.addCleanupCallback(() => keyRegistry.close());
  const originRegistry = EmbedOriginRegistry.open(path, bounds.apiKeyServerLockTimeoutMs);
  cleanup.addCleanupCallback(() => originRegistry.close());
  const keyDirectory = new SqliteKeyDirectory({
    path,
    clock,
    onReadError: (error) =>
      logger.error({ err: describeError(error) }, 'key file unreadable; using the last loaded keys'),
    onRecovered: () => logger.info('key file readable again'),
  });
  cleanup.addCleanupCallback(() => keyDirectory.close());
  // Key changes by this process take effect immediately, and key changes by other processes at the next poll.
  const andRefresh = <Result>(result: Result): Result => {
    keyDirectory.reloadKeyFile();
    return result;
  };
  const keys: Service['keys'] = {
    create: (request, nowMs) => andRefresh(keyRegistry.create(request, nowMs)),
    find: (id) => keyRegistry.find(id),
    listKeys: () => keyRegistry.listKeys(),
    revokeKey: (id, nowMs) => andRefresh(keyRegistry.revokeKey(id, nowMs)),
  };
  const embedOrigins: Service['embedOrigins'] = {
    allowOrigins: (accountName, origins) => andRefresh(originRegistry.allowOrigins(accountName, origins)),
    listOrigins: (accountName) => originRegistry.listOrigins(accountName),
    removeOrigins: (accountName, origins) => andRefresh(originRegistry.removeOrigins(accountName, origins)),
  };
  const authenticator = new Authenticator({
    keyDirectory,
    clock,
    defaultLimits: limits,
    onRejected: metrics.countAuthRefusal,
  });
  return { authenticator, keyDirectory, keys, embedOrigins, readKeyNumbers: () => keyRegistry.readNumbers() };
}
