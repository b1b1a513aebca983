import type { PreparedRequest } from '../load/prepared-request.ts';
import { type Borrower, createRandomBorrower } from '../population/borrower.ts';
import { type Random, seededRandom } from '../population/random.ts';
import type { ScenarioContext } from './scenario.ts';

export const basePath = '/v1/personal-loans';

/** Largest income that the service accepts, in USD. */
export const maxAnnualIncome = 10_000_000;

/** Live session of a borrower, with an API key of the same account. */
export interface BorrowerSession {
  readonly subId: string;
  readonly key: string;
  readonly borrower: Borrower;
}

/** Referrer tags of equal length, which make all replies equally long. */
export const referrerTags: readonly string[] = Array.from('abcdefgh', (letter) => `bench_variant-${letter}`);

export function sessionRequest(key: string, tag = referrerTags[0]!): PreparedRequest {
  return { method: 'POST', path: `${basePath}/session`, key, body: `{"referrer_tag":"${tag}"}` };
}

export function analyticsRequest(key: string, tag: string, granularity: 'summary' | 'row'): PreparedRequest {
  return { method: 'GET', path: `${basePath}/analytics?referrer_tag=${tag}&granularity=${granularity}`, key };
}

export function submitInputsRequest(session: BorrowerSession, fields: Partial<Borrower>): PreparedRequest {
  return {
    method: 'POST',
    path: `${basePath}/inputs`,
    key: session.key,
    body: JSON.stringify({ sub_id: session.subId, fields }),
  };
}

export function marketplaceRequest(session: BorrowerSession, maxOffers: number): PreparedRequest {
  const path = `${basePath}/marketplace?sub_id=${session.subId}&format=json&max_offers=${maxOffers}`;
  return { method: 'GET', path, key: session.key };
}

/** Distributes requests evenly among API keys of the same account. */
export function assignApiKeys(
  stage: Pick<ScenarioContext, 'nextApiKey'>,
  requests: readonly PreparedRequest[],
): PreparedRequest[] {
  return requests.map((request) => ({ ...request, key: stage.nextApiKey() }));
}

/** Creates sessions and submits the inputs of borrowers. The same seed gives the same borrowers. */
export async function createSessions(stage: ScenarioContext, count: number, seed: number): Promise<BorrowerSession[]> {
  const random: Random = seededRandom(seed);
  const keys = Array.from({ length: count }, () => stage.nextApiKey());
  const created = await stage.caller.sendRequests(
    keys.map((key, at) => sessionRequest(key, referrerTags[at % referrerTags.length])),
    200,
  );
  const sessions = created.map(({ body }, index) => ({
    subId: (JSON.parse(body) as { sub_id: string }).sub_id,
    key: keys[index]!,
    borrower: createRandomBorrower(random),
  }));
  await stage.caller.sendRequests(
    sessions.map((session) => submitInputsRequest(session, session.borrower)),
    200,
  );
  return sessions;
}

/** Returns the sessions that a scenario reuses in all rounds. Creates the sessions that the scenario does not have yet. */
export async function reusableSessions(
  stage: ScenarioContext,
  count: number,
  seed: number,
): Promise<BorrowerSession[]> {
  const kept = (stage.state.get('sessions') as BorrowerSession[] | undefined) ?? [];
  const missing = count - kept.length;
  if (missing > 0) kept.push(...(await createSessions(stage, missing, seed + kept.length)));
  stage.state.set('sessions', kept);
  return kept.slice(0, count);
}

/** Maximum number of income changes per session and round. */
const changesPerRoundMax = 1_000;

/** Returns requests that change the income of sessions. A session never gets the same income twice, not even in later rounds. */
export function requestsWithChangedIncome(
  sessions: readonly BorrowerSession[],
  count: number,
  round: number,
): PreparedRequest[] {
  return Array.from({ length: count }, (_, at) => {
    const session = sessions[at % sessions.length]!;
    const change = 1 + changesPerRoundMax * round + Math.floor(at / sessions.length);
    // An income above the maximum restarts at 0, because every request must change the income of its session.
    return submitInputsRequest(session, { annual_income: (session.borrower.annual_income + change) % maxAnnualIncome });
  });
}

/** Gets up to `offers` offers for each session. Returns one click request for each offer in the replies. */
export async function clickRequests(
  stage: Pick<ScenarioContext, 'caller'>,
  sessions: readonly BorrowerSession[],
  offers: number,
): Promise<PreparedRequest[]> {
  const shown = await stage.caller.sendRequests(
    sessions.map((session) => marketplaceRequest(session, offers)),
    200,
  );
  return shown.flatMap(({ body }) =>
    (JSON.parse(body) as MarketplaceResponse).offers.map(({ click_url }): PreparedRequest => {
      const url = new URL(click_url);
      return { method: 'GET', path: url.pathname + url.search };
    }),
  );
}

/** Part of a `GET /marketplace` response that the scenarios read (docs/contract.md#envelope). */
export interface MarketplaceResponse {
  readonly total_offers: number;
  readonly offers: readonly { readonly click_url: string }[];
}
