import { isDeepStrictEqual } from 'node:util';
import { chance, pickWeighted, type Random, type WeightedTable, wholeNumber } from '../../bench/population/random.ts';
import type { ConfirmationsView } from '../../src/index.ts';
import { ConfirmationBatch, type ConfirmationRow, sessionMicrosMax, viewOf } from './confirmations.ts';
import type { LoadOptions } from './expectations.ts';
import type { SessionRecord } from './session-record.ts';
import { confirmationsOf, expectUnavailable } from './wire.ts';

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
  const sentAt = expectations.nextMoment();
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
  if (batch.markDurable()) expectations.markDurableBefore(sentAt);
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

/** Few enough that one name is used again: for another offer, which is fine, or for the same, which is a conflict. */
const txids = 40;
const longAgoMs = Date.UTC(2001, 0, 1);
const dayMs = 24 * 60 * 60 * 1000;
const neverOffered = 'never-offered';

type Draw = (session: SessionRecord, random: Random) => ConfirmationRow;

/** What a lender may have to say of a session: new payouts, some of them taken back, some told again, and some nonsense. */
export function drawConfirmation(session: SessionRecord, random: Random): ConfirmationRow {
  return pickWeighted(random, draws)(session, random);
}

const draws: WeightedTable<Draw> = [
  [fund, 10],
  [reverse, 4],
  [tellAgain, 4],
  [contradict, 1],
  [reverseUnknown, 1],
  [nameUnclicked, 1],
  [mistime, 1],
  [spoil, 1],
];

function fund(session: SessionRecord, random: Random): ConfirmationRow {
  // Clicks made last are those a crash may have cost.
  const { issued } = session;
  const at = chance(random, 0.5) ? issued.length - 1 : wholeNumber(random, 0, issued.length - 1);
  const offerId = issued[at]?.offerId ?? neverOffered;
  return {
    ...named(session, offerId, random),
    txid: `tx-${wholeNumber(random, 1, txids)}`,
    status: 'funded',
    amountMicros: pickWeighted(random, amounts)(random),
    occurredMs: Date.now(),
    spoilt: null,
  };
}

const amounts: WeightedTable<(random: Random) => number> = [
  [(random) => wholeNumber(random, 1, 50_000) * 10_000, 6],
  // No cent of an answer tells these apart.
  [(random) => wholeNumber(random, 1, 40_000_000), 4],
  // A few of these are more than a session may earn.
  [(random) => wholeNumber(random, 20_000, 90_000) * 1_000_000, 0.3],
];

/** In full, so that nothing is left of it, or in part. */
function reverse(session: SessionRecord, random: Random): ConfirmationRow {
  const standing = session.payouts.rows.filter((row) => row.status === 'funded' && !session.payouts.isReversed(row));
  const funded = oneOf(standing, random);
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

/** The very same, though its click may be named in another way. */
function tellAgain(session: SessionRecord, random: Random): ConfirmationRow {
  const booked = oneOf(session.payouts.rows, random);
  if (booked === undefined) return fund(session, random);
  return chance(random, 0.5) ? booked : { ...booked, ...named(session, booked.offerId, random) };
}

function contradict(session: SessionRecord, random: Random): ConfirmationRow {
  const booked = tellAgain(session, random);
  return chance(random, 0.5)
    ? { ...booked, amountMicros: booked.amountMicros + 1 }
    : { ...booked, occurredMs: booked.occurredMs - 1 };
}

/** Of a payout that nobody has told of, or of more than was told. */
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
  const spoilt = oneOf(spoilings, random)!;
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
  // A click that does not count yet cannot be named but by its click_id.
  const byId = chance(random, session.counted.has(offerId) ? 0.5 : 0.9);
  return {
    offerId,
    issued: byId ? (oneOf(issued, random) ?? null) : null,
    isDoublyNamed: chance(random, 0.2),
  };
}

function oneOf<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items[wholeNumber(random, 0, items.length - 1)];
}
