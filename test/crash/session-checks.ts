import assert from 'node:assert/strict';
import { bounds } from '../../src/bounds.ts';
import type { MarketplaceView } from '../../src/index.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import { type Expectations, inParallel, sample, type TagSessions, type VerificationOptions } from './expectations.ts';
import { expectedReport, readSummary } from './figures.ts';
import { mergeFields, offerLink, readinessOf } from './personal-loans-rules.ts';
import { createPartner, type Partner } from './server-process.ts';
import { SessionRecord } from './session-record.ts';
import { linksOf } from './widget-load.ts';
import type { WidgetReport } from './widget-record.ts';
import {
  inputsOf,
  marketplaceOf,
  retryUntilAnswered,
  type ServerConnections,
  sessionOf,
  summaryOf,
  unexpected,
  type WidgetAsked,
  type WidgetLink,
} from './wire.ts';

/** Repeated after every restart, of those answered last and of all. */
const repeatedKeys = 25;

export async function retryUnansweredKeys({ wire, expectations, tally }: VerificationOptions): Promise<void> {
  const unanswered = expectations.keyedUnanswered.splice(0);
  await inParallel(unanswered, async (creation) => {
    const { partner, body, idempotencyKey, tag, adopt } = creation;
    const answer = await retryUntilAnswered(() => wire.createSession(partner, body, idempotencyKey));
    const existed = answer.headers.get('idempotency-replayed') === 'true';
    tally.add(existed ? 'unanswered creations found by their key' : 'unanswered creations made again with their key');
    const view = sessionOf(answer);
    const session = new SessionRecord(view, tag.tag, tag.mode);
    tag.addCreated(session);
    adopt(session);
    expectations.touched.add(session);
    expectations.keyed.push({ ...creation, answer: view });
  });
}

export async function repeatKnownKeys({ wire, expectations, tally, random }: VerificationOptions): Promise<void> {
  const { keyed } = expectations;
  // The latest are those a crash may have cost.
  const repeated = new Set([...keyed.slice(-repeatedKeys), ...sample(random, keyed, repeatedKeys)]);
  await inParallel([...repeated], async ({ partner, body, idempotencyKey, answer }) => {
    const repeat = await retryUntilAnswered(() => wire.createSession(partner, body, idempotencyKey));
    assert.deepEqual(sessionOf(repeat), answer, `the key ${idempotencyKey} gets another answer than before`);
    assert.equal(repeat.headers.get('idempotency-replayed'), 'true');
    tally.add('creations repeated with their key');
  });
}

/** Sessions whose offers others are compared with; nothing is expected of them. */
const referenceTag = 'reference';

/** The fields of a session are what the answered merges made of them, with or without one that was not answered. */
export async function compareFields(
  options: VerificationOptions,
  session: SessionRecord,
  offersToo: boolean,
): Promise<void> {
  const { wire, partners, tally } = options;
  const { subId, mode, fields, pendingMerge } = session;
  const partner = partners[mode];
  const held = inputsOf(await retryUntilAnswered(() => wire.submitInputs(partner, subId, {})));
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
    session.addView(links, options.expectations.nextMoment());
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
    const again = inputsOf(await retryUntilAnswered(() => wire.submitInputs(partner, subId, pendingMerge)));
    session.fields = mergeFields(fields, pendingMerge);
    session.pendingMerge = null;
    assert.equal(again.match_readiness, readinessOf(session.fields).match_readiness);
  }
  tally.add('fields compared after a restart');
}

/** The offers of a new session that is given these fields at once. */
async function referenceOffers(options: VerificationOptions, partner: Partner, fields: Fields): Promise<string> {
  const { wire } = options;
  const created = await retryUntilAnswered(() => wire.createSession(partner, { referrer_tag: referenceTag }, null));
  const { sub_id: subId } = sessionOf(created);
  await retryUntilAnswered(() => wire.submitInputs(partner, subId, fields));
  return comparable(await viewOf(options, partner, subId));
}

async function viewOf({ wire }: VerificationOptions, partner: Partner, subId: string): Promise<MarketplaceView> {
  return marketplaceOf(await retryUntilAnswered(() => wire.getMarketplace(partner, subId, maxOffers)));
}

/** Everything an answer says that depends on the borrower's fields. */
function comparable(view: MarketplaceView): string {
  const offers = view.offers.map(({ click_url: _, ...offer }) => offer);
  return JSON.stringify([view.match_quality, view.total_offers, offers]);
}

const maxOffers = 20;

/**
 * Goes on with the widgets that a restart found open, as their pages would, with the token from before. A load whose view
 * survived gets offers and no other view, and one whose view is lost gets it now. Reports sent again count where a crash took
 * them back, and nowhere else.
 */
export async function checkWidgets(options: VerificationOptions, session: SessionRecord): Promise<void> {
  const { tally } = options;
  const { widget, subId } = session;
  const { token } = widget;
  if (token === null) return;
  const link = { subId, token };
  for (const { report, counted } of session.takeUncertainReports()) {
    const lost = session.addReport(report).length;
    await tellAgain(options, link, report);
    tally.add('widget events in doubt found counted', counted.length - lost);
    tally.add('widget events in doubt settled by sending them again', lost);
  }
  for (const report of widget.reports) {
    assert.equal(session.addReport(report).length, 0, 'all there is to tell has been told');
    await tellAgain(options, link, report);
    tally.add('widget events repeated after a restart', report.events.length);
  }
  for (const load of widget.loads) await showAgain(options, session, link, load);
  await compareSession(options, session);
}

/** Every event there ever was is known: sent again, it counts nothing. */
export async function repeatAllEvents(options: VerificationOptions, { widget, subId }: SessionRecord): Promise<void> {
  const { token, counted, loads } = widget;
  if (token === null) return;
  for (let from = 0; from < counted.length; from += bounds.widgetEventsPerBatchMax) {
    const events = counted.slice(from, from + bounds.widgetEventsPerBatchMax);
    await tellAgain(options, { subId, token }, { load: loads[0] ?? '0'.repeat(16), events });
    options.tally.add('widget events repeated at the end', events.length);
  }
}

async function tellAgain({ wire }: VerificationOptions, link: WidgetLink, report: WidgetReport): Promise<void> {
  await retryUntilAnswered(() => wire.reportWidget(link, report), 204);
}

async function showAgain(
  { wire, expectations, tally }: VerificationOptions,
  session: SessionRecord,
  link: WidgetLink,
  load: string,
): Promise<void> {
  const asked: WidgetAsked = { load, sort: 'recommended', maxOffers };
  const ask = () => wire.showWidget(link, asked);
  if (readinessOf(session.fields).match_readiness === 'insufficient') {
    await retryUntilAnswered(ask, 400);
    return;
  }
  const links = linksOf(session, asked, await retryUntilAnswered(ask));
  const isOwed = session.widget.isViewLost(load);
  const isView = session.addWidgetResponse(load, links, expectations.nextMoment());
  tally.add(isView ? 'widget views after a restart' : 'widget loads with their view asked again after a restart');
  if (isOwed) tally.add('widget views lost and made up for by asking again');
}

async function compareSession({ wire, partners, tally }: VerificationOptions, session: SessionRecord): Promise<void> {
  const query = { sub_id_list: session.subId };
  const summary = summaryOf(await retryUntilAnswered(() => wire.queryAnalytics(partners[session.mode], query)));
  const [found, wanted] = [readSummary(summary), expectedReport(session.figures, 1)];
  assert.deepEqual(found, wanted, `the widgets of ${session.subId} (tag ${session.tag}) went on to other figures`);
  session.markDurable();
  tally.add('widgets gone on with after a restart');
}

const sessionsPerDay = 30;

/** A key that comes to the end of its day after a few restarts, and then makes room for another. All its sessions have one tag. */
export class DayLimit {
  readonly partner: Partner;
  readonly tag: string;

  private constructor(partner: Partner, tag: string) {
    this.partner = partner;
    this.tag = tag;
  }

  static async issue(dataDir: string, number: number): Promise<DayLimit> {
    return new DayLimit(await createPartner(dataDir, 'live', sessionsPerDay), `limited-${number}`);
  }

  /**
   * The day's count survives a restart (docs/contract.md#sessions-per-day): nothing is under way, so the headers of one more must say
   * what the analytics say. False once the key is used up, and a restart has not let it go on.
   */
  async check(wire: ServerConnections, expectations: Expectations): Promise<boolean> {
    const tag: TagSessions = expectations.tagSessions(this.tag, 'live');
    const today = new Date().toISOString().slice(0, 10);
    const before = await this.#createdOn(today, wire);
    assert.ok(before <= sessionsPerDay, `${before} sessions of a key that may create ${sessionsPerDay} a day`);
    const answer = await wire.createSession(this.partner, { referrer_tag: this.tag }, null);
    if (answer === null) throw new Error('the server does not answer');
    const remaining = Number(answer.headers.get('x-ratelimit-remaining'));
    if (answer.status === 429) {
      assert.deepEqual({ before, remaining }, { before: sessionsPerDay, remaining: 0 });
      return false;
    }
    if (answer.status !== 200) throw unexpected(answer);
    const view = sessionOf(answer);
    const session = new SessionRecord(view, this.tag, 'live');
    tag.addAttempt();
    tag.addCreated(session);
    expectations.touched.add(session);
    // Right at midnight the two questions are about two days.
    if (view.created_at.startsWith(today)) {
      assert.deepEqual({ before, remaining }, { before, remaining: sessionsPerDay - before - 1 });
    }
    return true;
  }

  async #createdOn(day: string, wire: ServerConnections): Promise<number> {
    const query = { referrer_tag: this.tag, date_from: day, date_to: day };
    return summaryOf(await retryUntilAnswered(() => wire.queryAnalytics(this.partner, query))).sessions_total;
  }
}
