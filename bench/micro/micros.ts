import { apiKeyMicro } from './access/api-key.ts';
import { dayCountMicro } from './access/day-count.ts';
import { gatekeeperMicros } from './access/gatekeeper.ts';
import { slidingWindowMicros } from './access/sliding-window.ts';
import { ledgerFollowerMicro } from './analytics/ledger-follower.ts';
import { calibrationMicro } from './calibration.ts';
import { clickIdMicros } from './clicks/click-id.ts';
import { offerValueSealMicros } from './clicks/offer-value-seal.ts';
import { fileEventLogMicros } from './events/file-event-log.ts';
import { logFormatMicros } from './events/log-format.ts';
import { recordDecoderMicros } from './events/record-decoder.ts';
import { sessionAnswerMicro } from './faces/api-face.ts';
import { errorReplyMicro } from './faces/error-reply.ts';
import { replyTextMicro } from './http/reply-text.ts';
import { requestTallyMicros } from './metrics/request-tally.ts';
import type { Micro } from './micro.ts';
import { matchMicros } from './offers/match.ts';
import { matchBatchMicros } from './offers/match-batch.ts';
import { offerJsonMicros } from './offers/offer-json.ts';
import { createSessionMicro } from './operations/create-session.ts';
import { sessionStoreMicros } from './sessions/memory-session-store.ts';
import { mergeMicro } from './sessions/session-part.ts';
import { subIdMicros } from './sessions/sub-id.ts';
import { validateFieldsMicro } from './verticals/validate-fields.ts';
import { widgetTokenMicros } from './widgets/widget-token.ts';

/** Sessions held when a store is used; a run takes those up to its most live sessions. */
const storeSizes = [1_000, 10_000, 100_000, 1_000_000];

/** Every hot function there is, about in the order in which a request meets them; those that fill the memory come last. */
export function microsFor({
  quick,
  liveSessions,
}: {
  readonly quick: boolean;
  readonly liveSessions: number;
}): Micro[] {
  return [
    calibrationMicro,
    apiKeyMicro,
    ...gatekeeperMicros,
    ...slidingWindowMicros,
    dayCountMicro,
    ...subIdMicros,
    createSessionMicro,
    sessionAnswerMicro,
    validateFieldsMicro,
    mergeMicro,
    ...matchBatchMicros,
    ...matchMicros(quick),
    ...offerValueSealMicros,
    ...offerJsonMicros,
    replyTextMicro,
    errorReplyMicro,
    ...requestTallyMicros,
    ...widgetTokenMicros,
    ...clickIdMicros,
    ...recordDecoderMicros,
    ...logFormatMicros,
    ...fileEventLogMicros,
    ledgerFollowerMicro,
    ...sessionStoreMicros(storeSizes.filter((size) => size <= liveSessions)),
  ];
}
