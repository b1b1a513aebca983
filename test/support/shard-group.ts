import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { bounds } from '../../src/bounds.ts';
import type { CatalogSource } from '../../src/catalogs/parse-catalog.ts';
import { resolveSettings } from '../../src/config/service-settings.ts';
import { shardDataDir } from '../../src/files/data-paths.ts';
import type { Service } from '../../src/server/service.ts';
import { startService } from '../../src/server/start-service.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { ApiCaller } from './api-caller.ts';
import { HttpClient } from './http-client.ts';
import { ManualClock } from './manual-clock.ts';
import './patient-deadlines.ts';
import { runAfterTest } from './run-after-test.ts';
import type { ApiKeyOptions, Engine } from './running-marketplace.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { allFixtures, personalLoansFixture } from './vertical-fixtures.ts';

/** Log lines of a shard, as parsed JSON. */
export type LogLine = Readonly<Record<string, unknown>>;

/** A shard of a data folder, with real sockets. */
export interface RunningShard {
  readonly service: Service;
  readonly http: HttpClient;
  readonly log: readonly LogLine[];
}

/** Several services that divide the accounts of one data folder, all in this process and with one clock. */
export class ShardGroup {
  readonly clock = new ManualClock();
  readonly rootDir: string;
  readonly #count: number;
  readonly #engine: Engine;
  readonly #shards: (RunningShard | undefined)[] = [];
  #accounts = 0;

  private constructor(rootDir: string, count: number, engine: Engine) {
    this.rootDir = rootDir;
    this.#count = count;
    this.#engine = engine;
  }

  static async start(
    t: TestContext,
    count: number,
    engine: Engine = 'uws',
    rootDir = temporaryFolder(t),
  ): Promise<ShardGroup> {
    const group = new ShardGroup(rootDir, count, engine);
    runAfterTest(t, () => group.close());
    try {
      // Shard 0 creates the files that the others share. Shards that have served before may wait for each other.
      if (!existsSync(shardDataDir(rootDir, count - 1))) await group.startShard(0);
      const others = Array.from({ length: count }, (_, shard) => shard).filter((shard) => !group.#shards[shard]);
      const starts = await Promise.allSettled(others.map((shard) => group.startShard(shard)));
      for (const start of starts) if (start.status === 'rejected') throw start.reason;
    } catch (error) {
      await group.close();
      throw error;
    }
    for (let shard = 0; shard < count; shard++) await group.waitUntilConnected(shard);
    return group;
  }

  async startShard(
    number: number,
    catalogs: readonly CatalogSource[] = allFixtures.flatMap((fixture) => fixture.catalogs),
  ): Promise<void> {
    const { rootDir, clock } = this;
    const dataDir = shardDataDir(rootDir, number);
    const log: LogLine[] = [];
    const service = await startService({
      ...resolveSettings({
        dataDir,
        durability: 'write',
        maxSessions: 10_000,
        matcherThreads: 0,
        listen: { engine: this.#engine },
        // The shards of a supervisor share one port. Each shard of this group has its own port, but must answer with the same URLs.
        urls: {
          public: 'https://api.test',
          click: 'https://go.test',
          widget: 'https://w.test',
          cdn: 'https://cdn.test',
        },
      }),
      secretFile: `${rootDir}/secrets.json`,
      shard: { number, count: this.#count, rootDir },
      registry: builtInVerticals,
      catalogs,
      clock,
      logger: pino({ level: 'debug' }, { write: (line: string) => log.push(JSON.parse(line)) }),
    });
    this.#shards[number] = { service, http: new HttpClient(service.ports!.public), log };
  }

  /** Waits until a shard is connected to all other shards that run. */
  async waitUntilConnected(number: number): Promise<void> {
    const others = this.#shards.filter((shard) => shard !== undefined).length - 1;
    const count = () => this.shard(number).log.filter(({ msg }) => msg === 'connected to another shard').length;
    while (count() < others) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  shard(number: number): RunningShard {
    const shard = this.#shards[number];
    if (shard === undefined) throw new Error(`shard ${number} does not run`);
    return shard;
  }

  /** Stops a shard without waiting for its requests. */
  async kill(number: number): Promise<void> {
    const { service, http } = this.shard(number);
    this.#shards[number] = undefined;
    http.close();
    await service.closeImmediately();
  }

  /** Returns a new API key of an account of a shard. */
  issueKey(
    shard: number,
    { account, mode = 'live', scope = 'full', expiresAt, limits = {} }: ApiKeyOptions = {},
  ): string {
    const { keys } = this.shard(0).service;
    // New accounts are assigned to the shards in turn.
    for (;;) {
      this.#accounts++;
      const created = keys.create(
        {
          accountName: account ?? `account ${this.#accounts}`,
          vertical: personalLoansFixture.vertical,
          mode,
          scope,
          expiresAtMs: expiresAt?.getTime() ?? null,
          limits: { requestsPerMinute: null, analyticsPerMinute: null, sessionsPerDay: null, ...limits },
        },
        this.clock.wallMs(),
        () => 0,
      );
      this.clock.advance(bounds.unknownApiKeyPollIntervalMs);
      if (account !== undefined || created.issued.account >>> 16 === shard) return created.key;
    }
  }

  /** Returns a caller that sends its requests to a shard. */
  caller(key: string, shard: number): ApiCaller {
    return new ApiCaller(this.shard(shard).http, personalLoansFixture.vertical.segment, key);
  }

  async close(): Promise<void> {
    const running = this.#shards.filter((shard) => shard !== undefined);
    for (const { http } of running) http.close();
    await Promise.all(running.map(({ service }) => service.close()));
  }
}
