import { rateLimitHeaders } from '../../../src/access/limit-headers.ts';
import { errorReply } from '../../../src/faces/error-reply.ts';
import { responseHead } from '../../../src/http/reply-text.ts';
import { nextRequestId } from '../../../src/http/request-id.ts';
import { randomLimitStatuses } from '../access/limit-statuses.ts';
import type { MicroBenchmark } from '../micro.ts';

const errorReplyCalls = 1_000;

export const errorReplyBenchmark: MicroBenchmark = {
  name: 'faces/error-reply: refusal by a limit',
  call: 'head and body of one 429, and their bytes',
  prepare: () => {
    const statuses = randomLimitStatuses(errorReplyCalls);
    const wire = Buffer.alloc(4_096);
    return {
      calls: errorReplyCalls,
      run: () => {
        let bytes = 0;
        for (const status of statuses) {
          const refusal = { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: status.resetSeconds } as const;
          const requestId = nextRequestId();
          const reply = errorReply(refusal, requestId, rateLimitHeaders(status));
          bytes += wire.write(responseHead(reply, requestId)) + wire.write(reply.body as string);
        }
        return bytes;
      },
    };
  },
};
