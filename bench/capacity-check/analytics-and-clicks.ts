import type { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import { basePath, type MarketplaceAnswer, marketplaceRequest, type OpenSession } from '../scenarios/borrowers.ts';

/** The experiment that the sessions of the benchmarks are opened under. */
const referrerTag = 'bench_variant-a';
const offersShown = 20;

export function analyticsRequest(key: string, granularity: 'summary' | 'row'): PreparedRequest {
  return { method: 'GET', path: `${basePath}/analytics?referrer_tag=${referrerTag}&granularity=${granularity}`, key };
}

/** The click addresses of what each session is shown: every pair of session and offer once. */
export async function clickRequests(caller: HttpCaller, sessions: readonly OpenSession[]): Promise<PreparedRequest[]> {
  const shown = await caller.callAll(
    sessions.map((session) => marketplaceRequest(session, offersShown)),
    200,
  );
  return shown.flatMap(({ body }) =>
    (JSON.parse(body) as MarketplaceAnswer).offers.map(({ click_url }): PreparedRequest => {
      const url = new URL(click_url);
      return { method: 'GET', path: url.pathname + url.search };
    }),
  );
}
