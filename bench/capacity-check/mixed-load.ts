import { bounds } from '../../src/bounds.ts';
import type { CheckRequest } from '../../src/capacity/check.ts';
import { type RouteName, routeNames } from '../../src/capacity/traffic-mix.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import {
  analyticsRequest,
  annualIncomeMax,
  type BorrowerSession,
  inputsRequest,
  marketplaceRequest,
  referrerTags,
  sessionRequest,
} from '../scenarios/requests.ts';

/** How much more than the load needs, since arrivals come in clusters. */
const headroomFactor = 1.25;
/** Live sessions whose inputs are changed again and again, and those whose offers are known and shown again. */
const changedSessionsMax = 20_000;
const knownSessionsMax = 2_000;
/** Clicks that one session is good for: those who match fewer offers are made up for by others. */
const clicksPerSession = 3;
/** Inputs are this old before the ranking they made unknown is asked for. Seconds. */
const rankingDelaySeconds = 1;
export const warmUpSeconds = 3;

/** How much of everything a check needs. */
interface CheckScale {
  readonly perSecond: number;
  /** Requests that are prepared: what is due, and some more. */
  readonly requests: number;
  /** Keys of the load, so many that none of them comes near a limit, and keys that prepare it. */
  readonly keys: number;
  readonly preparingKeys: number;
  /** Live sessions by what is done to them. */
  readonly sessions: {
    readonly changed: number;
    readonly known: number;
    readonly fresh: number;
    readonly clicked: number;
  };
  /** Live sessions the server starts with: these, or as many as were ordered. */
  readonly totalSessions: number;
  /** Inputs that come between those of a session and the question for its offers. */
  readonly inputsBetween: number;
  readonly clicks: number;
}

export function computeCheckScale({ ratesPerSecond, seconds, initialSessions }: CheckRequest): CheckScale {
  const perSecond = routeNames.reduce((sum, name) => sum + ratesPerSecond[name], 0);
  const loadSeconds = warmUpSeconds + seconds;
  const requests = Math.ceil(perSecond * loadSeconds * 1.02) + 200;
  const countOf = (name: RouteName) => Math.ceil((ratesPerSecond[name] / perSecond) * requests);
  const inputsBetween = Math.ceil(ratesPerSecond.inputs * rankingDelaySeconds);
  const clicks = countOf('click');
  const sessions = {
    changed: 1 + 2 * inputsBetween + Math.min(changedSessionsMax, countOf('inputs')),
    known: Math.max(1, Math.min(knownSessionsMax, countOf('marketplace-known'))),
    // Where offers are asked for more often than inputs change, and as long as no inputs are old enough.
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
    // A key's day counts the sessions that were there before.
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
/** The experiment that the written sessions belong to. */
const tag = referrerTags[0]!;

/** What the load is made from: live sessions by what is done to them, and clicks that nobody has made yet. */
interface MixedLoadInputs {
  readonly keys: readonly string[];
  readonly changed: readonly BorrowerSession[];
  readonly known: readonly BorrowerSession[];
  readonly fresh: readonly BorrowerSession[];
  readonly clicks: readonly PreparedRequest[];
}

/**
 * The requests of a mix in the order they are sent in, each route spread evenly over the load by its share. A ranking is
 * unknown because the session's inputs have changed a while before, or because nobody has asked for it yet.
 */
export function buildMixedLoad(
  ratesPerSecond: CheckRequest['ratesPerSecond'],
  scale: Pick<CheckScale, 'requests' | 'inputsBetween'>,
  stock: MixedLoadInputs,
): PreparedRequest[] {
  const turns = new RouteScheduler(ratesPerSecond);
  const { keys, changed, known, fresh, clicks } = stock;
  let keysTaken = 0;
  const withKey = (session: BorrowerSession): BorrowerSession => ({ ...session, key: nextKey() });
  const nextKey = () => keys[keysTaken++ % keys.length]!;
  const sent: Record<RouteName, number> = { ...zeroCounts };
  let asked = 0;
  let freshTaken = 0;

  const inputs = (): PreparedRequest => {
    const session = changed[sent.inputs % changed.length]!;
    const lap = 1 + Math.floor(sent.inputs / changed.length);
    return inputsRequest(withKey(session), { annual_income: (session.borrower.annual_income + lap) % annualIncomeMax });
  };
  const unknown = (): PreparedRequest => {
    // Inputs of a session that has had others since have lost their ranking to those.
    asked = Math.max(asked, sent.inputs - changed.length);
    if (asked + scale.inputsBetween < sent.inputs) {
      return marketplaceRequest(withKey(changed[asked++ % changed.length]!), shownOffers);
    }
    const session = fresh[freshTaken++];
    if (session === undefined) throw new Error('there are too few sessions whose offers nobody has asked for');
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
      if (click === undefined) throw new Error('there are too few clicks');
      return click;
    },
    analytics: () => analyticsRequest(nextKey(), tag, sent.analytics % 2 === 0 ? 'summary' : 'row'),
  };
  return Array.from({ length: scale.requests }, () => {
    const name = turns.next();
    const request = makers[name]();
    sent[name]++;
    return request;
  });
}

const zeroCounts = Object.fromEntries(routeNames.map((name) => [name, 0])) as Record<RouteName, number>;

/** Routes by turns: each time the one that is furthest behind its share. */
class RouteScheduler {
  readonly #rates: Readonly<Record<RouteName, number>>;
  readonly #total: number;
  readonly #deficits: Record<RouteName, number> = { ...zeroCounts };

  constructor(rates: Readonly<Record<RouteName, number>>) {
    this.#rates = rates;
    this.#total = routeNames.reduce((sum, name) => sum + rates[name], 0);
  }

  next(): RouteName {
    for (const name of routeNames) this.#deficits[name] += this.#rates[name];
    const furthest = routeNames.reduce((one, other) => (this.#deficits[other] > this.#deficits[one] ? other : one));
    this.#deficits[furthest] -= this.#total;
    return furthest;
  }
}
