import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { bounds } from '../../src/bounds.ts';
import {
  type ApiKeyMode,
  type ApiKeyScope,
  createMarketplace,
  type KeyLimits,
  type Marketplace,
  type MarketplaceOptions,
} from '../../src/index.ts';
import { ApiCaller } from './api-caller.ts';
import { HttpClient } from './http-client.ts';
import { ManualClock } from './manual-clock.ts';
import './patient-deadlines.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { startTwoShards } from './two-shards.ts';
import type { VerticalFixture } from './vertical-fixture.ts';
import { allFixtures } from './vertical-fixtures.ts';

/** Most tests run on uWebSockets.js only. Those of the listeners, of the operations API, of scopes and of every status run on both engines. */
export type Engine = 'uws' | 'node';

export interface ApiKeyOptions {
  /** Account of the key. Default: a new account. */
  readonly account?: string;
  readonly mode?: ApiKeyMode;
  readonly scope?: ApiKeyScope;
  readonly expiresAt?: Date;
  readonly limits?: Partial<KeyLimits>;
}

type KeyVertical = Pick<VerticalFixture, 'vertical'>;

export type StartOptions = Partial<Omit<MarketplaceOptions, 'dataDir' | 'clock' | 'listen'>>;

let isForwarding = false;

/** Makes each following service two shards. The shard of all accounts gets its public requests from the other shard, where they arrive. */
export function forwardAllRequests(): void {
  isForwarding = true;
}

/**
 * A complete service with real sockets, with files in its own folder, with every vertical that has a fixture, and with a
 * clock that the test controls.
 */
export class RunningMarketplace {
  readonly clock: ManualClock;
  /** Data folder of the service. */
  readonly folder: string;
  readonly #startService: () => Promise<Marketplace>;
  #run: ServiceRun;
  #accounts = 0;

  private constructor(
    clock: ManualClock,
    folder: string,
    startService: () => Promise<Marketplace>,
    marketplace: Marketplace,
  ) {
    this.clock = clock;
    this.folder = folder;
    this.#startService = startService;
    this.#run = connect(marketplace);
  }

  static async start(engine: Engine, options: StartOptions = {}): Promise<RunningMarketplace> {
    const folder = temporaryFolder();
    const clock = new ManualClock();
    const startService = () => {
      const settings: MarketplaceOptions = {
        durability: 'write',
        maxSessions: 10_000,
        // Only tests with a large catalog need a matching thread.
        matcherThreads: engine === 'uws' ? 1 : 0,
        catalogs: allFixtures.flatMap(({ catalogs }) => catalogs),
        ...options,
        dataDir: folder,
        clock,
        listen: { engine, operationsAllowedHosts: ['ops.test'] },
      };
      return isForwarding ? startTwoShards(settings) : createMarketplace(settings);
    };
    return new RunningMarketplace(clock, folder, startService, await startService());
  }

  get marketplace(): Marketplace {
    return this.#run.marketplace;
  }

  get http(): HttpClient {
    return this.#run.http;
  }

  get operations(): HttpClient {
    return this.#run.operations;
  }

  /** Closes the service, and starts it again on the same folder with other ports. Earlier callers cannot be used afterwards. */
  async restart(whileClosed: () => unknown = () => {}): Promise<void> {
    await this.close();
    await whileClosed();
    this.#run = connect(await this.#startService());
  }

  issueKey({ vertical }: KeyVertical, wanted: ApiKeyOptions = {}): { readonly key: string; readonly id: string } {
    this.#accounts++;
    const { account = `account ${this.#accounts}`, mode = 'live', ...rest } = wanted;
    const issued = this.marketplace.keys.create({ account, vertical: vertical.segment, mode, ...rest });
    // After an unknown key, the service reads the key file again, at most once per interval.
    this.clock.advance(bounds.unknownApiKeyPollIntervalMs);
    return issued;
  }

  /** Returns a caller with a new key. */
  caller(fixture: KeyVertical, wanted: ApiKeyOptions = {}): ApiCaller {
    return this.callerWithKey(fixture, this.issueKey(fixture, wanted).key);
  }

  callerWithKey({ vertical }: KeyVertical, key: string): ApiCaller {
    return new ApiCaller(this.http, vertical.segment, key);
  }

  /** Token that the operations listener requires from the operator. */
  get operatorToken(): string {
    return readOperatorToken(operatorTokenPath(this.folder));
  }

  get dataDir(): string {
    return this.folder;
  }

  async close(): Promise<void> {
    this.http.close();
    this.operations.close();
    await this.marketplace.close();
  }
}

/** A start of the service, with connections to its listeners. */
interface ServiceRun {
  readonly marketplace: Marketplace;
  readonly http: HttpClient;
  readonly operations: HttpClient;
}

function connect(marketplace: Marketplace): ServiceRun {
  const { ports } = marketplace;
  if (ports === null) throw new Error('no listeners');
  return { marketplace, http: new HttpClient(ports.public), operations: new HttpClient(ports.operations, false) };
}
