import { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { OpenLoopRunner } from '../open-loop/open-loop-plan.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { matchesKind, medianLengthResponses } from '../routes/sample-answers.ts';
import { inputsScenario } from '../scenarios/inputs.ts';
import { marketplaceKnownScenario } from '../scenarios/marketplace-known.ts';
import { sessionScenario } from '../scenarios/session.ts';
import { startBaselineTarget } from '../target/baseline-target.ts';
import type { LoadTarget } from '../target/target.ts';
import type { CurveScale } from './curve-scale.ts';
import { measureLoadPoint } from './load-point.ts';

/** The kinds of requests that the loads of the curves consist of. */
const sampledKinds = [marketplaceKnownScenario, sessionScenario, inputsScenario].flatMap((scenario) => scenario.kinds);
const sampleConnections = 8;

export interface BareComparisonOptions {
  readonly sendOpenLoop: OpenLoopRunner;
  readonly scale: CurveScale;
  /** The file of answers that the bare server is started with is left here. */
  readonly folder: string;
  /** What is sent, and the file of it. */
  readonly requests: readonly PreparedRequest[];
  readonly requestsFile: string;
}

export interface ComparedPointOptions {
  readonly x: number;
  readonly perSecond: number;
  /** Of saturation: above `bareServerShareMax` the service is measured alone. */
  readonly saturationShare: number;
  /** How many points the curve has already: the two servers take turns in being first. */
  readonly pointIndex: number;
}

/**
 * Runs the bare server for as long as `use` takes, with the answers that the service gives to a few of these requests.
 * `measure` makes one point of a curve: the load on the service and the same on the bare server, one right after the other.
 */
export async function withBareServer<Result>(
  service: LoadTarget,
  { sendOpenLoop, scale, folder, requests, requestsFile }: BareComparisonOptions,
  use: (measure: (wanted: ComparedPointOptions) => Promise<CurvePoint>) => Promise<Result>,
): Promise<Result> {
  const { warmUpSeconds, seconds, bareServerShareMax } = scale;
  const load = { requestsFile, once: false, warmUpSeconds, seconds };
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

async function startBareServer(service: LoadTarget, folder: string, requests: readonly PreparedRequest[]): Promise<LoadTarget> {
  const caller = new HttpCaller(service.port, sampleConnections);
  const sent = sampledKinds.filter((kind) => requests.some((request) => matchesKind(request, kind)));
  const answers = await medianLengthResponses(sent, requests, caller).finally(() => caller.close());
  return startBaselineTarget('bare', answers, folder);
}
