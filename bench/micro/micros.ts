import { apiKeyBenchmark } from './access/api-key.ts';
import { dayCountBenchmark } from './access/day-count.ts';
import { authenticatorBenchmarks } from './access/gatekeeper.ts';
import { slidingWindowBenchmarks } from './access/sliding-window.ts';
import { projectionBenchmark } from './analytics/ledger-follower.ts';
import { calibrationBenchmark } from './calibration.ts';
import { clickIdBenchmarks } from './clicks/click-id.ts';
import { clickTokenBenchmarks } from './clicks/offer-value-seal.ts';
import { ledgerAppendBenchmarks } from './events/file-event-log.ts';
import { logFormatBenchmarks } from './events/log-format.ts';
import { recordDecoderBenchmarks } from './events/record-decoder.ts';
import { sessionResponseBenchmark } from './faces/api-face.ts';
import { errorReplyBenchmark } from './faces/error-reply.ts';
import { replyTextBenchmark } from './http/reply-text.ts';
import { requestTallyBenchmarks } from './metrics/request-tally.ts';
import type { MicroBenchmark } from './micro.ts';
import { matchBenchmarks } from './offers/match.ts';
import { matchBatchBenchmarks } from './offers/match-batch.ts';
import { offerJsonBenchmarks } from './offers/offer-json.ts';
import { createSessionBenchmark } from './operations/create-session.ts';
import { sessionStoreBenchmarks } from './sessions/memory-session-store.ts';
import { mergeBenchmark } from './sessions/session-part.ts';
import { subIdBenchmarks } from './sessions/sub-id.ts';
import { validateFieldsBenchmark } from './verticals/validate-fields.ts';
import { widgetTokenBenchmarks } from './widgets/widget-token.ts';

/** Sessions held when a store is used; a run takes those up to its most live sessions. */
const storeSizes = [1_000, 10_000, 100_000, 1_000_000];

/** Every hot function there is, about in the order in which a request meets them; those that fill the memory come last. */
export function listMicroBenchmarks({
  quick,
  liveSessions,
}: {
  readonly quick: boolean;
  readonly liveSessions: number;
}): MicroBenchmark[] {
  return [
    calibrationBenchmark,
    apiKeyBenchmark,
    ...authenticatorBenchmarks,
    ...slidingWindowBenchmarks,
    dayCountBenchmark,
    ...subIdBenchmarks,
    createSessionBenchmark,
    sessionResponseBenchmark,
    validateFieldsBenchmark,
    mergeBenchmark,
    ...matchBatchBenchmarks,
    ...matchBenchmarks(quick),
    ...clickTokenBenchmarks,
    ...offerJsonBenchmarks,
    replyTextBenchmark,
    errorReplyBenchmark,
    ...requestTallyBenchmarks,
    ...widgetTokenBenchmarks,
    ...clickIdBenchmarks,
    ...recordDecoderBenchmarks,
    ...logFormatBenchmarks,
    ...ledgerAppendBenchmarks,
    projectionBenchmark,
    ...sessionStoreBenchmarks(storeSizes.filter((size) => size <= liveSessions)),
  ];
}
