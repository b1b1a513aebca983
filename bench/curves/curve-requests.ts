import type { PreparedRequest } from '../load/prepared-request.ts';
import { type BorrowerSession, inputsRequest, marketplaceRequest, sessionRequest } from '../scenarios/requests.ts';

/** Description of the page load, for the titles of its curves. */
export const pageLoadTitle = '4 in 5 GET /marketplace with the ranking known, 1 in 5 POST /session';

const shownOffers = 5;
/** Minimum number of different requests, so that the load uses many sessions. */
const pageLoadRequestsMin = 20_000;

/** Returns the requests of page loads: some request known offers again, others create a session. Keys are used equally. */
export function pageLoadRequests(sessions: readonly BorrowerSession[], keys: readonly string[]): PreparedRequest[] {
  // The number of requests is a multiple of the number of keys.
  const count = keys.length * Math.ceil(pageLoadRequestsMin / keys.length);
  return Array.from({ length: count }, (_, at) => {
    const key = keys[at % keys.length]!;
    return at % 5 === 4
      ? sessionRequest(key)
      : marketplaceRequest({ ...sessions[at % sessions.length]!, key }, shownOffers);
  });
}

/** Returns requests that compute the ranking of each session. */
export function firstLookRequests(sessions: readonly BorrowerSession[]): PreparedRequest[] {
  return sessions.map((session) => marketplaceRequest(session, shownOffers));
}

/** Description of the steady load, for the titles of its curves. */
export const steadyLoadTitle = '4 in 5 GET /marketplace, 1 in 5 POST /inputs';

const looksPerInput = 4;
const steadyLoadOffers = 5;

/**
 * Returns requests that do not change the number of live sessions. Each lap contains all sessions: in one lap a session gets a new
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
