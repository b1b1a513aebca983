import { basePath, incomeChangeRequests, reusableSessions, withRotatingKeys } from './borrowers.ts';
import type { Scenario } from './scenario.ts';

/**
 * A borrower changes one field of the form: the answer leaves once the change is on disk. Every request sets the income to a figure
 * that its session never had, so that there is something to merge; each session is met four times a round.
 */
export const inputsScenario: Scenario = {
  name: 'inputs',
  title: 'POST /inputs, one changed field merged into a session with all, durable',
  targets: [
    { over: 'bare', ratio: 0.5 },
    { over: 'fastify', ratio: 1.3 },
  ],
  kinds: [{ method: 'POST', path: `${basePath}/inputs`, status: 200 }],
  durable: true,
  singleUse: true,
  prepare: async (stage, round) => {
    const sessions = await reusableSessions(stage, Math.ceil(stage.roundRequests / 4), 12);
    return withRotatingKeys(stage, incomeChangeRequests(sessions, stage.roundRequests, round));
  },
};
