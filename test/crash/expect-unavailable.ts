import type { Answer } from '../support/http-client.ts';
import type { Tally } from './tally.ts';
import { unexpected } from './wire.ts';

/** A loaded server may say so at any time (docs/contract.md#error-codes); nothing else is an answer to a request that is in order. */
export function expectUnavailable(answer: Answer, tally: Tally): void {
  if (answer.status !== 503) throw unexpected(answer);
  tally.add('requests told 503');
}
