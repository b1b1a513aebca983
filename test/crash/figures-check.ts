import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Mode, RowView } from '../../src/index.ts';
import { clickIdOf } from '../support/click-ids.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { refuseUnshown } from './confirmations-check.ts';
import {
  addFigures,
  type Figures,
  figuresOf,
  noFigures,
  sameFigures,
  type ToldFigures,
  tell,
  toldOf,
} from './figures.ts';
import { inParallel } from './in-parallel.ts';
import { rowFiguresOf, tellRow } from './row-figures.ts';
import type { SessionRecord } from './session-record.ts';
import type { TagBook } from './tag-book.ts';
import type { VerificationOptions } from './verification-options.ts';
import { answered, dailyOf, rowsOf, summaryOf } from './wire.ts';

const idsPerQuery = 500;
/** As many as one page holds (docs/contract.md#pages). */
const rowsPerQuery = 100;

export async function settleFigures(options: VerificationOptions, session: SessionRecord): Promise<void> {
  const { wire, partners, expectations, tally } = options;
  const { subId, mode } = session;
  const summary = summaryOf(await answered(() => wire.queryAnalytics(partners[mode], { sub_id_list: subId })));
  assert.equal(summary.sessions_total, 1, `the session ${subId} (tag ${session.tag}) is not in the analytics once`);
  const expected = session.figures;
  const found = figuresOf(summary);
  session.settle(found, expectations.barrier);
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

export async function settleTag({ wire, partners, tally }: VerificationOptions, book: TagBook): Promise<void> {
  const partner = partners[book.mode];
  const query = { referrer_tag: book.tag };
  const summary = summaryOf(await answered(() => wire.queryAnalytics(partner, query)));
  const orphans = book.orphans;
  book.settle(summary.sessions_total);
  tally.add('unanswered creations found without a key', book.orphans - orphans);
  const name = `the tag ${book.tag} (${book.mode})`;
  compareSum(name, figuresOf(summary), book.sessions, book.certain);

  const { data } = dailyOf(await answered(() => wire.queryAnalytics(partner, { ...query, granularity: 'daily' })));
  let sessions = 0;
  for (const day of data) {
    const ofDay = book.sessions.filter(({ createdMs }) => new Date(createdMs).toISOString().startsWith(day.date));
    // Sessions whose creation went unanswered may be of any day.
    assert.ok(day.sessions_total >= ofDay.length, `${name} lacks sessions of ${day.date}`);
    compareSum(`${name} on ${day.date}`, toldOf(day), ofDay, day.sessions_total);
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
    const summary = summaryOf(await answered(() => wire.queryAnalytics(partners[mode], idsOf(list))));
    assert.equal(summary.sessions_total, list.length, 'sessions that were there once are not in the analytics');
    compareSum(`${list.length} sessions asked for by id`, figuresOf(summary), list, list.length);
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
    const { data, has_more: hasMore } = rowsOf(await answered(() => wire.queryAnalytics(partners[mode], query)));
    assert.equal(hasMore, false);
    const rows = new Map(data.map((row): [string, RowView] => [row.sub_id, row]));
    assert.deepEqual([data.length, rows.size], [list.length, list.length], 'not one row for each session');
    for (const session of list) {
      const [found, wanted] = [rowFiguresOf(rows.get(session.subId)!), tellRow(session)];
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
function compareSum(what: string, found: ToldFigures, sessions: readonly SessionRecord[], count: number): void {
  const sum = sessions.reduce((so: Figures, { figures }) => addFigures(so, figures), noFigures);
  const wanted = tell(sum, count);
  if (sameFigures(found, wanted)) return;
  throw new Error(`${what}: ${JSON.stringify(found)} is not the sum of its sessions, ${JSON.stringify(wanted)}`);
}
