import { rateLimitHeaders } from '../../src/auth/rate-limits.ts';
import { nextRequestId } from '../../src/http/engines/base-request-context.ts';
import { responseHead } from '../../src/http/engines/response-head.ts';
import { errorReply, jsonHeaders } from '../../src/http/routes/replies.ts';
import { publicRouteNames } from '../../src/http/routes/routing.ts';
import { RequestCounter } from '../../src/metrics/metrics.ts';
import { randomLimitStatuses } from './fixtures.ts';
import { type MicroBenchmark, perItemBenchmark } from './micro-benchmark.ts';

const replyCount = 1_000;

export const replyTextBenchmark: MicroBenchmark = perItemBenchmark(
  'http/engines/response-head: head of a reply with rate limits',
  'status line, request id and headers of one answer, and their bytes',
  () => {
    const wire = Buffer.alloc(4_096);
    return {
      items: randomLimitStatuses(replyCount),
      run: (status) => {
        const reply = { status: 200, headers: rateLimitHeaders(status) + jsonHeaders, body: '' };
        return wire.write(responseHead(reply, nextRequestId()));
      },
    };
  },
);

export const errorReplyBenchmark: MicroBenchmark = perItemBenchmark(
  'http/routes/replies: rejection by a rate limit',
  'head and body of one 429, and their bytes',
  () => {
    const wire = Buffer.alloc(4_096);
    return {
      items: randomLimitStatuses(replyCount),
      run: (status) => {
        const refusal = { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: status.resetSeconds } as const;
        const requestId = nextRequestId();
        const reply = errorReply(refusal, requestId, rateLimitHeaders(status));
        return wire.write(responseHead(reply, requestId)) + wire.write(reply.body as string);
      },
    };
  },
);

const requestCounterCalls = 1_000;

/** Reply durations with the distribution under load: most are below one millisecond, and some are far above. */
const durations = Array.from({ length: requestCounterCalls }, (_, at) =>
  at % 50 === 0 ? 20_000 : 80 + ((at * 7_919) % 900),
);
const routes = Array.from({ length: requestCounterCalls }, (_, at) => 1 + (at % 5));

function totalRequests(counter: RequestCounter): number {
  let count = 0;
  for (const [route] of publicRouteNames.entries()) count += counter.durations.snapshot(route).count;
  return count;
}

export const requestCounterBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'metrics/metrics: count a reply',
    call: 'one answer counted by route and status, and its duration',
    prepare: () => {
      const counter = new RequestCounter(publicRouteNames);
      return {
        calls: requestCounterCalls,
        run: () => {
          for (let at = 0; at < requestCounterCalls; at++) counter.record(routes[at]!, 200, durations[at]!);
          return totalRequests(counter);
        },
      };
    },
  },
  {
    name: 'metrics/metrics: count a reply and read the clock twice',
    call: 'all that an exchange does for the figures: the moment it arrived, and what it counts when it is answered',
    prepare: () => {
      const counter = new RequestCounter(publicRouteNames);
      return {
        calls: requestCounterCalls,
        run: () => {
          for (let at = 0; at < requestCounterCalls; at++) {
            const exchange = { route: routes[at]!, arrivedMs: performance.now() };
            counter.record(exchange.route, 200, ((performance.now() - exchange.arrivedMs) * 1000) | 0);
          }
          return totalRequests(counter);
        },
      };
    },
  },
];
