import { limitHeaders } from '../../../src/access/limit-headers.ts';
import { errorReply } from '../../../src/faces/error-reply.ts';
import { headText } from '../../../src/http/reply-text.ts';
import { nextRequestId } from '../../../src/http/request-id.ts';
import { drawLimitStatuses } from '../access/limit-statuses.ts';
import type { Micro } from '../micro.ts';

const calls = 1_000;

export const errorReplyMicro: Micro = {
  name: 'faces/error-reply: refusal by a limit',
  call: 'head and body of one 429, and their bytes',
  prepare: () => {
    const statuses = drawLimitStatuses(calls);
    const wire = Buffer.alloc(4_096);
    return {
      calls,
      run: () => {
        let bytes = 0;
        for (const status of statuses) {
          const refusal = { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: status.resetSeconds } as const;
          const requestId = nextRequestId();
          const reply = errorReply(refusal, requestId, limitHeaders(status));
          bytes += wire.write(headText(reply, requestId)) + wire.write(reply.body as string);
        }
        return bytes;
      },
    };
  },
};
