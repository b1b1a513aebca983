import type { PreparedRequest } from '../load/prepared-request.ts';
import { type BorrowerSession, inputsRequest, marketplaceRequest, sessionRequest } from '../scenarios/requests.ts';

/** What the load of pages consists of, for the titles of its curves. */
export const pageLoadTitle = '4 in 5 GET /marketplace with the ranking known, 1 in 5 POST /session';

const shownOffers = 5;
/** So many that the load does not keep to a few sessions, whatever the number of keys. */
const pageLoadRequestsMin = 20_000;

/**
 * Pages that show known borrowers their offers again, and pages that open a session. The keys take turns, so that each has
 * as many requests as the others.
 */
export function pageLoadRequests(sessions: readonly BorrowerSession[], keys: readonly string[]): PreparedRequest[] {
  // As many times all the keys as reach the least number.
  const count = keys.length * Math.ceil(pageLoadRequestsMin / keys.length);
  return Array.from({ length: count }, (_, at) => {
    const key = keys[at % keys.length]!;
    return at % 5 === 4
      ? sessionRequest(key)
      : marketplaceRequest({ ...sessions[at % sessions.length]!, key }, shownOffers);
  });
}

/** Asks for each session's offers: from then on their rankings are known. */
export function firstLookRequests(sessions: readonly BorrowerSession[]): PreparedRequest[] {
  return sessions.map((session) => marketplaceRequest(session, shownOffers));
}

/** What the load consists of, for the titles of its curves. */
export const steadyLoadTitle = '4 in 5 GET /marketplace, 1 in 5 POST /inputs';

const looksPerInput = 4;
const steadyLoadOffers = 5;

/**
 * A load that leaves the number of live sessions as it is. It goes round all of these sessions, lap after lap: in one of
 * them a session is told another income, in the others it is asked for its offers. The first ask after an input ranks anew.
 */
export function steadyLoadRequests(sessions: readonly BorrowerSession[]): PreparedRequest[] {
  const requests: PreparedRequest[] = [];
  for (let lap = 0; lap <= looksPerInput; lap++) {
    for (const [at, session] of sessions.entries()) {
      // Each session gets its input in another lap than its neighbour, so that inputs are spread evenly over the load.
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
