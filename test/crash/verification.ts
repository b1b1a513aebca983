import assert from 'node:assert/strict';
import { type Random, wholeNumber } from '../../bench/population/random.ts';
import type { MarketplaceView, Mode } from '../../src/index.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import type { Expectations } from './expectations.ts';
import { addFigures, figuresOf, noFigures, sameFigures } from './figures.ts';
import { offerLink } from './offer-link.ts';
import type { Partner } from './partner.ts';
import { mergeFields, readinessOf } from './pocket-fields.ts';
import { SessionRecord } from './session-record.ts';
import type { TagBook } from './tag-book.ts';
import type { Tally } from './tally.ts';
import { answered, inputsOf, marketplaceOf, sessionOf, summaryOf, type Wire } from './wire.ts';

/** Questions asked at a time. */
const asked = 8;
const idsPerQuery = 500;
const maxOffers = 20;
/** Looked at after every restart though nothing was asked of them lately. */
const sampled = { sessions: 50, keys: 25, tags: 25 };
/** Sessions whose offers are compared after every restart, besides those with an unanswered merge. */
const offersCompared = 25;
/** Sessions whose offers others are compared with; nothing is expected of them. */
const referenceTag = 'reference';

export interface VerificationOptions {
  readonly wire: Wire;
  readonly partners: Readonly<Record<Mode, Partner>>;
  readonly expectations: Expectations;
  readonly tally: Tally;
  readonly random: Random;
}

/**
 * Judges a restarted server by what the callers know, while nobody else asks it anything, and settles what they did not
 * know. What must hold:
 *
 * - A session, a merge or a click that was answered is there, once. One that was not may be there, once. A retry with the
 *   same Idempotency-Key finds the first if there is one.
 * - A view does not wait for the log (D8), so one that was answered may be gone; but then so is everything of its session
 *   that came after it, and nothing in the whole service that came after it had been answered as durable. A click on what
 *   only a lost view showed redirects and counts nothing (D10).
 * - Every figure of a tag is the sum of its sessions' figures.
 */
export async function verify(options: VerificationOptions): Promise<void> {
  const { expectations } = options;
  await settleUnansweredKeys(options);
  await repeatKnownKeys(options);

  const touched = [...expectations.touched];
  await inParallel(touched, (session) => settleFigures(options, session));
  const ofOffers = new Set([
    ...touched.filter(({ pendingMerge }) => pendingMerge !== null),
    ...sample(options.random, touched, offersCompared),
  ]);
  const others = modes.flatMap((mode) => expectations.sessions(mode));
  const looked = new Set([...touched, ...sample(options.random, others, sampled.sessions)]);
  await inParallel([...looked], (session) => compareFields(options, session, ofOffers.has(session)));

  const books = [...expectations.books];
  const openBooks = books.filter(({ unresolved }) => unresolved > 0);
  const touchedBooks = touched.map(({ tag, mode }) => expectations.book(tag, mode));
  const lookedBooks = new Set([...openBooks, ...touchedBooks, ...sample(options.random, books, sampled.tags)]);
  await inParallel([...lookedBooks], (book) => settleTag(options, book));
  for (const mode of modes) await compareAllSessions(options, mode);
  // What has been read is durable, the views of this verification included.
  for (const session of looked) session.settleAll();
  expectations.touched.clear();
}

/** As `verify` left it, every session there ever was is live, and its fields are what its merges made of them. */
export async function verifyAllFields(options: VerificationOptions): Promise<void> {
  const sessions = modes.flatMap((mode) => options.expectations.sessions(mode));
  await inParallel(sessions, (session) => compareFields(options, session, false));
}

const modes = ['live', 'test'] as const;

async function settleUnansweredKeys({ wire, expectations, tally }: VerificationOptions): Promise<void> {
  const unanswered = expectations.keyedUnanswered.splice(0);
  await inParallel(unanswered, async (creation) => {
    const { partner, body, idempotencyKey, book, adopt } = creation;
    const answer = await answered(() => wire.createSession(partner, body, idempotencyKey));
    const existed = answer.headers.get('idempotency-replayed') === 'true';
    tally.add(existed ? 'unanswered creations found by their key' : 'unanswered creations made again with their key');
    const view = sessionOf(answer);
    const session = new SessionRecord(view.sub_id, book.tag, book.mode);
    book.created(session);
    adopt(session);
    expectations.touched.add(session);
    expectations.keyed.push({ ...creation, answer: view });
  });
}

async function repeatKnownKeys({ wire, expectations, tally, random }: VerificationOptions): Promise<void> {
  const { keyed } = expectations;
  // The latest are those a crash may have cost.
  const repeated = new Set([...keyed.slice(-sampled.keys), ...sample(random, keyed, sampled.keys)]);
  await inParallel([...repeated], async ({ partner, body, idempotencyKey, answer }) => {
    const repeat = await answered(() => wire.createSession(partner, body, idempotencyKey));
    assert.deepEqual(sessionOf(repeat), answer, `the key ${idempotencyKey} gets another answer than before`);
    assert.equal(repeat.headers.get('idempotency-replayed'), 'true');
    tally.add('creations repeated with their key');
  });
}

async function settleFigures(
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

/** The fields of a session are what the answered merges made of them, with or without one that was not answered. */
async function compareFields(options: VerificationOptions, session: SessionRecord, offersToo: boolean): Promise<void> {
  const { wire, partners, tally } = options;
  const { subId, mode, fields, pendingMerge } = session;
  const partner = partners[mode];
  const held = inputsOf(await answered(() => wire.submitInputs(partner, subId, {})));
  const candidates = [fields, ...(pendingMerge === null ? [] : [mergeFields(fields, pendingMerge)])];
  let fitting = candidates.filter((candidate) => {
    const { match_readiness, missing_required, missing_conditional } = readinessOf(candidate);
    const wanted = { sub_id: subId, fields_accepted: [], fields_unknown: [], match_readiness };
    return JSON.stringify(held) === JSON.stringify({ ...wanted, missing_required, missing_conditional });
  });
  if (fitting.length > 0 && offersToo && held.match_readiness !== 'insufficient') {
    const view = await viewOf(options, partner, subId);
    const offers = comparable(view);
    // What its clicks are worth is not known where the credit band is not.
    const links =
      pendingMerge === null ? view.offers.map((offer) => offerLink(offer, mode, fields.credit_score_range)) : [];
    session.viewed(links, options.expectations.now());
    const references = await Promise.all(fitting.map((candidate) => referenceOffers(options, partner, candidate)));
    fitting = fitting.filter((_, index) => references[index] === offers);
    tally.add('sessions whose offers were compared');
  }
  if (fitting.length === 0) {
    const wanted = JSON.stringify(candidates);
    throw new Error(
      `the fields of ${subId} (tag ${session.tag}) are not ${wanted}: ${JSON.stringify(held)}${offersToo ? ', or its offers are not theirs' : ''}`,
    );
  }
  if (pendingMerge !== null) {
    // As its caller would: whatever became of the first, the same again leaves nothing open.
    const again = inputsOf(await answered(() => wire.submitInputs(partner, subId, pendingMerge)));
    session.fields = mergeFields(fields, pendingMerge);
    session.pendingMerge = null;
    assert.equal(again.match_readiness, readinessOf(session.fields).match_readiness);
  }
  tally.add('fields compared after a restart');
}

/** The offers of a new session that is given these fields at once. */
async function referenceOffers(options: VerificationOptions, partner: Partner, fields: Fields): Promise<string> {
  const { wire } = options;
  const created = await answered(() => wire.createSession(partner, { referrer_tag: referenceTag }, null));
  const { sub_id: subId } = sessionOf(created);
  await answered(() => wire.submitInputs(partner, subId, fields));
  return comparable(await viewOf(options, partner, subId));
}

async function viewOf({ wire }: VerificationOptions, partner: Partner, subId: string): Promise<MarketplaceView> {
  return marketplaceOf(await answered(() => wire.getMarketplace(partner, subId, maxOffers)));
}

/** Everything an answer says that depends on the borrower's fields. */
function comparable(view: MarketplaceView): string {
  const offers = view.offers.map(({ click_url: _, ...offer }) => offer);
  return JSON.stringify([view.match_quality, view.total_offers, offers]);
}

async function settleTag({ wire, partners, tally }: VerificationOptions, book: TagBook): Promise<void> {
  const partner = partners[book.mode];
  const summary = summaryOf(await answered(() => wire.queryAnalytics(partner, { referrer_tag: book.tag })));
  const orphans = book.orphans;
  book.settle(summary.sessions_total);
  tally.add('unanswered creations found without a key', book.orphans - orphans);
  compareSum(`the tag ${book.tag} (${book.mode})`, figuresOf(summary), book.sessions);
  tally.add('tags compared after a restart');
}

/** Every session answered since the beginning, by its id. */
async function compareAllSessions({ wire, partners, expectations }: VerificationOptions, mode: Mode): Promise<void> {
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

function sample<Item>(random: Random, items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, () => items[wholeNumber(random, 0, items.length - 1)]!);
}

async function inParallel<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: asked }, worker));
}
