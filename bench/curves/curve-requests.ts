import type { PreparedRequest } from '../load/prepared-request.ts';
import {
  type BorrowerSession,
  marketplaceRequest,
  sessionRequest,
  submitInputsRequest,
} from '../scenarios/requests.ts';

const shownOffers = 5;
/** Minimum number of different requests in a load, so that the load uses many sessions. */
const pageLoadRequestsMin = 20_000;

/**
 * Returns the requests of page loads: four of five requests get the offers of an existing session, and every fifth
 * request creates a session. All keys send the same number of requests.
 */
export function pageVisitRequests(sessions: readonly BorrowerSession[], keys: readonly string[]): PreparedRequest[] {
  // The number of requests is a multiple of the number of keys.
  const count = keys.length * Math.ceil(pageLoadRequestsMin / keys.length);
  return Array.from({ length: count }, (_, at) => {
    const key = keys[at % keys.length]!;
    return at % 5 === 4
      ? sessionRequest(key)
      : marketplaceRequest({ ...sessions[at % sessions.length]!, key }, shownOffers);
  });
}

/** Returns one request for offers per session. The service has no cached rankings for the sessions. */
export function uncachedOfferRequests(sessions: readonly BorrowerSession[]): PreparedRequest[] {
  return sessions.map((session) => marketplaceRequest(session, shownOffers));
}

const offerRequestsPerInput = 4;

/**
 * Returns requests that do not change the number of live sessions. Each session gets one `inputs` request with a new income, and four
 * requests for offers. The first request for offers after new inputs computes a new ranking.
 */
export function steadyLoadRequests(sessions: readonly BorrowerSession[]): PreparedRequest[] {
  const requests: PreparedRequest[] = [];
  for (let lap = 0; lap <= offerRequestsPerInput; lap++) {
    for (const [at, session] of sessions.entries()) {
      // In each of the five passes, a different fifth of the sessions gets an `inputs` request.
      const isInput = (lap + at) % (offerRequestsPerInput + 1) === 0;
      requests.push(
        isInput
          ? submitInputsRequest(session, { annual_income: session.borrower.annual_income + 1 })
          : marketplaceRequest(session, shownOffers),
      );
    }
  }
  return requests;
}
