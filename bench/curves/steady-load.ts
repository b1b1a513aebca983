import type { PreparedRequest } from '../load/prepared-request.ts';
import { inputsRequest, marketplaceRequest, type BorrowerSession } from '../scenarios/borrowers.ts';

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
