import { noLimitOverrides, type KeyLimitOverrides } from '../../src/access/key-limits.ts';
import { bounds } from '../../src/bounds.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import {
  basePath,
  inputsRequest,
  marketplaceRequest,
  type BorrowerSession,
  sessionRequest,
} from '../scenarios/borrowers.ts';

/** More requests with one key than one of its limits lets through. */
export interface LimitScenario {
  readonly name: string;
  readonly title: string;
  /** Of the key that is used up; null where the service's default is to be met. */
  readonly keyLimits: KeyLimitOverrides;
  /** What must be admitted in one span, to the request. */
  readonly limit: number;
  /** What the limit counts by: any 60 seconds, or a UTC day. */
  readonly window: 'minute' | 'day';
  /** What is sent, in turn, with this key. Each is answered 200 unless it is refused. */
  buildRequests(key: string, session: BorrowerSession): readonly PreparedRequest[];
}

export const limitScenarios: readonly LimitScenario[] = [
  {
    name: 'requests-per-minute',
    title: 'requests a minute, of three operations in turn',
    keyLimits: noLimitOverrides,
    limit: bounds.requestsPerMinuteDefault,
    window: 'minute',
    buildRequests: (key, session) => {
      const own = { ...session, key };
      return [sessionRequest(key), inputsRequest(own, session.borrower), marketplaceRequest(own, 5)];
    },
  },
  {
    name: 'analytics-per-minute',
    title: 'analytics queries a minute',
    keyLimits: noLimitOverrides,
    limit: bounds.analyticsPerMinuteDefault,
    window: 'minute',
    buildRequests: (key) => [{ method: 'GET', path: `${basePath}/analytics?referrer_tag=bench_variant-a`, key }],
  },
  {
    name: 'sessions-per-day',
    title: 'sessions a day, of a key with a million requests a minute',
    keyLimits: { ...noLimitOverrides, requestsPerMinute: bounds.limitPerMinuteMax },
    limit: bounds.sessionsPerDayDefault,
    window: 'day',
    buildRequests: (key) => [sessionRequest(key)],
  },
];
