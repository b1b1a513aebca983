import type { PreparedRequest } from '../load/prepared-request.ts';
import { analyticsRequest, basePath, clickRequests, reusableSessions, referrerTags } from './borrowers.ts';
import type { Scenario } from './scenario.ts';

/** So many that each experiment has more than one page of them. */
export const analyticsSessionCount = 125 * referrerTags.length;

/**
 * Somebody looks at an experiment: in turn its summary, and the first page (100) of its sessions. Queries go round the
 * experiments and the keys, so that each key stays below its 50 a minute. Nothing is recorded meanwhile.
 */
export const analyticsScenario: Scenario = {
  name: 'analytics',
  title: 'GET /analytics of a tag, in turn the summary and a page of 100 sessions',
  targets: [],
  kinds: [
    { method: 'GET', path: `${basePath}/analytics`, query: 'granularity=summary', status: 200 },
    { method: 'GET', path: `${basePath}/analytics`, query: 'granularity=row', status: 200 },
  ],
  singleUse: false,
  prepare: async (stage) => {
    if (!stage.state.has('shown')) {
      const sessions = await reusableSessions(stage, analyticsSessionCount, 17);
      const clicks = await clickRequests(stage, sessions, 2);
      await stage.caller.callAll(clicks.slice(0, clicks.length >> 2), 302);
      stage.state.set('shown', true);
    }
    return stage.keys.flatMap((key, at): PreparedRequest[] => {
      const tag = referrerTags[at % referrerTags.length]!;
      return [analyticsRequest(key, tag, 'summary'), analyticsRequest(key, tag, 'row')];
    });
  },
};
