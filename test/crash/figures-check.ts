import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { getOrAdd } from '../../src/domain/get-or-add.ts';
import type { ApiKeyMode, OfferAnalytics, SessionFigures } from '../../src/index.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import {
  ConfirmationBatch,
  type ConfirmationRow,
  type IssuedClick,
  type RowVerdict,
  revenueChangeMicros,
} from './confirmations.ts';
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
import { confirmationsOf, dailyOf, offersOf, querySummary, retryUntilAnswered, rowsOf } from './wire.ts';

const idsPerQuery = 500;
/** Maximum length of a page (docs/contract.md#pages). */
const rowsPerQuery = 100;

/** Checks the figures of a session and adopts what a crash lost. A click on a lost view must not count. */
export async function checkFigures(options: VerificationOptions, session: SessionRecord): Promise<void> {
  const { wire, partners, expectations, tally } = options;
  const { subId, mode } = session;
  const summary = await querySummary(wire, partners[mode], { sub_id_list: subId });
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
    const clickId = clickIdFromRedirect(personalLoansFixture, offerId, redirect!, mode);
    await refuseUnshown(options, session, { offerId, micros, clickId });
    tally.add('clicks on offers of lost views');
  }
  tally.add('sessions compared after a restart');
}

export async function checkTag({ wire, partners, tally }: VerificationOptions, tag: TagSessions): Promise<void> {
  const partner = partners[tag.mode];
  const query = { referrer_tag: tag.tag };
  const summary = await querySummary(wire, partner, query);
  const orphans = tag.orphans;
  tag.reconcile(summary.sessions_total);
  tally.add('unanswered creations found without a key', tag.orphans - orphans);
  const name = `the tag ${tag.tag} (${tag.mode})`;
  compareSum(name, readSummary(summary), tag.sessions, tag.certain);

  const { data } = dailyOf(
    await retryUntilAnswered(() => wire.queryAnalytics(partner, { ...query, granularity: 'daily' })),
  );
  let sessions = 0;
  for (const day of data) {
    const ofDay = tag.sessions.filter(({ createdMs }) => new Date(createdMs).toISOString().startsWith(day.date));
    // Sessions whose creation was not answered may have any day.
    assert.ok(day.sessions_total >= ofDay.length, `${name} lacks sessions of ${day.date}`);
    compareSum(`${name} on ${day.date}`, readFigures(day), ofDay, day.sessions_total);
    sessions += day.sessions_total;
  }
  assert.equal(sessions, tag.certain, `the days of ${name} are not all of it`);
  compareOffers(
    name,
    offersOf(await retryUntilAnswered(() => wire.queryAnalytics(partner, { ...query, granularity: 'offer' }))),
    tag.sessions,
  );
  tally.add('tags compared after a restart');
}

/** Compares the clicks and the confirmed revenue of each offer. An offer with a click was shown at least as often. */
function compareOffers(name: string, { data, has_more }: OfferAnalytics, sessions: readonly SessionRecord[]): void {
  assert.equal(has_more, false);
  const expected = new Map<string, { clicks: number; confirmedMicros: number }>();
  for (const { counted, payouts } of sessions) {
    for (const offerId of counted) getOrAdd(expected, offerId, () => ({ clicks: 0, confirmedMicros: 0 })).clicks++;
    for (const row of payouts.rows) expected.get(row.offerId)!.confirmedMicros += revenueChangeMicros(row);
  }
  const clicked = data.filter(({ offer_clicks }) => offer_clicks > 0);
  assert.deepEqual(
    new Map(
      clicked.map((offer) => [
        offer.svc_offer_id,
        { clicks: offer.offer_clicks, confirmedMicros: Math.round(offer.rev_confirmed * 1_000_000) },
      ]),
    ),
    new Map([...expected].sort(([a], [b]) => (a < b ? -1 : 1))),
    `${name}: the figures of the offers are not the sum of the sessions`,
  );
  for (const { shown, offer_clicks } of data)
    assert.ok(shown > 0 && shown >= offer_clicks, `${name}: an offer was not shown`);
}

/** Compares the sums of all sessions of a mode, queried by id. */
export async function compareAllSessions(
  { wire, partners, expectations }: VerificationOptions,
  mode: ApiKeyMode,
): Promise<void> {
  await inParallel(listsOf(expectations.sessions(mode), idsPerQuery), async (list) => {
    const summary = await querySummary(wire, partners[mode], idsOf(list));
    assert.equal(summary.sessions_total, list.length, 'sessions that were there once are not in the analytics');
    compareSum(`${list.length} sessions asked for by id`, readSummary(summary), list, list.length);
  });
}

/** Compares the rows of sessions of one mode. */
export async function compareRows(
  { wire, partners, tally }: VerificationOptions,
  mode: ApiKeyMode,
  sessions: readonly SessionRecord[],
): Promise<void> {
  await inParallel(listsOf(sessions, rowsPerQuery), async (list) => {
    const query = { ...idsOf(list), granularity: 'row' };
    const { data, has_more: hasMore } = rowsOf(
      await retryUntilAnswered(() => wire.queryAnalytics(partners[mode], query)),
    );
    assert.equal(hasMore, false);
    const rows = new Map(data.map((row): [string, SessionFigures] => [row.sub_id, row]));
    assert.deepEqual([data.length, rows.size], [list.length, list.length], 'not one row for each session');
    for (const session of list) {
      const found = readRow(rows.get(session.subId)!);
      assert.deepEqual(found, expectedRow(session), `the row of ${session.subId} has other figures`);
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

/** @param count number of sessions, including those without known requests */
function compareSum(what: string, found: ReportedFigures, sessions: readonly SessionRecord[], count: number): void {
  const sum = sessions.reduce((so: Figures, { figures }) => addFigures(so, figures), noFigures);
  assert.deepEqual(found, expectedReport(sum, count), `${what}: the figures are not the sum of the sessions`);
}

/** Maximum number of confirmations per request (docs/contract.md#confirmations). */
const rowsPerRequest = 500;

/**
 * Repeats the confirmations whose outcome is unknown. The answer must agree with the figures of the session: a row that the figures contain
 * is a repeat, and another row is accepted now. After another repetition, all rows are repeats.
 */
export async function retryUncertainConfirmations(options: VerificationOptions, session: SessionRecord): Promise<void> {
  const uncertain = session.takeUncertainConfirmations();
  if (uncertain === null) return;
  const batch = new ConfirmationBatch();
  // The service applies payouts before reversals.
  const rows = uncertain.rows
    .map((row, index) => ({ row, index }))
    .sort((a, b) => Number(a.row.status === 'reversed') - Number(b.row.status === 'reversed'));
  for (const { row } of rows) if (!batch.add(session, row)) break;
  const { verdicts } = batch;
  const possible = uncertain.booked.map((booked) =>
    verdicts.map((verdict, place): RowVerdict => (rows[place]!.index < booked ? 'repeated' : verdict)),
  );
  await expectAnswer(options, batch, possible);
  batch.markDurable();

  const { tally } = options;
  const found = uncertain.booked[0]!;
  tally.add('unanswered confirmations that survived', found);
  tally.add('unanswered confirmations repeated', batch.size - found);
  tally.add('clicks restored by a confirmation', batch.restored);
  const again = batch.verdictsAgain();
  if (again !== null) await expectAnswer(options, batch, [again]);
}

/** Checks that a click on an offer of a lost view does not count, even with its click_id (docs/contract.md#views). */
async function refuseUnshown(options: VerificationOptions, session: SessionRecord, issued: IssuedClick): Promise<void> {
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

/** Repeats all confirmations. None is booked again. */
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
  let attempts = 0;
  const answer = await retryUntilAnswered(() => {
    attempts++;
    return wire.confirm(batch.bodies());
  });
  const view = confirmationsOf(answer);
  // A request that was answered with 503 may have been booked.
  const wanted = attempts === 1 ? possible : [...possible, possible[0]!.map(asRepeated)];
  if (wanted.some((verdicts) => isDeepStrictEqual(batch.viewOf(verdicts), view))) return;
  const rows = JSON.stringify(batch.bodies());
  throw new Error(`${rows} came to ${JSON.stringify(view)}, where they may come to ${JSON.stringify(possible)}`);
}

function asRepeated(verdict: RowVerdict): RowVerdict {
  return verdict === 'accepted' ? 'repeated' : verdict;
}
