import { isDeepStrictEqual } from 'node:util';
import { chance, type Random, wholeNumber } from '../../bench/population/random.ts';
import type { ConfirmationsView } from '../../src/index.ts';
import { ConfirmationBatch, viewOf } from './confirmation-batch.ts';
import { drawConfirmation } from './draw-confirmation.ts';
import { expectUnavailable } from './expect-unavailable.ts';
import type { LoadOptions } from './load-options.ts';
import type { SessionRecord } from './session-record.ts';
import { confirmationsOf } from './wire.ts';

const rowsMax = 12;

/**
 * Sends a batch of confirmations of these sessions (docs/contract.md#confirmations), which nothing else uses meanwhile. Now and then the
 * same batch is sent twice at once: then one is the first and the other finds all of it booked.
 */
export async function loadConfirmations(
  { wire, random, expectations, tally }: LoadOptions,
  sessions: readonly SessionRecord[],
): Promise<void> {
  const batch = drawBatch(random, sessions);
  if (batch.size === 0) return;
  for (const session of batch.sessions) expectations.touched.add(session);

  const bodies = batch.bodies();
  const body = bodies.length === 1 && chance(random, 0.5) ? bodies[0]! : bodies;
  const first = viewOf(batch.verdicts);
  const verdictsAgain = chance(random, 0.2) ? batch.verdictsAgain() : null;
  const wanted = verdictsAgain === null ? [first] : [first, viewOf(verdictsAgain)];
  const sentAt = expectations.now();
  const answers = await Promise.all(wanted.map(() => wire.confirm(body)));

  for (const answer of answers) if (answer !== null && answer.status !== 200) expectUnavailable(answer, tally);
  const views = answers.filter((answer) => answer?.status === 200).map((answer) => confirmationsOf(answer!));
  if (views.length === 0 || views.some(({ unknown }) => unknown > 0)) {
    tally.add('confirmations in doubt', first.accepted);
    for (const session of batch.sessions) session.isFrozen = true;
    return;
  }
  if (!areAsWanted(views, wanted)) {
    const [rows, got, must] = [body, views, wanted].map((part) => JSON.stringify(part));
    throw new Error(`confirmations ${rows} got the answers ${got}, where they must get ${must}`);
  }
  if (batch.settle()) expectations.durableSince(sentAt);
  tally.add('confirmations accepted', first.accepted);
  tally.add('confirmations repeated', first.repeated + (views.length > 1 ? wanted[1]!.repeated : 0));
  tally.add('confirmations rejected', first.rejected);
  tally.add('clicks restored by a confirmation', batch.restored);
}

function drawBatch(random: Random, sessions: readonly SessionRecord[]): ConfirmationBatch {
  const batch = new ConfirmationBatch();
  const rows = chance(random, 0.4) ? 1 : wholeNumber(random, 2, rowsMax);
  for (let drawn = 0; drawn < rows; drawn++) {
    const session = sessions[wholeNumber(random, 0, sessions.length - 1)]!;
    batch.add(session, drawConfirmation(session, random));
  }
  return batch;
}

/** Which of two requests at once is the first is open, and either may go unanswered. */
function areAsWanted(views: readonly ConfirmationsView[], wanted: readonly ConfirmationsView[]): boolean {
  if (views.length < wanted.length) return wanted.some((view) => isDeepStrictEqual(view, views[0]));
  return isDeepStrictEqual(views, wanted) || isDeepStrictEqual(views, wanted.toReversed());
}
