import { rateLimitHeaders } from '../../../src/access/limit-headers.ts';
import { jsonHeaders } from '../../../src/faces/error-reply.ts';
import { responseHead } from '../../../src/http/reply-text.ts';
import { nextRequestId } from '../../../src/http/request-id.ts';
import { randomLimitStatuses } from '../access/limit-statuses.ts';
import type { MicroBenchmark } from '../micro.ts';

const replyTextCalls = 1_000;

export const replyTextBenchmark: MicroBenchmark = {
  name: 'http/reply-text: head of an answer with its limits',
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
