import { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { SendOpenLoop } from '../open-loop/open-loop-plan.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { isOfKind, middleAnswers } from '../routes/sample-answers.ts';
import { inputsScenario } from '../scenarios/inputs.ts';
import { marketplaceKnownScenario } from '../scenarios/marketplace-known.ts';
import { sessionScenario } from '../scenarios/session.ts';
import { startBaselineTarget } from '../target/baseline-target.ts';
import type { Target } from '../target/target.ts';
import type { CurveScale } from './curve-scale.ts';
import { loadPoint } from './load-point.ts';

/** The kinds of requests that the loads of the curves consist of. */
const kinds = [marketplaceKnownScenario, sessionScenario, inputsScenario].flatMap((scenario) => scenario.kinds);
const sampleConnections = 8;

export interface BesideBareWanted {
  readonly sendOpenLoop: SendOpenLoop;
  readonly scale: CurveScale;
  /** The file of answers that the bare server is started with is left here. */
  readonly folder: string;
  /** What is sent, and the file of it. */
  readonly requests: readonly PreparedRequest[];
  readonly requestsFile: string;
}

export interface PointWanted {
  readonly x: number;
  readonly perSecond: number;
  /** Of saturation: above `besideBareShareMax` the service is measured alone. */
  readonly share: number;
  /** How many points the curve has already: the two servers take turns in being first. */
  readonly place: number;
}

/**
 * Runs the bare server for as long as `use` takes, with the answers that the service gives to a few of these requests.
 * `measure` makes one point of a curve: the load on the service and the same on the bare server, one right after the other.
 */
export async function withBareBeside<Result>(
  service: Target,
  { sendOpenLoop, scale, folder, requests, requestsFile }: BesideBareWanted,
  use: (measure: (wanted: PointWanted) => Promise<CurvePoint>) => Promise<Result>,
): Promise<Result> {
  const { warmUpSeconds, seconds, besideBareShareMax } = scale;
  const load = { requestsFile, once: false, warmUpSeconds, seconds };
  const bare = besideBareShareMax > 0 ? await startBare(service, folder, requests) : null;
  try {
    return await use(async ({ x, perSecond, share, place }) => {
      const pointOf = (target: Target) => loadPoint(sendOpenLoop, target, x, perSecond, load);
      if (bare === null || share > besideBareShareMax) return pointOf(service);
      const before = place % 2 === 1 ? await pointOf(bare) : null;
      const point = await pointOf(service);
      return { ...point, bare: before ?? (await pointOf(bare)) };
    });
  } finally {
    await bare?.close();
  }
}

async function startBare(service: Target, folder: string, requests: readonly PreparedRequest[]): Promise<Target> {
  const caller = new HttpCaller(service.port, sampleConnections);
  const sent = kinds.filter((kind) => requests.some((request) => isOfKind(request, kind)));
  const answers = await middleAnswers(sent, requests, caller).finally(() => caller.close());
  return startBaselineTarget('bare', answers, folder);
}
