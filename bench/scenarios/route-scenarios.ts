import type { PreparedRequest } from '../load/prepared-request.ts';
import {
  analyticsRequest,
  assignApiKeys,
  basePath,
  clickRequests,
  createSessions,
  type MarketplaceResponse,
  marketplaceRequest,
  referrerTags,
  requestsWithChangedIncome,
  reusableSessions,
  sessionRequest,
} from './requests.ts';
import type { Scenario } from './scenario.ts';

/** Measures requests that create sessions. The service replies after the session is written to disk. */
export const sessionCreationScenario: Scenario = {
  name: 'session',
  title: 'POST /session, durable',
  targets: { bare: 0.35, fastify: 1.5 },
  kinds: [{ method: 'POST', path: `${basePath}/session`, status: 200 }],
  durable: true,
  singleUse: false,
  // Each key sends the same number of requests, so that no key exceeds its rate limit.
  prepareRequests: async (stage) => stage.keys.map((key) => sessionRequest(key)),
};

/**
 * Measures `inputs` requests. Each request changes the income in a session, and the service replies after the change is written to disk.
 * Each session is used four times per round.
 */
export const inputsSubmissionScenario: Scenario = {
  name: 'inputs',
  title: 'POST /inputs, one changed field, durable',
  targets: { fastify: 1.3 },
  kinds: [{ method: 'POST', path: `${basePath}/inputs`, status: 200 }],
  durable: true,
  singleUse: true,
  prepareRequests: async (stage, round) => {
    const sessions = await reusableSessions(stage, Math.ceil(stage.roundRequests / 4), 12);
    return assignApiKeys(stage, requestsWithChangedIncome(sessions, stage.roundRequests, round));
  },
};

/** Maximum number of sessions in a scenario; large enough to represent many different borrowers. */
const sessionsMax = 10_000;
const offersRequested = 5;

/** Measures repeated requests for offers. The service has a cached ranking for each session. */
export const cachedRankingScenario: Scenario = {
  name: 'marketplace-known',
  title: 'GET /marketplace, 5 offers, cached ranking',
  targets: { bare: 0.4, fastify: 1.3 },
  kinds: [{ method: 'GET', path: `${basePath}/marketplace`, status: 200 }],
  singleUse: false,
  prepareRequests: async (stage) => {
    const known = stage.state.get('requests') as ReturnType<typeof marketplaceRequest>[] | undefined;
    if (known !== undefined) return known;
    const count = Math.min(sessionsMax, stage.roundRequests);
    const sessions = await createSessions(stage, count, 11);
    const requests = sessions.map((session) => marketplaceRequest(session, offersRequested));
    // The first request for offers caches the ranking of a session. Borrowers with fewer than five offers are skipped.
    const answers = await stage.caller.sendRequests(requests, 200);
    const full = requests.filter(
      (_, i) => (JSON.parse(answers[i]!.body) as MarketplaceResponse).offers.length === offersRequested,
    );
    if (full.length < count / 10) throw new Error('too few borrowers match five offers of this catalog');
    // Each key sends the same number of requests, so that no key exceeds its rate limit.
    const load = assignApiKeys(
      stage,
      stage.keys.map((_, at) => full[at % full.length]!),
    );
    stage.state.set('requests', load);
    return load;
  },
};

/**
 * Measures requests for offers that require a new ranking. Before each round, every session gets a new income, which removes its cached
 * ranking. Each session is used once per round. The requests that change the income are not measured.
 */
const marketplaceUnknownScenario: Scenario = {
  name: 'marketplace-unknown',
  title: 'GET /marketplace, 5 of 200 offers, new ranking',
  targets: { bare: 0.2, fastify: 0.8 },
  kinds: [{ method: 'GET', path: `${basePath}/marketplace`, status: 200 }],
  singleUse: true,
  catalogOffers: 200,
  prepareRequests: async (stage, round) => {
    const sessions = await reusableSessions(stage, stage.roundRequests, 13);
    await stage.caller.sendRequests(requestsWithChangedIncome(sessions, sessions.length, round), 200);
    return sessions.map((session) => marketplaceRequest(session, 5));
  },
};

/** Number of offers that are requested per session. Each returned offer has a click link. */
const clickOffersShown = 20;
/**
 * Number of sessions in each batch. A large batch creates unneeded click links; a small batch may contain no borrower who matches an offer.
 */
const sessionsAtOnce = 200;

/**
 * Measures clicks on the `click_url` of offers. The service replies after the click is written to disk. Every pair of session and offer is
 * clicked once, because repeated clicks have no effect. The client does not follow the redirect to the lender.
 */
export const clickScenario: Scenario = {
  name: 'click',
  title: 'GET /c, click redirect, durable',
  targets: { bare: 0.35, fastify: 1.3 },
  kinds: [{ method: 'GET', path: '/c', status: 302 }],
  durable: true,
  singleUse: true,
  prepareRequests: async (stage, round) => {
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

/** Number of sessions for the analytics queries. Each referrer tag has 125 sessions, which do not fit on one page of a result. */
export const analyticsSessionCount = 125 * referrerTags.length;

/**
 * Measures two kinds of analytics queries: the summary of a referrer tag, and its first 100 sessions. The queries use all API keys in turn,
 * so that each key stays below its limit of 50 queries per minute. During the load, the ledger gets no new records.
 */
export const analyticsScenario: Scenario = {
  name: 'analytics',
  title: 'GET /analytics, in turn summary and 100 rows of a tag',
  targets: {},
  kinds: [
    { method: 'GET', path: `${basePath}/analytics`, query: 'granularity=summary', status: 200 },
    { method: 'GET', path: `${basePath}/analytics`, query: 'granularity=row', status: 200 },
  ],
  singleUse: false,
  prepareRequests: async (stage) => {
    if (!stage.state.has('shown')) {
      const sessions = await reusableSessions(stage, analyticsSessionCount, 17);
      const clicks = await clickRequests(stage, sessions, 2);
      await stage.caller.sendRequests(clicks.slice(0, clicks.length >> 2), 302);
      stage.state.set('shown', true);
    }
    return stage.keys.flatMap((key, at): PreparedRequest[] => {
      const tag = referrerTags[at % referrerTags.length]!;
      return [analyticsRequest(key, tag, 'summary'), analyticsRequest(key, tag, 'row')];
    });
  },
};

export const singleRouteScenarios: readonly Scenario[] = [
  sessionCreationScenario,
  inputsSubmissionScenario,
  cachedRankingScenario,
  marketplaceUnknownScenario,
  clickScenario,
  analyticsScenario,
];
