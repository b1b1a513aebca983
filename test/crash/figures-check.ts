import assert from 'node:assert/strict';
import type { Mode } from '../../src/index.ts';
import { addFigures, figuresOf, noFigures, sameFigures } from './figures.ts';
import { inParallel } from './in-parallel.ts';
import type { SessionRecord } from './session-record.ts';
import type { TagBook } from './tag-book.ts';
import type { VerificationOptions } from './verification-options.ts';
import { answered, summaryOf } from './wire.ts';

const idsPerQuery = 500;

export async function settleFigures(
  { wire, partners, expectations, tally }: VerificationOptions,
  session: SessionRecord,
): Promise<void> {
  const { subId, mode } = session;
  const summary = summaryOf(await answered(() => wire.queryAnalytics(partners[mode], { sub_id_list: subId })));
  assert.equal(summary.sessions_total, 1, `the session ${subId} (tag ${session.tag}) is not in the analytics once`);
  const expected = session.figures;
  const found = figuresOf(summary);
  session.settle(found, expectations.barrier);
  session.isFrozen = false;
  tally.add('views lost before they were durable or answered', expected.views - found.views);
  if (session.lostLink !== null) {
    assert.equal((await wire.click(session.lostLink.path))?.status, 302);
    tally.add('clicks on what a lost view showed');
  }
  tally.add('sessions compared after a restart');
}

export async function settleTag({ wire, partners, tally }: VerificationOptions, book: TagBook): Promise<void> {
  const partner = partners[book.mode];
  const summary = summaryOf(await answered(() => wire.queryAnalytics(partner, { referrer_tag: book.tag })));
  const orphans = book.orphans;
  book.settle(summary.sessions_total);
  tally.add('unanswered creations found without a key', book.orphans - orphans);
  compareSum(`the tag ${book.tag} (${book.mode})`, figuresOf(summary), book.sessions);
  tally.add('tags compared after a restart');
}

/** Every session answered since the beginning, by its id. */
export async function compareAllSessions(
  { wire, partners, expectations }: VerificationOptions,
  mode: Mode,
): Promise<void> {
  const sessions = expectations.sessions(mode);
  const lists: SessionRecord[][] = [];
  for (let from = 0; from < sessions.length; from += idsPerQuery) lists.push(sessions.slice(from, from + idsPerQuery));
  await inParallel(lists, async (list) => {
    const query = { sub_id_list: list.map(({ subId }) => subId).join(',') };
    const summary = summaryOf(await answered(() => wire.queryAnalytics(partners[mode], query)));
    assert.equal(summary.sessions_total, list.length, 'sessions that were there once are not in the analytics');
    compareSum(`${list.length} sessions asked for by id`, figuresOf(summary), list);
  });
}

function compareSum(what: string, found: ReturnType<typeof figuresOf>, sessions: readonly SessionRecord[]): void {
  const sum = sessions.reduce((so, { figures }) => addFigures(so, figures), noFigures);
  if (sameFigures(found, sum)) return;
  throw new Error(`${what}: ${JSON.stringify(found)} is not the sum of its sessions, ${JSON.stringify(sum)}`);
}
