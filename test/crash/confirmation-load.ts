import { isDeepStrictEqual } from 'node:util';
import {
  chance,
  pickRandomByWeight,
  type Random,
  type WeightedTable,
  wholeNumber,
} from '../../bench/population/random.ts';
import type { ConfirmationsResponse } from '../../src/index.ts';
import { ConfirmationBatch, type ConfirmationRow, sessionMicrosMax } from './confirmations.ts';
import { drawOne, type LoadOptions } from './expectations.ts';
import type { SessionRecord } from './session-record.ts';
import { confirmationsOf, isAccepted, repeat } from './wire.ts';

const rowsMax = 12;

/** Sends confirmations (docs/contract.md#confirmations) of sessions without other pending requests. Sends some requests twice at once. */
export async function loadConfirmations(
  { wire, random, expectations, tally }: LoadOptions,
  sessions: readonly SessionRecord[],
): Promise<void> {
  const batch = drawBatch(random, sessions);
  if (batch.size === 0) return;
  for (const session of batch.sessions) expectations.touched.add(session);

  const bodies = batch.bodies();
  const body = bodies.length === 1 && chance(random, 0.5) ? bodies[0]! : bodies;
  const first = batch.viewOf(batch.verdicts);
  const verdictsAgain = chance(random, 0.2) ? batch.verdictsAgain() : null;
  const expected = verdictsAgain === null ? [first] : [first, batch.viewOf(verdictsAgain)];
  const sentAt = expectations.nextMoment();
  const answers = await repeat(expected.length, () => wire.confirm(body));

  const views = answers.filter((answer) => isAccepted(answer, tally)).map(confirmationsOf);
  if (views.length === 0 || views.some(({ unknown }) => unknown > 0)) {
    tally.add('confirmations unanswered', first.accepted);
    for (const session of batch.sessions) session.isFrozen = true;
    return;
  }
  if (!areExpected(views, expected)) {
    const [rows, found, wanted] = [body, views, expected].map((part) => JSON.stringify(part));
    throw new Error(`confirmations ${rows} got the answers ${found} instead of ${wanted}`);
  }
  if (batch.markDurable()) expectations.markDurableBefore(sentAt);
  tally.add('confirmations accepted', first.accepted);
  tally.add('confirmations repeated', first.repeated + (views.length > 1 ? expected[1]!.repeated : 0));
  tally.add('confirmations rejected', first.rejected);
  tally.add('clicks restored by a confirmation', batch.restored);
}

function drawBatch(random: Random, sessions: readonly SessionRecord[]): ConfirmationBatch {
  const batch = new ConfirmationBatch();
  const rows = chance(random, 0.4) ? 1 : wholeNumber(random, 2, rowsMax);
  let hasReversals = false;
  for (let drawn = 0; drawn < rows; drawn++) {
    const session = drawOne(random, sessions)!;
    const row = pickRandomByWeight(random, draws)(session, random);
    // The service applies payouts before reversals, so the model adds no payout after a reversal.
    if (hasReversals && row.status === 'funded') continue;
    hasReversals ||= row.status === 'reversed';
    batch.add(session, row);
  }
  batch.mixReversals(random);
  return batch;
}

/** Of two requests at once, either may be the first, and either may not be answered. */
function areExpected(views: readonly ConfirmationsResponse[], expected: readonly ConfirmationsResponse[]): boolean {
  if (views.length < expected.length) return expected.some((view) => isDeepStrictEqual(view, views[0]));
  return isDeepStrictEqual(views, expected) || isDeepStrictEqual(views, expected.toReversed());
}

/** Number of transaction ids. It is small, so that ids are reused for other offers and, with a conflict, for the same offer. */
const txids = 40;
const longAgoMs = Date.UTC(2001, 0, 1);
const dayMs = 24 * 60 * 60 * 1000;
const neverOffered = 'never-offered';

type Draw = (session: SessionRecord, random: Random) => ConfirmationRow;

const draws: WeightedTable<Draw> = [
  [fund, 10],
  [reverse, 4],
  [repeatBooked, 4],
  [contradict, 1],
  [reverseUnknown, 1],
  [nameUnclicked, 1],
  [mistime, 1],
  [spoil, 1],
];

function fund(session: SessionRecord, random: Random): ConfirmationRow {
  // A crash may lose the last click.
  const { issued } = session;
  const at = chance(random, 0.5) ? issued.length - 1 : wholeNumber(random, 0, issued.length - 1);
  const offerId = issued[at]?.offerId ?? neverOffered;
  return {
    ...named(session, offerId, random),
    txid: `tx-${wholeNumber(random, 1, txids)}`,
    status: 'funded',
    amountMicros: pickRandomByWeight(random, amounts)(random),
    occurredMs: Date.now(),
    spoilt: null,
  };
}

const amounts: WeightedTable<(random: Random) => number> = [
  [(random) => wholeNumber(random, 1, 50_000) * 10_000, 6],
  // Amounts with fractions of a cent.
  [(random) => wholeNumber(random, 1, 40_000_000), 4],
  // The sum of a few of these amounts exceeds the limit of a session.
  [(random) => wholeNumber(random, 20_000, 90_000) * 1_000_000, 0.3],
];

/** Reverses a payout completely or in part. */
function reverse(session: SessionRecord, random: Random): ConfirmationRow {
  const standing = session.payouts.rows.filter((row) => row.status === 'funded' && !session.payouts.isReversed(row));
  const funded = drawOne(random, standing);
  if (funded === undefined) return fund(session, random);
  const amountMicros = chance(random, 0.5) ? funded.amountMicros : wholeNumber(random, 1, funded.amountMicros);
  return {
    ...funded,
    ...named(session, funded.offerId, random),
    status: 'reversed',
    amountMicros,
    occurredMs: Date.now(),
  };
}

/** Repeats a booked row, possibly with another reference to its click. */
function repeatBooked(session: SessionRecord, random: Random): ConfirmationRow {
  const booked = drawOne(random, session.payouts.rows);
  if (booked === undefined) return fund(session, random);
  return chance(random, 0.5) ? booked : { ...booked, ...named(session, booked.offerId, random) };
}

function contradict(session: SessionRecord, random: Random): ConfirmationRow {
  const booked = repeatBooked(session, random);
  return chance(random, 0.5)
    ? { ...booked, amountMicros: booked.amountMicros + 1 }
    : { ...booked, occurredMs: booked.occurredMs - 1 };
}

/** Reverses an unknown payout, or more than the payout. */
function reverseUnknown(session: SessionRecord, random: Random): ConfirmationRow {
  const row = reverse(session, random);
  if (row.status === 'funded') return { ...row, status: 'reversed', txid: 'never-funded' };
  if (chance(random, 0.5)) return { ...row, txid: 'never-funded' };
  return { ...row, amountMicros: Math.min(row.amountMicros * 2 + 1, sessionMicrosMax) };
}

function nameUnclicked(session: SessionRecord, random: Random): ConfirmationRow {
  const unclicked = session.links.find(({ offerId }) => !session.counted.has(offerId))?.offerId ?? neverOffered;
  return { ...fund(session, random), offerId: unclicked, issued: null };
}

function mistime(session: SessionRecord, random: Random): ConfirmationRow {
  return { ...fund(session, random), occurredMs: chance(random, 0.5) ? longAgoMs : Date.now() + dayMs };
}

function spoil(session: SessionRecord, random: Random): ConfirmationRow {
  const row = fund(session, random);
  const spoilt = drawOne(random, spoilings)!;
  if (spoilt.reason !== 'click_mismatch' || row.issued !== null) return { ...row, spoilt };
  return { ...row, spoilt: spoilings[0]! };
}

const spoilings: readonly NonNullable<ConfirmationRow['spoilt']>[] = [
  { members: { amount: 0 }, reason: 'amount_invalid' },
  { members: { amount: 1.0000001 }, reason: 'amount_invalid' },
  { members: { txid: 'two words' }, reason: 'txid_invalid' },
  { members: { status: 'paid' }, reason: 'status_invalid' },
  { members: { occurred_at: '2026-02-30T00:00:00Z' }, reason: 'occurred_at_invalid' },
  { members: { click_id: 'AVs1' }, reason: 'click_id_invalid' },
  { members: { click_id: null, sub_id: 'sub_1', svc_offer_id: neverOffered }, reason: 'sub_id_invalid' },
  { members: { click_id: null, sub_id: null }, reason: 'click_missing' },
  { members: { svc_offer_id: neverOffered }, reason: 'click_mismatch' },
];

function named(
  session: SessionRecord,
  offerId: string,
  random: Random,
): Pick<ConfirmationRow, 'offerId' | 'issued' | 'isDoublyNamed'> {
  const issued = session.issued.filter((click) => click.offerId === offerId);
  // A click that does not count yet is known only by its click_id.
  const byId = chance(random, session.counted.has(offerId) ? 0.5 : 0.9);
  return {
    offerId,
    issued: byId ? (drawOne(random, issued) ?? null) : null,
    isDoublyNamed: chance(random, 0.2),
  };
}
