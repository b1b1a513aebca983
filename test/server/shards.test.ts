import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { pino } from 'pino';
import { resolveSettings } from '../../src/config/service-settings.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { shardDataDir } from '../../src/files/data-paths.ts';
import { startService } from '../../src/server/start-service.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('shards of a data folder share keys, secrets and audit log, and have all other files of their own', async (t) => {
  const rootDir = temporaryFolder(t);
  for (const number of [0, 1]) {
    const dataDir = shardDataDir(rootDir, number);
    const service = await startService({
      ...resolveSettings({ dataDir, urls: { click: 'https://go.example' } }),
      secretFile: `${rootDir}/secrets.json`,
      shard: { number, count: 2, rootDir },
      registry: builtInVerticals,
      catalogs: builtInVerticals.listExampleCatalogs(),
      clock: systemClock,
      logger: pino({ level: 'silent' }),
    });
    runAfterTest(t, () => service.close());
  }
  const filesOf = (shard: number) =>
    readdirSync(shardDataDir(rootDir, shard)).filter((name) => !/-(wal|shm|journal)$|\.new$/.test(name));
  const shared = ['audit.sqlite', 'keys.sqlite', 'secrets.json', 'shards', 'shared.sqlite'];
  assert.deepEqual(
    filesOf(1).filter((name) => shared.includes(name)),
    [],
  );
  assert.deepEqual(filesOf(0), [...filesOf(1), ...shared].sort());
});
