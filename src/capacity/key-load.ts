import { type TrafficMix, type RouteName, routeNames } from './mix.ts';

const secondsOfMinute = 60;
const secondsOfHour = 3_600;
const secondsOfDay = 24 * secondsOfHour;

/** What one key asks of a box, rested keys reckoned in: the busiest minute for rates, a day for what is kept. */
export interface KeyLoad {
  /** The limit of a key that lets no more of this mix through. */
  readonly boundBy: 'requests a minute' | 'analytics queries a minute' | 'sessions a day';
  /** Requests a second of the busiest minute by route, and together. Clicks carry no key, so no limit counts them. */
  readonly ratesPerSecond: Readonly<Record<RouteName, number>>;
  readonly requestsPerSecond: number;
  readonly sessionsPerDay: number;
  /** Sessions that live at one time. */
  readonly liveSessions: number;
}

/** A mix is let through until the first of its key's three limits is reached. */
export function computeKeyLoad(mix: TrafficMix): KeyLoad {
  const { perSession, limits, busyShare } = mix;
  const total = routeNames.reduce((sum, name) => sum + perSession[name], 0);
  const limited = total - perSession.click;
  const meanOfDay = limits.sessionsPerDay / secondsOfDay;
  // Sessions a second that each limit lets through.
  const ceilings = [
    ['requests a minute', limits.requestsPerMinute / secondsOfMinute / limited],
    ['analytics queries a minute', limits.analyticsPerMinute / secondsOfMinute / perSession.analytics],
    ['sessions a day', mix.minutePeakFactor === null ? Number.POSITIVE_INFINITY : meanOfDay * mix.minutePeakFactor],
  ] as const;
  const [boundBy, sessionsPerSecond] = ceilings.reduce((least, one) => (one[1] < least[1] ? one : least));
  const perDay = Math.min(limits.sessionsPerDay, sessionsPerSecond * secondsOfDay);
  // However the day went: no more live than were opened in it, or could be opened while the first of them lived.
  const live = Math.min(
    ((perDay * mix.sessionHours) / 24) * mix.livePeakFactor,
    perDay,
    sessionsPerSecond * mix.sessionHours * secondsOfHour,
  );
  const busy = sessionsPerSecond * busyShare;
  return {
    boundBy,
    ratesPerSecond: Object.fromEntries(routeNames.map((name) => [name, busy * perSession[name]])) as Record<
      RouteName,
      number
    >,
    requestsPerSecond: busy * total,
    sessionsPerDay: perDay * busyShare,
    liveSessions: live * busyShare,
  };
}
