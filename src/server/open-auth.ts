import { Authenticator } from '../auth/authenticator.ts';
import { EmbedOriginRegistry } from '../auth/embed-origin-registry.ts';
import { keyFilePath } from '../auth/key-file.ts';
import { KeyRegistry } from '../auth/key-registry.ts';
import { SqliteKeyDirectory } from '../auth/sqlite-key-directory.ts';
import { bounds } from '../bounds.ts';
import type { CallerIds } from '../http/engines/listener.ts';
import { describeError } from '../logging/describe-error.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Service, ServiceOptions } from './service.ts';
import type { CleanupStack } from './shutdown.ts';

/** Who may ask, how much, and from where: keys and origins on disk, looked up in memory. */
export function openAuth({ dataDir, clock, logger, limits }: ServiceOptions, closers: CleanupStack, metrics: Metrics) {
  const path = keyFilePath(dataDir);
  const register = KeyRegistry.open(path, bounds.apiKeyServerLockTimeoutMs);
  closers.defer(() => register.close());
  const originRegister = EmbedOriginRegistry.open(path, bounds.apiKeyServerLockTimeoutMs);
  closers.defer(() => originRegister.close());
  const keyDirectory = new SqliteKeyDirectory({
    path,
    clock,
    onReadError: (fault) =>
      logger.error({ fault: describeError(fault) }, 'key file cannot be read; using what was read before'),
    onRecovered: () => logger.info('key file can be read again'),
  });
  closers.defer(() => keyDirectory.close());
  // What this process changes itself holds at once; what others change, as soon as the directory looks.
  const refreshed = <Result>(result: Result): Result => {
    keyDirectory.refresh();
    return result;
  };
  const keys: Service['keys'] = {
    create: (wanted, nowMs) => refreshed(register.create(wanted, nowMs)),
    find: (id) => register.find(id),
    list: () => register.list(),
    revoke: (id, nowMs) => refreshed(register.revoke(id, nowMs)),
  };
  const originLists: Service['embedOrigins'] = {
    allow: (accountName, origins) => refreshed(originRegister.allow(accountName, origins)),
    list: (accountName) => originRegister.list(accountName),
    remove: (accountName, origins) => refreshed(originRegister.remove(accountName, origins)),
  };
  const gatekeeper = new Authenticator({
    keyDirectory,
    clock,
    defaultLimits: limits,
    onRejected: metrics.countAuthRefusal,
  });
  return {
    gatekeeper,
    keys,
    keysKnown: () => keyDirectory.size,
    namesOf: (caller: CallerIds) => keyDirectory.callerNames(caller),
    origins: keyDirectory.origins,
    originLists,
  };
}
