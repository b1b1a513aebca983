import { basePath, sessionRequest } from './borrowers.ts';
import type { Scenario } from './scenario.ts';

/** A landing page opens its session: the answer leaves once the session is on disk. */
export const sessionScenario: Scenario = {
  name: 'session',
  title: 'POST /session, durable',
  targets: [
    { over: 'bare', ratio: 0.6 },
    { over: 'bare', ratio: 0.35 },
    { over: 'fastify', ratio: 1.5 },
  ],
  kinds: [{ method: 'POST', path: `${basePath}/session`, status: 200 }],
  durable: true,
  singleUse: false,
  // One request for each key, in turn: every key stays below its limit, and the limits are at work.
  prepare: async (stage) => stage.keys.map((key) => sessionRequest(key)),
};
