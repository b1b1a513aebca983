import type { BenchContext } from '../bench-part.ts';
import { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { LoadCurvePoint } from '../result/bench-result.ts';
import { isResponseToRequestKind, pickMedianLengthResponses } from '../routes/sample-responses.ts';
import type { BorrowerSession } from '../scenarios/requests.ts';
import {
  cachedRankingScenario,
  inputsSubmissionScenario,
  sessionCreationScenario,
} from '../scenarios/route-scenarios.ts';
import { startBaselineServer } from '../target/baseline-target.ts';
import type { LoadTarget } from '../target/load-target.ts';
import { createTemporaryFolder } from '../target/owned-resources.ts';
import { type ServiceTarget, type ServiceTargetOptions, withServiceTarget } from '../target/service-target.ts';
import { type LiveSessionsOptions, type WrittenSession, writeLiveSessions } from '../target/write-live-sessions.ts';
import type { LoadCurveSettings } from './curve.ts';
import { measureLoadPoint, type RequestSender } from './load-point.ts';

export interface PreloadedServiceOptions extends Pick<ServiceTargetOptions, 'keys' | 'catalogOffers'> {
  /** Live sessions that exist when the service starts. */
  readonly sessions: Pick<LiveSessionsOptions, 'count' | 'fields' | 'sampleSize'>;
}

export interface PreloadedService {
  readonly target: ServiceTarget;
  /** Sample of the live sessions, for use in loads. `key` is an API key of the account that owns the session. */
  readonly sessions: readonly BorrowerSession[];
  /** Sends loads to the service. The folder for request files is deleted when the service stops. */
  readonly sender: RequestSender;
}

/**
 * Starts a service with live sessions, calls the function `use`, and stops the service. If `use` throws, the error message contains the
 * last lines of the service log.
 */
export async function withSeededService<Result>(
  { folder: parent, sendOpenLoop }: RequestSender,
  { sessions: wanted, ...options }: PreloadedServiceOptions,
  use: (service: PreloadedService) => Promise<Result>,
): Promise<Result> {
  const folder = await createTemporaryFolder(parent, 'curve-');
  try {
    let written: readonly WrittenSession[] = [];
    const prepareDataDir = async (dataDir: string) => {
      written = await writeLiveSessions(dataDir, { ...wanted, keys: options.keys });
    };
    return await withServiceTarget({ ...options, folder: folder.path, prepareDataDir }, (target) => {
      const sessions = written.map((session, at) => ({ ...session, key: target.keys[at % target.keys.length]! }));
      return use({ target, sessions, sender: { sendOpenLoop, folder: folder.path } });
    });
  } finally {
    await folder.remove();
  }
}

/** Kinds of requests whose recorded responses the baseline server `bare` repeats. */
const sampledKinds = [cachedRankingScenario, sessionCreationScenario, inputsSubmissionScenario].flatMap(
  (scenario) => scenario.kinds,
);
const sampleConnections = 8;

/**
 * Starts the baseline server `bare`, which repeats recorded responses of the service. Calls the function `use`, and then stops the baseline
 * server. `measure` measures one point of a curve on the service and, if `saturationShare` is at most `bareServerShareMax`, on the baseline
 * server. At points with an odd `pointIndex`, the baseline server is measured before the service.
 */
export async function withBaselineServer<Result>(
  service: LoadTarget,
  sender: RequestSender,
  { warmUpSeconds, seconds, bareServerShareMax }: LoadCurveSettings,
  requests: readonly PreparedRequest[],
  use: (
    measure: (x: number, perSecond: number, saturationShare: number, pointIndex: number) => Promise<LoadCurvePoint>,
  ) => Promise<Result>,
): Promise<Result> {
  const load = { requests, singleUse: false, warmUpSeconds, seconds };
  const bare = bareServerShareMax > 0 ? await startBareServer(service, sender, requests) : null;
  try {
    return await use(async (x, perSecond, saturationShare, pointIndex) => {
      const pointOf = (target: LoadTarget) => measureLoadPoint(sender, target, x, perSecond, load);
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
  { folder }: Pick<BenchContext, 'folder'>,
  requests: readonly PreparedRequest[],
): Promise<LoadTarget> {
  const caller = new HttpCaller(service.port, sampleConnections);
  const sent = sampledKinds.filter((kind) => requests.some((request) => isResponseToRequestKind(request, kind)));
  const answers = await pickMedianLengthResponses(sent, requests, caller).finally(() => caller.close());
  return startBaselineServer('bare', answers, folder);
}
