import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Mode, RowView } from '../../src/index.ts';
import { clickIdOf } from '../support/click-id-of.ts';
import { personalLoansFixture } from '../support/personal-loans-fixture.ts';
import { ConfirmationBatch, type ConfirmationRow, type IssuedClick, type RowVerdict, viewOf } from './confirmations.ts';
import { inParallel, type TagSessions, type VerificationOptions } from './expectations.ts';
import {
  addFigures,
  expectedReport,
  expectedRow,
  type Figures,
  noFigures,
  type ReportedFigures,
  readFigures,
  readRow,
  readSummary,
} from './figures.ts';
import type { SessionRecord } from './session-record.ts';
import { confirmationsOf, dailyOf, retryUntilAnswered, rowsOf, summaryOf } from './wire.ts';

const idsPerQuery = 500;
/** As many as one page holds (docs/contract.md#pages). */
const rowsPerQuery = 100;

export async function checkFigures(options: VerificationOptions, session: SessionRecord): Promise<void> {
  const { wire, partners, expectations, tally } = options;
  const { subId, mode } = session;
  const summary = summaryOf(
    await retryUntilAnswered(() => wire.queryAnalytics(partners[mode], { sub_id_list: subId })),
  );
  assert.equal(summary.sessions_total, 1, `the session ${subId} (tag ${session.tag}) is not in the analytics once`);
  const expected = session.figures;
  const found = readSummary(summary);
  session.reconcile(found, expectations.durableBefore);
  session.isFrozen = false;
  tally.add('views lost before they were durable or answered', expected.views - found.views);
  const { lostLink } = session;
  if (lostLink !== null) {
    const redirect = await wire.click(lostLink.path);
    assert.equal(redirect?.status, 302);
    const { offerId, micros } = lostLink;
    const clickId = clickIdOf(personalLoansFixture, offerId, redirect!, mode);
    await refuseUnshown(options, session, { offerId, micros, clickId });
    tally.add('clicks on what a lost view showed');
  }
  tally.add('sessions compared after a restart');
}

export async function checkTag({ wire, partners, tally }: VerificationOptions, book: TagSessions): Promise<void> {
  const partner = partners[book.mode];
  const query = { referrer_tag: book.tag };
  const summary = summaryOf(await retryUntilAnswered(() => wire.queryAnalytics(partner, query)));
  const orphans = book.orphans;
  book.reconcile(summary.sessions_total);
  tally.add('unanswered creations found without a key', book.orphans - orphans);
  const name = `the tag ${book.tag} (${book.mode})`;
  compareSum(name, readSummary(summary), book.sessions, book.certain);

  const { data } = dailyOf(
    await retryUntilAnswered(() => wire.queryAnalytics(partner, { ...query, granularity: 'daily' })),
  );
  let sessions = 0;
  for (const day of data) {
    const ofDay = book.sessions.filter(({ createdMs }) => new Date(createdMs).toISOString().startsWith(day.date));
    // Sessions whose creation went unanswered may be of any day.
    assert.ok(day.sessions_total >= ofDay.length, `${name} lacks sessions of ${day.date}`);
    compareSum(`${name} on ${day.date}`, readFigures(day), ofDay, day.sessions_total);
    sessions += day.sessions_total;
  }
  assert.equal(sessions, book.certain, `the days of ${name} are not all of it`);
  tally.add('tags compared after a restart');
}

/** Every session answered since the beginning, by its id. */
export async function compareAllSessions(
  { wire, partners, expectations }: VerificationOptions,
  mode: Mode,
): Promise<void> {
  await inParallel(listsOf(expectations.sessions(mode), idsPerQuery), async (list) => {
    const summary = summaryOf(await retryUntilAnswered(() => wire.queryAnalytics(partners[mode], idsOf(list))));
    assert.equal(summary.sessions_total, list.length, 'sessions that were there once are not in the analytics');
    compareSum(`${list.length} sessions asked for by id`, readSummary(summary), list, list.length);
  });
}

/** These sessions of one mode, one by one, and each of them lender by lender. */
export async function compareRows(
  { wire, partners, tally }: VerificationOptions,
  mode: Mode,
  sessions: readonly SessionRecord[],
): Promise<void> {
  await inParallel(listsOf(sessions, rowsPerQuery), async (list) => {
    const query = { ...idsOf(list), granularity: 'row' };
    const { data, has_more: hasMore } = rowsOf(
      await retryUntilAnswered(() => wire.queryAnalytics(partners[mode], query)),
    );
    assert.equal(hasMore, false);
    const rows = new Map(data.map((row): [string, RowView] => [row.sub_id, row]));
    assert.deepEqual([data.length, rows.size], [list.length, list.length], 'not one row for each session');
    for (const session of list) {
      const [found, wanted] = [readRow(rows.get(session.subId)!), expectedRow(session)];
      if (isDeepStrictEqual(found, wanted)) continue;
      throw new Error(`the row of ${session.subId} tells ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
    }
    tally.add('rows compared after a restart', list.length);
  });
}

function listsOf(sessions: readonly SessionRecord[], size: number): SessionRecord[][] {
  const lists: SessionRecord[][] = [];
  for (let from = 0; from < sessions.length; from += size) lists.push(sessions.slice(from, from + size));
  return lists;
}

function idsOf(sessions: readonly SessionRecord[]): { readonly sub_id_list: string } {
  return { sub_id_list: sessions.map(({ subId }) => subId).join(',') };
}

/** @param count of all the sessions asked about, those among them that have done nothing that is known included. */
function compareSum(what: string, found: ReportedFigures, sessions: readonly SessionRecord[], count: number): void {
  const sum = sessions.reduce((so: Figures, { figures }) => addFigures(so, figures), noFigures);
  const wanted = expectedReport(sum, count);
  if (isDeepStrictEqual(found, wanted)) return;
  throw new Error(`${what}: ${JSON.stringify(found)} is not the sum of its sessions, ${JSON.stringify(wanted)}`);
}

/** docs/contract.md#confirmations: as many as one request may carry. */
const rowsPerRequest = 500;

/**
 * Sends the confirmations that a crash left in doubt again. What comes back must agree with the figures its session was
 * found with: a row that counts there is a repeat, and one that does not is accepted now. Sent once more, they are all repeats.
 */
export async function retryUncertainConfirmations(options: VerificationOptions, session: SessionRecord): Promise<void> {
  const doubt = session.takeUncertainConfirmations();
  if (doubt === null) return;
  const batch = new ConfirmationBatch();
  for (const row of doubt.rows) if (!batch.add(session, row)) break;
  const { verdicts } = batch;
  const possible = doubt.booked.map((booked) =>
    verdicts.map((verdict, index): RowVerdict => (index < booked ? 'repeated' : verdict)),
  );
  await expectAnswer(options, batch, possible);
  batch.markDurable();

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
  const answer = await retryUntilAnswered(() => {
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
