import type { BaselineResponse } from '../baselines/baseline-response.ts';
import type { HttpCaller, HttpResponse } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { RequestKind, Scenario, ScenarioContext } from '../scenarios/scenario.ts';

/** Number of sampled responses for each kind of request. */
const sampledResponses = 40;
/** Number of the round that requests sample responses; measured rounds have lower numbers. */
const samplingRound = 9_999;

/** Sends a small number of requests of a scenario. Returns the response of median length for each kind of request. */
export async function fetchSampleResponses(scenario: Scenario, stage: ScenarioContext): Promise<BaselineResponse[]> {
  const small: ScenarioContext = { ...stage, roundRequests: sampledResponses, state: new Map() };
  return pickMedianLengthResponses(scenario.kinds, await scenario.prepareRequests(small, samplingRound), stage.caller);
}

/** Sends the first requests of each kind in a load. Returns the response of median length for each kind of request. */
export async function pickMedianLengthResponses(
  kinds: readonly RequestKind[],
  requests: readonly PreparedRequest[],
  caller: HttpCaller,
): Promise<BaselineResponse[]> {
  const sampled: BaselineResponse[] = [];
  for (const kind of kinds) {
    const some = requests.filter((request) => isResponseToRequestKind(request, kind)).slice(0, sampledResponses);
    const answers = await caller.sendRequests(some, kind.status);
    const middle = answers.toSorted((a, b) => responseBytes(a) - responseBytes(b))[answers.length >> 1];
    if (middle === undefined) throw new Error(`the load contains no request to ${kind.method} ${kind.path}`);
    sampled.push({ ...kind, headers: middle.headerPairs, body: middle.body });
  }
  return sampled;
}

/** Returns the mean size in bytes of the response bodies for the given requests. */
export function meanBodyBytes(requests: readonly PreparedRequest[], answers: readonly BaselineResponse[]): number {
  const sizes = answers.map(({ body }) => Buffer.byteLength(body));
  const sum = requests.reduce(
    (total, request) => total + (sizes[answers.findIndex((kind) => isResponseToRequestKind(request, kind))] ?? 0),
    0,
  );
  return Math.round(sum / requests.length);
}

/** Returns whether the method, path and query string of a request match a kind of request. */
export function isResponseToRequestKind({ method, path }: PreparedRequest, kind: Omit<RequestKind, 'status'>): boolean {
  const [own, query = ''] = path.split('?', 2) as [string, string?];
  return method === kind.method && own === kind.path && (kind.query === undefined || query.includes(kind.query));
}

function responseBytes({ headerPairs, body }: HttpResponse): number {
  return headerPairs.reduce((sum, [name, value]) => sum + name.length + value.length + 4, Buffer.byteLength(body));
}
