import { rateLimitHeaders } from '../../src/auth/rate-limits.ts';
import { nextRequestId } from '../../src/http/engines/base-request-context.ts';
import { responseHead } from '../../src/http/engines/response-head.ts';
import { errorReply, jsonHeaders } from '../../src/http/routes/replies.ts';
import { publicRouteNames } from '../../src/http/routes/routing.ts';
import { RequestCounter } from '../../src/metrics/metrics.ts';
import { randomLimitStatuses } from './fixtures.ts';
import type { MicroBenchmark } from './micro-benchmark.ts';

const replyTextCalls = 1_000;

export const replyTextBenchmark: MicroBenchmark = {
  name: 'http/engines/response-head: head of a reply with rate limits',
  call: 'status line, request id and headers of one answer, and their bytes',
  prepare: () => {
    const statuses = randomLimitStatuses(replyTextCalls);
    const wire = Buffer.alloc(4_096);
    return {
      calls: replyTextCalls,
      run: () => {
        let bytes = 0;
        for (const status of statuses) {
          const reply = { status: 200, headers: rateLimitHeaders(status) + jsonHeaders, body: '' };
          bytes += wire.write(responseHead(reply, nextRequestId()));
        }
        return bytes;
      },
    };
  },
};

const errorReplyCalls = 1_000;

export const errorReplyBenchmark: MicroBenchmark = {
  name: 'http/routes/replies: rejection by a rate limit',
  call: 'head and body of one 429, and their bytes',
  prepare: () => {
    const statuses = randomLimitStatuses(errorReplyCalls);
    const wire = Buffer.alloc(4_096);
    return {
      calls: errorReplyCalls,
      run: () => {
        let bytes = 0;
        for (const status of statuses) {
          const error = { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: status.resetSeconds } as const;
          const requestId = nextRequestId();
          const reply = errorReply(error, requestId, rateLimitHeaders(status));
          bytes += wire.write(responseHead(reply, requestId)) + wire.write(reply.body as string);
        }
        return bytes;
      },
    };
  },
};

const requestTallyCalls = 1_000;

/** Reply durations like under load: most are below one millisecond, and some are far above. */
const durations = Array.from({ length: requestTallyCalls }, (_, at) =>
  at % 50 === 0 ? 20_000 : 80 + ((at * 7_919) % 900),
);
const routes = Array.from({ length: requestTallyCalls }, (_, at) => 1 + (at % 5));

function totalRequests(tally: RequestCounter): number {
  let count = 0;
  for (const [route] of publicRouteNames.entries()) count += tally.durations.snapshot(route).count;
  return count;
}

export const requestTallyBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'metrics/metrics: count a reply',
    call: 'one answer counted by route and status, and its duration',
    prepare: () => {
      const tally = new RequestCounter(publicRouteNames);
      return {
        calls: requestTallyCalls,
        run: () => {
          for (let at = 0; at < requestTallyCalls; at++) tally.record(routes[at]!, 200, durations[at]!);
          return totalRequests(tally);
        },
      };
    },
  },
  {
    name: 'metrics/metrics: count a reply and read the clock twice',
    call: 'all that an exchange does for the figures: the moment it arrived, and what it counts when it is answered',
    prepare: () => {
      const tally = new RequestCounter(publicRouteNames);
      return {
        calls: requestTallyCalls,
        run: () => {
          for (let at = 0; at < requestTallyCalls; at++) {
            const exchange = { route: routes[at]!, arrivedMs: performance.now() };
            tally.record(exchange.route, 200, ((performance.now() - exchange.arrivedMs) * 1000) | 0);
          }
          return totalRequests(tally);
        },
      };
    },
  },
];
