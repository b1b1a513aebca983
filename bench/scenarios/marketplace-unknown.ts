import { basePath, incomeChangeRequests, reusableSessions, marketplaceRequest } from './borrowers.ts';
import type { Scenario } from './scenario.ts';

/**
 * A page asks for offers right after the borrower's inputs, so that they must be ranked first. Each session is asked for
 * once a round, and before each round the income of every borrower is changed to a figure it never had: no ranking of
 * this session, nor of another one with the same inputs, can be in store. Only the GETs are measured.
 */
export const marketplaceUnknownScenario: Scenario = {
  name: 'marketplace-unknown',
  title: 'GET /marketplace, 5 of 200 offers, ranking not yet known',
  targets: [
    { over: 'bare', ratio: 0.35 },
    { over: 'bare', ratio: 0.2 },
    { over: 'fastify', ratio: 0.8 },
  ],
  kinds: [{ method: 'GET', path: `${basePath}/marketplace`, status: 200 }],
  singleUse: true,
  catalogOffers: 200,
  prepare: async (stage, round) => {
    const sessions = await reusableSessions(stage, stage.roundRequests, 13);
    await stage.caller.callAll(incomeChangeRequests(sessions, sessions.length, round), 200);
    return sessions.map((session) => marketplaceRequest(session, 5));
  },
};
