import type { PreparedRequest } from '../load/prepared-request.ts';
import { marketplaceRequest, type BorrowerSession, sessionRequest } from '../scenarios/borrowers.ts';

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
