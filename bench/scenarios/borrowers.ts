import type { PreparedRequest } from '../load/prepared-request.ts';
import { type Borrower, drawBorrower } from '../population/borrower.ts';
import { type Random, seededRandom } from '../population/random.ts';
import type { Stage } from './scenario.ts';

export const basePath = '/v1/personal-loans';

/** A borrower's open session, and the key it is used with. */
export interface OpenSession {
  readonly subId: string;
  readonly key: string;
  readonly borrower: Borrower;
}

export function sessionRequest(key: string): PreparedRequest {
  return { method: 'POST', path: `${basePath}/session`, key, body: '{"referrer_tag":"bench_variant-a"}' };
}

export function inputsRequest(session: OpenSession, fields: Partial<Borrower>): PreparedRequest {
  return {
    method: 'POST',
    path: `${basePath}/inputs`,
    key: session.key,
    body: JSON.stringify({ sub_id: session.subId, fields }),
  };
}

export function marketplaceRequest(session: OpenSession, maxOffers: number): PreparedRequest {
  const path = `${basePath}/marketplace?sub_id=${session.subId}&format=json&max_offers=${maxOffers}`;
  return { method: 'GET', path, key: session.key };
}

/** Opens sessions and submits a borrower's inputs to each. The same seed gives the same borrowers. */
export async function openSessions(stage: Stage, count: number, seed: number): Promise<OpenSession[]> {
  const random: Random = seededRandom(seed);
  const keys = Array.from({ length: count }, () => stage.nextKey());
  const created = await stage.caller.callAll(keys.map(sessionRequest), 200);
  const sessions = created.map(({ body }, index) => ({
    subId: (JSON.parse(body) as { sub_id: string }).sub_id,
    key: keys[index]!,
    borrower: drawBorrower(random),
  }));
  await stage.caller.callAll(
    sessions.map((session) => inputsRequest(session, session.borrower)),
    200,
  );
  return sessions;
}

/** The part of a marketplace answer the scenarios look at (contract 2.4). */
export interface MarketplaceAnswer {
  readonly total_offers: number;
  readonly offers: readonly { readonly click_url: string }[];
}
