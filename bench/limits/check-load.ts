import type { RateLimitName } from '../../src/auth/rate-limits.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import type { RecordedReply } from '../load/load-clients.ts';

/** Limit that the replies must keep (docs/contract.md#rate-limits). */
export interface ExpectedLimit {
  /** Name of the limit in the headers `RateLimit` and `RateLimit-Policy`. */
  readonly policy: RateLimitName;
  readonly limit: number;
  /** Length of the window: 60 seconds, or a UTC day. */
  readonly windowMs: number;
}

/** Replies to concurrent requests with one key. All times are Unix milliseconds of the service's clock. */
export interface LimitedLoad {
  readonly startedMs: number;
  readonly endedMs: number;
  /** Number of requests that the limit allowed at the start. */
  readonly available: number;
  readonly replies: readonly RecordedReply[];
}

export const admittedStatus = 200;
export const refusedStatus = 429;

export const limitHeaders = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
] as const;

/** Earliest and latest time at which a refused request can succeed. */
export interface RetryTime {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the time of the next free place. `oldest` is the load with the oldest request that counts. */
export function computeRetryTime(
  { windowMs }: ExpectedLimit,
  oldest: Pick<LimitedLoad, 'startedMs' | 'endedMs'>,
): RetryTime {
  if (windowMs < msPerDay) return { fromMs: oldest.startedMs + windowMs, toMs: oldest.endedMs + windowMs };
  const midnightMs = (Math.floor(oldest.startedMs / msPerDay) + 1) * msPerDay;
  return { fromMs: midnightMs, toMs: midnightMs };
}

/** Returns why the replies do not keep the limit exactly; null if they do. */
export function findLimitProblem(expected: ExpectedLimit, load: LimitedLoad, retry: RetryTime): string | null {
  const { available, replies } = load;
  const admitted = replies.filter(({ status }) => status === admittedStatus);
  const wanted = Math.min(available, replies.length);
  if (admitted.length !== wanted) {
    return `${admitted.length} of ${replies.length} requests were admitted instead of ${wanted}`;
  }
  const remaining = admitted.map(({ headers }) => Number(headers['x-ratelimit-remaining'])).toSorted((a, b) => b - a);
  if (remaining.some((value, at) => value !== available - 1 - at)) {
    return `X-RateLimit-Remaining of admitted requests does not count from ${available - 1} to ${available - wanted}`;
  }
  for (const reply of replies) {
    const problem = findHeaderProblem(expected, load, retry, reply);
    if (problem !== null) return `a reply with status ${reply.status} has ${problem}`;
  }
  return null;
}

function findHeaderProblem(
  { policy, limit, windowMs }: ExpectedLimit,
  { startedMs, endedMs }: LimitedLoad,
  retry: RetryTime,
  { status, headers }: RecordedReply,
): string | null {
  const isRefused = status === refusedStatus;
  const remaining = isRefused ? '0' : headers['x-ratelimit-remaining'];
  const seconds = /;t=(\d+)$/.exec(headers.ratelimit ?? '')?.[1];
  const expectedHeaders = {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': remaining,
    ratelimit: `"${policy}";r=${remaining};t=${seconds}`,
    'retry-after': isRefused ? seconds : undefined,
  };
  for (const [name, value] of Object.entries(expectedHeaders)) {
    if (headers[name] !== value) return `${name}: ${headers[name] ?? 'absent'} instead of ${value ?? 'absent'}`;
  }
  const policyItem = `"${policy}";q=${limit};w=${windowMs / 1_000}`;
  if (!headers['ratelimit-policy']?.split(', ').includes(policyItem)) return `no ${policyItem} in ratelimit-policy`;

  // Both headers contain the same time, rounded up to seconds: one since 1970, the other from now.
  const reset = Number(headers['x-ratelimit-reset']);
  const answered = reset - Number(seconds);
  if (!(answered > startedMs / 1_000 - 1 && answered < endedMs / 1_000 + 1)) {
    return `different times in x-ratelimit-reset: ${reset} and ratelimit: ${headers.ratelimit}`;
  }
  if (isRefused && !(reset * 1_000 >= retry.fromMs && reset * 1_000 < retry.toMs + 1_000)) {
    return `x-ratelimit-reset: ${reset}, which is not when the next request can succeed`;
  }
  return null;
}
