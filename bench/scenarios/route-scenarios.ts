import type { PreparedRequest } from '../load/prepared-request.ts';
import {
  analyticsRequest,
  basePath,
  clickRequests,
  createSessions,
  incomeChangeRequests,
  type MarketplaceResponse,
  marketplaceRequest,
  referrerTags,
  reusableSessions,
  sessionRequest,
  withRotatingKeys,
} from './requests.ts';
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
