import { basePath, type MarketplaceResponse, marketplaceRequest, createSessions, withRotatingKeys } from './borrowers.ts';
import type { Scenario } from './scenario.ts';

/** So many that a load does not keep to a few borrowers. */
const sessionsMax = 10_000;
const offersRequested = 5;

/** A page asks again for the offers of a borrower whose ranking the session already holds. */
export const marketplaceKnownScenario: Scenario = {
  name: 'marketplace-known',
  title: 'GET /marketplace, 5 offers, ranking known',
  targets: [
    { over: 'bare', ratio: 0.6 },
    { over: 'bare', ratio: 0.4 },
    { over: 'fastify', ratio: 1.3 },
  ],
  kinds: [{ method: 'GET', path: `${basePath}/marketplace`, status: 200 }],
  singleUse: false,
  prepare: async (stage) => {
    const known = stage.state.get('requests') as ReturnType<typeof marketplaceRequest>[] | undefined;
    if (known !== undefined) return known;
    const count = Math.min(sessionsMax, stage.roundRequests);
    const sessions = await createSessions(stage, count, 11);
    const requests = sessions.map((session) => marketplaceRequest(session, offersRequested));
    // The first answer of each leaves its ranking behind; borrowers who match fewer than five offers are left out.
    const answers = await stage.caller.callAll(requests, 200);
    const full = requests.filter(
      (_, i) => (JSON.parse(answers[i]!.body) as MarketplaceResponse).offers.length === offersRequested,
    );
    if (full.length < count / 10) throw new Error('hardly any borrower matches five offers of this catalog');
    // One request for each key, in turn, as of new sessions: every key stays below its limit.
    const load = withRotatingKeys(
      stage,
      stage.keys.map((_, at) => full[at % full.length]!),
    );
    stage.state.set('requests', load);
    return load;
  },
};
