import { limitHeaders } from '../../../src/access/limit-headers.ts';
import { jsonHeaders } from '../../../src/faces/error-reply.ts';
import { headText } from '../../../src/http/reply-text.ts';
import { nextRequestId } from '../../../src/http/request-id.ts';
import { drawLimitStatuses } from '../access/limit-statuses.ts';
import type { Micro } from '../micro.ts';

const calls = 1_000;

export const replyTextMicro: Micro = {
  name: 'http/reply-text: head of an answer with its limits',
  call: 'status line, request id and headers of one answer, and their bytes',
  prepare: () => {
    const statuses = drawLimitStatuses(calls);
    const wire = Buffer.alloc(4_096);
    return {
      calls,
      run: () => {
        let bytes = 0;
        for (const status of statuses) {
          const reply = { status: 200, headers: limitHeaders(status) + jsonHeaders, body: '' };
          bytes += wire.write(headText(reply, nextRequestId()));
        }
        return bytes;
      },
    };
  },
};
