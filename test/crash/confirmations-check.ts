import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { ConfirmationBatch, viewOf } from './confirmation-batch.ts';
import type { ConfirmationRow, IssuedClick, RowVerdict } from './confirmation-row.ts';
import { inParallel } from './in-parallel.ts';
import type { SessionRecord } from './session-record.ts';
import type { VerificationOptions } from './verification-options.ts';
import { answered, confirmationsOf } from './wire.ts';

/** docs/contract.md#confirmations: as many as one request may carry. */
const rowsPerRequest = 500;

/**
 * Sends the confirmations that a crash left in doubt again. What comes back must agree with the figures its session was
 * found with: a row that counts there is a repeat, and one that does not is accepted now. Sent once more, they are all repeats.
 */
export async function settleConfirmations(options: VerificationOptions, session: SessionRecord): Promise<void> {
  const doubt = session.takeDoubt();
  if (doubt === null) return;
  const batch = new ConfirmationBatch();
  for (const row of doubt.rows) if (!batch.add(session, row)) break;
  const { verdicts } = batch;
  const possible = doubt.booked.map((booked) =>
    verdicts.map((verdict, index): RowVerdict => (index < booked ? 'repeated' : verdict)),
  );
  await expectAnswer(options, batch, possible);
  batch.settle();

  const { tally } = options;
  const found = doubt.booked[0]!;
  tally.add('confirmations in doubt found booked', found);
  tally.add('confirmations in doubt settled by sending them again', batch.size - found);
  tally.add('clicks restored by a confirmation', batch.restored);
  const again = batch.verdictsAgain();
  if (again !== null) await expectAnswer(options, batch, [again]);
}

/** A click that was only ever shown by a view that is lost is none, even with its click_id (docs/contract.md#views). */
export async function refuseUnshown(
  options: VerificationOptions,
  session: SessionRecord,
  issued: IssuedClick,
): Promise<void> {
  const row: ConfirmationRow = {
    offerId: issued.offerId,
    txid: 'unshown',
    status: 'funded',
    amountMicros: 1_000_000,
    occurredMs: Date.now(),
    issued,
    isDoublyNamed: false,
    spoilt: null,
  };
  const batch = new ConfirmationBatch();
  batch.add(session, row);
  assert.deepEqual(batch.verdicts, [session.mode === 'test' ? 'sandbox' : 'click_unknown']);
  await expectAnswer(options, batch, [batch.verdicts]);
}

/** Every payout there ever was is known: sent again, it is a repeat, and books nothing. */
export async function repeatAllConfirmations(
  options: VerificationOptions,
  sessions: readonly SessionRecord[],
): Promise<void> {
  const known = sessions.flatMap((session) => session.payouts.rows.map((row) => ({ session, row })));
  const batches: ConfirmationBatch[] = [];
  for (const [index, { session, row }] of known.entries()) {
    if (index % rowsPerRequest === 0) batches.push(new ConfirmationBatch());
    batches.at(-1)!.add(session, row);
  }
  await inParallel(batches, async (batch) => {
    assert.ok(batch.verdicts.every((verdict) => verdict === 'repeated'));
    await expectAnswer(options, batch, [batch.verdicts]);
    options.tally.add('confirmations repeated at the end', batch.size);
  });
}

async function expectAnswer(
  { wire }: VerificationOptions,
  batch: ConfirmationBatch,
  possible: readonly (readonly RowVerdict[])[],
): Promise<void> {
  let times = 0;
  const answer = await answered(() => {
    times++;
    return wire.confirm(batch.bodies());
  });
  const view = confirmationsOf(answer);
  // What was told 503 before may have been booked all the same.
  const wanted = times === 1 ? possible : [...possible, possible[0]!.map(asRepeated)];
  if (wanted.some((verdicts) => isDeepStrictEqual(viewOf(verdicts), view))) return;
  const rows = JSON.stringify(batch.bodies());
  throw new Error(`${rows} came to ${JSON.stringify(view)}, where they may come to ${JSON.stringify(possible)}`);
}

function asRepeated(verdict: RowVerdict): RowVerdict {
  return verdict === 'accepted' ? 'repeated' : verdict;
}
