import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext } from '../bench-part.ts';
import { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { OpenLoopRunner } from '../open-loop/open-loop-plan.ts';
import type { CurvePoint } from '../result/bench-result.ts';
import { matchesKind, medianLengthResponses } from '../routes/sample-responses.ts';
import type { BorrowerSession } from '../scenarios/requests.ts';
import { inputsScenario, marketplaceKnownScenario, sessionScenario } from '../scenarios/route-scenarios.ts';
import { startBaselineTarget } from '../target/baseline-target.ts';
import type { LoadTarget } from '../target/load-target.ts';
import { createOwnedFolder } from '../target/owned-resources.ts';
import { type ServiceTarget, startServiceTarget } from '../target/service-target.ts';
import { type LiveSessionsOptions, type WrittenSession, writeLiveSessions } from '../target/write-live-sessions.ts';
import type { CurveScale } from './curve.ts';
import { measureLoadPoint } from './load-point.ts';

export interface SeededServiceOptions {
  readonly keys: number;
  /** Live sessions when the service starts. */
  readonly sessions: Pick<LiveSessionsOptions, 'count' | 'fields' | 'sampleSize'>;
  /** Number of offers in a generated catalog; without a value, the service uses the example catalog. */
  readonly catalogOffers?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

interface SeededService {
  readonly target: ServiceTarget;
  /** Sample of the live sessions. Each session has a key that can use it. */
  readonly sessions: readonly BorrowerSession[];
  /** Folder for request files, which is deleted when the service is closed. */
  readonly folder: string;
}

const sessionsSeed = 23;

/** Runs the service with live sessions during `use`. If `use` fails, the error contains the end of the service log. */
export async function withSeededService<Result>(
  { folder: parent, generateCatalogText }: Pick<BenchContext, 'folder' | 'generateCatalogText'>,
  wanted: SeededServiceOptions,
  use: (service: SeededService) => Promise<Result>,
): Promise<Result> {
  const folder = await createOwnedFolder(parent, 'curve-');
  let target: ServiceTarget | null = null;
  try {
    let written: readonly WrittenSession[] = [];
    const catalogFile = join(folder.path, 'catalog.json');
    if (wanted.catalogOffers !== undefined) await writeFile(catalogFile, generateCatalogText(wanted.catalogOffers));
    target = await startServiceTarget({
      folder: folder.path,
      keys: wanted.keys,
      ...(wanted.catalogOffers === undefined ? {} : { catalogFile }),
      ...(wanted.settings === undefined ? {} : { settings: wanted.settings }),
      prepareDataDir: async (dataDir) => {
        written = await writeLiveSessions(dataDir, { ...wanted.sessions, keys: wanted.keys, seed: sessionsSeed });
      },
    });
    const { keys } = target;
    const sessions = written.map((session, at) => ({ ...session, key: keys[at % keys.length]! }));
    return await use({ target, sessions, folder: folder.path });
  } catch (error) {
    if (target === null) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${message}\nLog of the service: ${target.logTail()}`, { cause: error });
  } finally {
    await target?.close();
    await folder.remove();
  }
}

/** Kinds of requests in the loads of the curves. */
const sampledKinds = [marketplaceKnownScenario, sessionScenario, inputsScenario].flatMap((scenario) => scenario.kinds);
const sampleConnections = 8;

interface BareComparisonOptions {
  readonly sendOpenLoop: OpenLoopRunner;
  readonly scale: CurveScale;
  /** Folder for the response file of the bare server. */
  readonly folder: string;
  /** Requests of the load. `requestsFile` contains the same requests. */
  readonly requests: readonly PreparedRequest[];
  readonly requestsFile: string;
}

interface ComparedPointOptions {
  readonly x: number;
  readonly perSecond: number;
  /** Offered rate as a share of saturation. Above `bareServerShareMax`, only the service is measured. */
  readonly saturationShare: number;
  /** Index of the point in the curve. It determines which of the two servers is measured first. */
  readonly pointIndex: number;
}

/**
 * Runs the bare server during `use`, with recorded responses of the service. `measure` measures one point of a curve with the
 * same load on the service and on the bare server.
 */
export async function withBareServer<Result>(
  service: LoadTarget,
  { sendOpenLoop, scale, folder, requests, requestsFile }: BareComparisonOptions,
  use: (measure: (wanted: ComparedPointOptions) => Promise<CurvePoint>) => Promise<Result>,
): Promise<Result> {
  const { warmUpSeconds, seconds, bareServerShareMax } = scale;
  const load = { requestsFile, singleUse: false, warmUpSeconds, seconds };
  const bare = bareServerShareMax > 0 ? await startBareServer(service, folder, requests) : null;
  try {
    return await use(async ({ x, perSecond, saturationShare, pointIndex }) => {
      const pointOf = (target: LoadTarget) => measureLoadPoint(sendOpenLoop, target, x, perSecond, load);
      if (bare === null || saturationShare > bareServerShareMax) return pointOf(service);
      const before = pointIndex % 2 === 1 ? await pointOf(bare) : null;
      const point = await pointOf(service);
      return { ...point, bare: before ?? (await pointOf(bare)) };
    });
  } finally {
    await bare?.close();
  }
}

async function startBareServer(
  service: LoadTarget,
  folder: string,
  requests: readonly PreparedRequest[],
): Promise<LoadTarget> {
  const caller = new HttpCaller(service.port, sampleConnections);
  const sent = sampledKinds.filter((kind) => requests.some((request) => matchesKind(request, kind)));
  const answers = await medianLengthResponses(sent, requests, caller).finally(() => caller.close());
  return startBaselineTarget('bare', answers, folder);
}
