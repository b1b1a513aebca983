import { bounds } from '../../src/bounds.ts';
import type { CheckRequest } from '../../src/capacity/check.ts';
import { type RouteName, routeNames } from '../../src/capacity/mix.ts';

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
export interface CheckScale {
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
