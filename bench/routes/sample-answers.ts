import type { BaselineAnswer } from '../baselines/baseline-answer.ts';
import type { Answer, HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import type { RouteKind, Scenario, Stage } from '../scenarios/scenario.ts';

/** How many answers of each kind are looked at. */
const sampledAnswers = 40;
/** The number `prepare` is given for the sample: of no round, so that nothing it makes is met again. */
const samplingRound = 9_999;

/** Of each kind of request a scenario sends, the answer of middle length: what the baselines repeat. */
export async function sampleAnswers(scenario: Scenario, stage: Stage): Promise<BaselineAnswer[]> {
  const small: Stage = { ...stage, roundRequests: sampledAnswers, kept: new Map() };
  return middleAnswers(scenario.kinds, await scenario.prepare(small, samplingRound), stage.caller);
}

/** The same for the kinds of any load: the first requests of each are asked. */
export async function middleAnswers(
  kinds: readonly RouteKind[],
  requests: readonly PreparedRequest[],
  caller: HttpCaller,
): Promise<BaselineAnswer[]> {
  const sampled: BaselineAnswer[] = [];
  for (const kind of kinds) {
    const some = requests.filter((request) => isOfKind(request, kind)).slice(0, sampledAnswers);
    const answers = await caller.callAll(some, kind.status);
    const middle = answers.toSorted((a, b) => wireBytes(a) - wireBytes(b))[answers.length >> 1];
    if (middle === undefined) throw new Error(`no request to ${kind.method} ${kind.path} to sample`);
    sampled.push({ ...kind, headers: middle.headerLines, body: middle.body });
  }
  return sampled;
}

/** Size of the body of an answer to these requests, on average, answered with these answers. Bytes. */
export function meanBodyBytes(requests: readonly PreparedRequest[], answers: readonly BaselineAnswer[]): number {
  const sizes = answers.map(({ body }) => Buffer.byteLength(body));
  const sum = requests.reduce(
    (total, request) => total + (sizes[answers.findIndex((kind) => isOfKind(request, kind))] ?? 0),
    0,
  );
  return Math.round(sum / requests.length);
}

/** Whether a request is one of a kind, whatever its answer. */
export function isOfKind({ method, path }: PreparedRequest, kind: Omit<RouteKind, 'status'>): boolean {
  const [own, query = ''] = path.split('?', 2) as [string, string?];
  return method === kind.method && own === kind.path && (kind.query === undefined || query.includes(kind.query));
}

function wireBytes({ headerLines, body }: Answer): number {
  return headerLines.reduce((sum, [name, value]) => sum + name.length + value.length + 4, Buffer.byteLength(body));
}
