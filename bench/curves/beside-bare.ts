import { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { middleAnswers } from '../routes/sample-answers.ts';
import { basePath } from '../scenarios/borrowers.ts';
import type { RouteKind } from '../scenarios/scenario.ts';
import { startBaselineTarget } from '../target/baseline-target.ts';
import type { Target } from '../target/target.ts';
import { type LoadWanted, loadPoint } from './load-point.ts';

/** The kinds of requests that the loads of the curves consist of. */
const kinds: readonly RouteKind[] = [
  { method: 'GET', path: `${basePath}/marketplace`, status: 200 },
  { method: 'POST', path: `${basePath}/session`, status: 200 },
  { method: 'POST', path: `${basePath}/inputs`, status: 200 },
];
const sampleConnections = 8;

/** Runs the bare server for as long as `use` takes, with the answers that the service gives to a few of these requests. */
export async function withBareBeside<Result>(
  service: Target,
  folder: string,
  requests: readonly PreparedRequest[],
  use: (bare: Target) => Promise<Result>,
): Promise<Result> {
  const caller = new HttpCaller(service.port, sampleConnections);
  const sent = kinds.filter(({ path }) => requests.some((request) => request.path.split('?')[0] === path));
  const answers = await middleAnswers(sent, requests, caller).finally(() => caller.close());
  const bare = await startBaselineTarget('bare', answers, folder);
  try {
    return await use(bare);
  } finally {
    await bare.close();
  }
}

export interface PairWanted {
  readonly service: Target;
  /** Null for a point of the service alone. */
  readonly bare: Target | null;
  readonly bareFirst: boolean;
  readonly x: number;
  readonly perSecond: number;
  readonly load: LoadWanted;
}

/** One point of a curve and the same load on the bare server, one right after the other. */
export async function pointBesideBare(wanted: PairWanted): Promise<CurvePoint> {
  const { service, bare, bareFirst, x, perSecond, load } = wanted;
  if (bare === null) return loadPoint(service, x, perSecond, load);
  const before = bareFirst ? await loadPoint(bare, x, perSecond, load) : null;
  const point = await loadPoint(service, x, perSecond, load);
  return { ...point, bare: before ?? (await loadPoint(bare, x, perSecond, load)) };
}
