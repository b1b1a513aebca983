import { bounds } from '../../src/bounds.ts';
import type { CapacityCheckRequest } from '../capacity/check.ts';
import { computePerRoute, type RouteName, routeNames } from '../capacity/traffic-mix.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import {
  analyticsRequest,
  type BorrowerSession,
  marketplaceRequest,
  maxAnnualIncome,
  referrerTags,
  sessionRequest,
  submitInputsRequest,
} from '../scenarios/requests.ts';

/** Factor by which the number of API keys exceeds the number needed in an average minute, because some minutes have more requests. */
const headroomFactor = 1.25;
/** Approximate maximum number of live sessions that get new inputs during a load. */
const changedSessionsMax = 20_000;
/** Maximum number of live sessions whose offers are requested repeatedly without new inputs. */
const knownSessionsMax = 2_000;
/** Average number of click links per session. */
const clicksPerSession = 3;
/** Minimum delay in seconds between the `inputs` request of a session and the next request for its offers. */
const rankingDelaySeconds = 1;
export const warmUpSeconds = 3;

/** Numbers of keys, sessions and requests for a capacity check. */
interface LoadSize {
  readonly perSecond: number;
  /** Number of prepared requests, which is slightly higher than the number of sent requests. */
  readonly requests: number;
  /** Number of API keys for the load; large enough that each key stays below its limits. */
  readonly keys: number;
  /** Number of API keys for the requests before the measured load, which cache rankings and create click links. */
  readonly preparingKeys: number;
  /** Number of live sessions for each kind of request in the load. */
  readonly sessions: {
    readonly changed: number;
    readonly known: number;
    readonly fresh: number;
    readonly clicked: number;
  };
  /** Number of live sessions when the server starts; at least the requested `initialSessions`. */
  readonly totalSessions: number;
  /** Number of `inputs` requests that the load sends in the time `rankingDelaySeconds`. */
  readonly inputsBetween: number;
  readonly clicks: number;
}

export function computeLoadSize({ ratesPerSecond, seconds, initialSessions }: CapacityCheckRequest): LoadSize {
  const perSecond = routeNames.reduce((sum, name) => sum + ratesPerSecond[name], 0);
  const loadSeconds = warmUpSeconds + seconds;
  const requests = Math.ceil(perSecond * loadSeconds * 1.02) + 200;
  const countOf = (name: RouteName) => Math.ceil((ratesPerSecond[name] / perSecond) * requests);
  const inputsBetween = Math.ceil(ratesPerSecond.inputs * rankingDelaySeconds);
  const clicks = countOf('click');
  const sessions = {
    changed: 1 + 2 * inputsBetween + Math.min(changedSessionsMax, countOf('inputs')),
    known: Math.max(1, Math.min(knownSessionsMax, countOf('marketplace-known'))),
    // A request for a new ranking uses a `changed` session or, if none is available, a `fresh` session.
    fresh: Math.max(0, countOf('marketplace-unknown') - countOf('inputs')) + inputsBetween + 2,
    clicked: Math.ceil(clicks / clicksPerSession) + (clicks === 0 ? 0 : 20),
  };
  const needed = Object.values(sessions).reduce((sum, count) => sum + count, 0);
  const totalSessions = Math.max(needed, initialSessions);
  const limitedPerMinute = (perSecond - ratesPerSecond.click) * 60;
  const keys = Math.max(
    1,
    (headroomFactor * limitedPerMinute) / bounds.requestsPerMinuteDefault,
    (headroomFactor * ratesPerSecond.analytics * 60) / bounds.analyticsPerMinuteDefault,
    // Existing sessions count towards the daily session limit of their key.
    (headroomFactor * (totalSessions + countOf('session'))) / bounds.sessionsPerDayDefault,
  );
  return {
    perSecond,
    requests,
    keys: Math.ceil(keys),
    preparingKeys: Math.ceil((headroomFactor * (sessions.known + sessions.clicked)) / bounds.requestsPerMinuteDefault),
    sessions,
    totalSessions,
    inputsBetween,
    clicks,
  };
}

const shownOffers = 5;
/** Referrer tag of the generated sessions. */
const tag = referrerTags[0]!;

/** Resources that the requests of a load use: API keys, live sessions for each kind of request, and unused click links. */
interface MixedLoadInputs {
  readonly keys: readonly string[];
  readonly changed: readonly BorrowerSession[];
  readonly known: readonly BorrowerSession[];
  readonly fresh: readonly BorrowerSession[];
  readonly clicks: readonly PreparedRequest[];
}

/**
 * Builds the requests of a traffic mix in the order of sending. A request that needs a new ranking uses a session with changed inputs, or a
 * session without an earlier request for offers.
 */
export function buildMixedLoad(
  ratesPerSecond: CapacityCheckRequest['ratesPerSecond'],
  scale: Pick<LoadSize, 'requests' | 'inputsBetween'>,
  stock: MixedLoadInputs,
): PreparedRequest[] {
  const { keys, changed, known, fresh, clicks } = stock;
  let keysTaken = 0;
  const withKey = (session: BorrowerSession): BorrowerSession => ({ ...session, key: nextKey() });
  const nextKey = () => keys[keysTaken++ % keys.length]!;
  const sent = computePerRoute(() => 0);
  let asked = 0;
  let freshTaken = 0;

  const inputs = (): PreparedRequest => {
    const session = changed[sent.inputs % changed.length]!;
    const lap = 1 + Math.floor(sent.inputs / changed.length);
    return submitInputsRequest(withKey(session), {
      annual_income: (session.borrower.annual_income + lap) % maxAnnualIncome,
    });
  };
  const unknown = (): PreparedRequest => {
    // New inputs invalidate the ranking of the earlier inputs of a session.
    asked = Math.max(asked, sent.inputs - changed.length);
    if (asked + scale.inputsBetween < sent.inputs) {
      return marketplaceRequest(withKey(changed[asked++ % changed.length]!), shownOffers);
    }
    const session = fresh[freshTaken++];
    if (session === undefined) throw new Error('not enough sessions without a cached ranking');
    return marketplaceRequest(withKey(session), shownOffers);
  };
  const makers: Readonly<Record<RouteName, () => PreparedRequest>> = {
    session: () => sessionRequest(nextKey()),
    inputs,
    'marketplace-unknown': unknown,
    'marketplace-known': () =>
      marketplaceRequest(withKey(known[sent['marketplace-known'] % known.length]!), shownOffers),
    click: () => {
      const click = clicks[sent.click];
      if (click === undefined) throw new Error('not enough unused click links');
      return click;
    },
    analytics: () => analyticsRequest(nextKey(), tag, sent.analytics % 2 === 0 ? 'summary' : 'row'),
  };
  return spreadRoutes(ratesPerSecond, scale.requests).map((name) => {
    const request = makers[name]();
    sent[name]++;
    return request;
  });
}

/** Returns the route of each request. Each route gets requests in proportion to its rate, evenly distributed over the load. */
function spreadRoutes(rates: Readonly<Record<RouteName, number>>, requests: number): RouteName[] {
  const total = routeNames.reduce((sum, name) => sum + rates[name], 0);
  const deficits = computePerRoute(() => 0);
  return Array.from({ length: requests }, () => {
    for (const name of routeNames) deficits[name] += rates[name];
    const furthest = routeNames.reduce((one, other) => (deficits[other] > deficits[one] ? other : one));
    deficits[furthest] -= total;
    return furthest;
  });
}
