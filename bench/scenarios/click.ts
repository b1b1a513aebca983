import type { PreparedRequest } from '../load/prepared-request.ts';
import { clickRequests, createSessions } from './borrowers.ts';
import type { Scenario } from './scenario.ts';

/** Offers one session is shown, and so clicks of distinct (session, offer) pairs it can give. */
const clickOffersShown = 20;
/** Enough to give some offers whoever the borrowers are, few enough not to prepare many clicks too many. */
const sessionsAtOnce = 200;

/**
 * A borrower follows a click_url: the answer leaves once the click is on disk. Every pair of session and offer is clicked
 * once, since a repeat books nothing; the sessions of a round are new. The redirect is not followed.
 */
export const clickScenario: Scenario = {
  name: 'click',
  title: 'GET /c, click redirect, durable',
  targets: [
    { over: 'bare', ratio: 0.6 },
    { over: 'bare', ratio: 0.35 },
    { over: 'fastify', ratio: 1.3 },
  ],
  kinds: [{ method: 'GET', path: '/c', status: 302 }],
  durable: true,
  singleUse: true,
  prepare: async (stage, round) => {
    const clicks: PreparedRequest[] = [];
    for (let batch = 0; clicks.length < stage.roundRequests; batch++) {
      const sessions = await createSessions(stage, sessionsAtOnce, 1_000 * round + batch);
      const before = clicks.length;
      clicks.push(...(await clickRequests(stage, sessions, clickOffersShown)));
      if (clicks.length === before) throw new Error('no borrower matches an offer of this catalog');
    }
    return clicks.slice(0, stage.roundRequests);
  },
};
