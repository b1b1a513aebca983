import type { PreparedRequest } from '../load/prepared-request.ts';
import { type BorrowerSession, inputsRequest, marketplaceRequest, sessionRequest } from '../scenarios/requests.ts';

/** Description of the page load, for the titles of its curves. */
export const pageLoadTitle = '4 in 5 GET /marketplace with the ranking known, 1 in 5 POST /session';

const shownOffers = 5;
/** Minimum number of requests, so that the load uses many sessions. */
const pageLoadRequestsMin = 20_000;

/** Requests of pages that repeat known offers and of pages that open a session. Each key has the same number of requests. */
export function pageLoadRequests(sessions: readonly BorrowerSession[], keys: readonly string[]): PreparedRequest[] {
  // A multiple of the number of keys, at least the minimum.
  const count = keys.length * Math.ceil(pageLoadRequestsMin / keys.length);
  return Array.from({ length: count }, (_, at) => {
    const key = keys[at % keys.length]!;
    return at % 5 === 4
      ? sessionRequest(key)
      : marketplaceRequest({ ...sessions[at % sessions.length]!, key }, shownOffers);
  });
}

/** Requests that compute the ranking of each session. */
export function firstLookRequests(sessions: readonly BorrowerSession[]): PreparedRequest[] {
  return sessions.map((session) => marketplaceRequest(session, shownOffers));
}

/** Description of the steady load, for the titles of its curves. */
export const steadyLoadTitle = '4 in 5 GET /marketplace, 1 in 5 POST /inputs';

const looksPerInput = 4;
const steadyLoadOffers = 5;

/**
 * A load that does not change the number of live sessions. It visits all sessions in each lap: in one lap a session gets a new
 * income, in the others its offers are requested. The first request after new inputs computes a new ranking.
 */
export function steadyLoadRequests(sessions: readonly BorrowerSession[]): PreparedRequest[] {
  const requests: PreparedRequest[] = [];
  for (let lap = 0; lap <= looksPerInput; lap++) {
    for (const [at, session] of sessions.entries()) {
      // Neighbouring sessions get their inputs in different laps, so that inputs are spread evenly.
      const isInput = (lap + at) % (looksPerInput + 1) === 0;
      requests.push(
        isInput
          ? inputsRequest(session, { annual_income: session.borrower.annual_income + 1 })
          : marketplaceRequest(session, steadyLoadOffers),
      );
    }
  }
  return requests;
}
