import { EmbedOriginRegister } from '../access/embed-origin-register.ts';
import { Gatekeeper } from '../access/gatekeeper.ts';
import { keyFilePath } from '../access/key-file.ts';
import { KeyRegister } from '../access/key-register.ts';
import { SqliteKeyDirectory } from '../access/sqlite-key-directory.ts';
import { bounds } from '../bounds.ts';
import type { Closers } from '../closers.ts';
import type { AskedBy } from '../http/listener.ts';
import { describeFault } from '../logs/describe-fault.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Service, ServiceOptions } from './service.ts';

/** Who may ask, how much, and from where: keys and origins on disk, looked up in memory. */
export function openAccess({ dataDir, clock, logger, limits }: ServiceOptions, closers: Closers, metrics: Metrics) {
  const path = keyFilePath(dataDir);
  const register = KeyRegister.open(path, bounds.keyServeWaitMs);
  closers.add(() => register.close());
  const originRegister = EmbedOriginRegister.open(path, bounds.keyServeWaitMs);
  closers.add(() => originRegister.close());
  const directory = new SqliteKeyDirectory({
    path,
    clock,
    onFault: (fault) =>
      logger.error({ fault: describeFault(fault) }, 'key file cannot be read; using what was read before'),
    onRecovered: () => logger.info('key file can be read again'),
  });
  closers.add(() => directory.close());
  // What this process changes itself holds at once; what others change, as soon as the directory looks.
  const refreshed = <Result>(result: Result): Result => {
    directory.refresh();
    return result;
  };
  const keys: Service['keys'] = {
    create: (wanted, nowMs) => refreshed(register.create(wanted, nowMs)),
    find: (id) => register.find(id),
    list: () => register.list(),
    revoke: (id, nowMs) => refreshed(register.revoke(id, nowMs)),
  };
  const originLists: Service['originLists'] = {
    allow: (accountName, origins) => refreshed(originRegister.allow(accountName, origins)),
    list: (accountName) => originRegister.list(accountName),
    remove: (accountName, origins) => refreshed(originRegister.remove(accountName, origins)),
  };
  const gatekeeper = new Gatekeeper({ directory, clock, defaultLimits: limits, onRefused: metrics.gateRefused });
  return {
    gatekeeper,
    keys,
    keysKnown: () => directory.size,
    namesOf: (caller: AskedBy) => directory.namesOf(caller),
    origins: directory.origins,
    originLists,
  };
}
