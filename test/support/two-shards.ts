import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { serviceActor } from '../../src/audit/audit-log.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { resolveSettings } from '../../src/config/service-settings.ts';
import { shardDataDir, shardOperationsSocketPath } from '../../src/files/data-paths.ts';
import type { Marketplace, MarketplaceOptions } from '../../src/index.ts';
import type { Service } from '../../src/server/service.ts';
import { startService } from '../../src/server/start-service.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

/**
 * Starts two shards of which shard 0 has all accounts. The result has the operations of shard 0 and the public port of shard 1, so that
 * shard 1 forwards every public request of an account. Has only the members that tests of HTTP use.
 */
export async function startTwoShards(options: MarketplaceOptions): Promise<Marketplace> {
  const connected = Promise.withResolvers<void>();
  const start = (number: number): Promise<Service> =>
    startService({
      ...resolveSettings({ ...options, dataDir: shardDataDir(options.dataDir, number) }),
      secretFile: `${options.dataDir}/secrets.json`,
      shard: { number, count: 2, rootDir: options.dataDir },
      registry: builtInVerticals,
      catalogs: options.catalogs!,
      clock: options.clock!,
      logger: pino(
        { level: 'info' },
        { write: (line: string) => line.includes('connected to another') && number === 1 && connected.resolve() },
      ),
    });
  const owner = await start(0);
  const arrival = await start(1);
  await connected.promise;
  // Without its row, shard 1 gets no new account.
  const keyFile = new Database(keyFilePath(options.dataDir));
  keyFile.exec('DELETE FROM shards WHERE number = 1');
  keyFile.close();
  // The operations listener of a shard is a Unix socket.
  const operations = createServer((socket) => {
    const shard = connect({ path: shardOperationsSocketPath(options.dataDir, 0) });
    for (const end of [socket, shard]) end.on('error', () => socket.destroy());
    socket.pipe(shard).pipe(socket);
  });
  await once(operations.listen(0, '127.0.0.1'), 'listening');
  const recordChange = owner.audit.recorderOf(serviceActor);
  const findVertical = (segment: string) => owner.verticals.find((vertical) => vertical.segment === segment)!;
  const members: Partial<Marketplace> = {
    keys: {
      create: ({ account, vertical, mode, scope = 'full', expiresAt, limits }) => {
        const noLimits = { requestsPerMinute: null, analyticsPerMinute: null, sessionsPerDay: null };
        const newKey = {
          accountName: account,
          vertical: findVertical(vertical),
          mode,
          scope,
          expiresAtMs: expiresAt?.getTime() ?? null,
          limits: { ...noLimits, ...limits },
        };
        const { key, issued } = owner.keys.create(newKey, options.clock!.wallMs(), recordChange);
        if (issued.account >= 0x1_0000) throw new Error('the account does not belong to shard 0');
        return { key, id: issued.id };
      },
      list: () => owner.keys.listKeys(),
      revoke: (id) => owner.keys.revokeKey(id, options.clock!.wallMs(), recordChange),
    },
    origins: {
      allow: (account, origin) => owner.embedOrigins.allowOrigins(account, [origin], recordChange)[0]!,
      remove: (account, origin) => owner.embedOrigins.removeOrigins(account, [origin], recordChange)[0]!,
      list: (account) => owner.embedOrigins.listOrigins(account),
    },
    reloadCatalogs: async () => {
      await arrival.reloadCatalogs();
      return owner.reloadCatalogs();
    },
    urls: owner.urls,
    ports: { public: arrival.ports!.public, operations: (operations.address() as AddressInfo).port },
    close: async () => {
      operations.close();
      await Promise.all([owner.close(), arrival.close()]);
    },
  };
  return members as Marketplace;
}
