import { rateLimitHeaders } from '../../src/auth/rate-limits.ts';
import { nextRequestId } from '../../src/http/engines/base-request-context.ts';
import { responseHead } from '../../src/http/engines/response-head.ts';
import { errorReply, jsonHeaders } from '../../src/http/routes/replies.ts';
import { createRateLimitStatuses } from './fixtures.ts';
import { createPerItemBenchmark, type MicroBenchmark } from './micro-benchmark.ts';

const replyCount = 1_000;

export const replyTextBenchmark: MicroBenchmark = createPerItemBenchmark(
  'http/engines/response-head: serialize a head with rate limits',
  () => {
    const wire = Buffer.alloc(4_096);
    return {
      items: createRateLimitStatuses(replyCount),
      run: (status) => {
        const reply = { status: 200, headers: rateLimitHeaders(status) + jsonHeaders, body: '' };
        return wire.write(responseHead(reply, nextRequestId()));
      },
    };
  },
);

export const errorReplyBenchmark: MicroBenchmark = createPerItemBenchmark(
  'http/routes/replies: serialize a 429 reply',
  () => {
    const wire = Buffer.alloc(4_096);
    return {
      items: createRateLimitStatuses(replyCount),
      run: (status) => {
        const refusal = { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: status.resetSeconds } as const;
        const requestId = nextRequestId();
        const reply = errorReply(refusal, requestId, rateLimitHeaders(status));
        return wire.write(responseHead(reply, requestId)) + wire.write(reply.body as string);
      },
    };
  },
);
