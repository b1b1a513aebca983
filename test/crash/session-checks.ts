import assert from 'node:assert/strict';
import { bounds } from '../../src/bounds.ts';
import type { Fields } from '../support/vertical-fixture.ts';
import { type Expectations, inParallel, sample, type VerificationOptions } from './expectations.ts';
import { expectedReport, readSummary } from './figures.ts';
import { isReady, mergeFields, offerLink, readinessOf } from './personal-loans-rules.ts';
import { createPartner, type Partner } from './server-process.ts';
import { SessionRecord } from './session-record.ts';
import { linksOf } from './widget-load.ts';
import {
  inputsOf,
  marketplaceOf,
  querySummary,
  retryUntilAnswered,
  type ServerConnections,
  sessionOf,
  unexpected,
} from './wire.ts';

/** Number of last keys, and of other keys, that are repeated after each restart. A crash may lose the last keys. */
const repeatedKeys = 25;
const maxOffers = 20;

/** Repeats the keyed creations that were not answered. */
export async function retryUnansweredKeys({ wire, expectations, tally }: VerificationOptions): Promise<void> {
  await inParallel(expectations.keyedUnanswered.splice(0), async (creation) => {
    const { partner, body, idempotencyKey, tag, adopt } = creation;
    const answer = await retryUntilAnswered(() => wire.createSession(partner, body, idempotencyKey));
    const existed = answer.headers.get('idempotency-replayed') === 'true';
    tally.add(existed ? 'unanswered creations found by their key' : 'unanswered creations repeated with their key');
    const view = sessionOf(answer);
    const session = new SessionRecord(view, tag.tag, tag.mode);
    tag.addCreated(session);
    adopt(session);
    expectations.touched.add(session);
    expectations.keyed.push({ ...creation, answer: view });
  });
}

/** Repeats creations that were answered. They must get the same answer. */
export async function repeatKnownKeys({ wire, expectations, tally, random }: VerificationOptions): Promise<void> {
  const { keyed } = expectations;
  const repeated = new Set([...keyed.slice(-repeatedKeys), ...sample(random, keyed, repeatedKeys)]);
  await inParallel([...repeated], async ({ partner, body, idempotencyKey, answer }) => {
    const repeat = await retryUntilAnswered(() => wire.createSession(partner, body, idempotencyKey));
    assert.deepEqual(sessionOf(repeat), answer, `the key ${idempotencyKey} gets another answer`);
    assert.equal(repeat.headers.get('idempotency-replayed'), 'true');
    tally.add('creations repeated with their key');
  });
}

/** Checks that a session has the fields of all answered merges, with or without the fields of an unanswered merge. */
export async function compareFields(
  options: VerificationOptions,
  session: SessionRecord,
  comparesOffers: boolean,
): Promise<void> {
  const { wire, partners, tally, expectations } = options;
  const { subId, mode, fields, pendingMerge } = session;
  const partner = partners[mode];
  const found = inputsOf(await retryUntilAnswered(() => wire.submitInputs(partner, subId, {})));
  const candidates = [fields, ...(pendingMerge === null ? [] : [mergeFields(fields, pendingMerge)])];
  let fitting = candidates.filter((candidate) => {
    const { match_readiness, missing_required, missing_conditional } = readinessOf(candidate);
    const accepted = { sub_id: subId, fields_accepted: [], fields_unknown: [] };
    return (
      JSON.stringify(found) === JSON.stringify({ ...accepted, match_readiness, missing_required, missing_conditional })
    );
  });
  if (fitting.length > 0 && comparesOffers && found.match_readiness !== 'insufficient') {
    const { view, text } = await getOffers(wire, partner, subId);
    // With an uncertain credit band, the values of the clicks are unknown.
    const links =
      pendingMerge === null ? view.offers.map((offer) => offerLink(offer, mode, fields.credit_score_range)) : [];
    session.addView(links, expectations.nextMoment());
    const texts = await Promise.all(fitting.map((candidate) => getOffersOf(wire, partner, candidate)));
    fitting = fitting.filter((_, index) => texts[index] === text);
    tally.add('sessions whose offers were compared');
  }
  assert.ok(
    fitting.length > 0,
    `${subId} (tag ${session.tag}) does not have the fields or the offers of ${JSON.stringify(candidates)}: ${JSON.stringify(found)}`,
  );
  if (pendingMerge !== null) {
    const again = inputsOf(await retryUntilAnswered(() => wire.submitInputs(partner, subId, pendingMerge)));
    session.fields = mergeFields(fields, pendingMerge);
    session.pendingMerge = null;
    assert.equal(again.match_readiness, readinessOf(session.fields).match_readiness);
  }
  tally.add('fields compared after a restart');
}

/** Returns the offers of a new session with these fields. */
async function getOffersOf(wire: ServerConnections, partner: Partner, fields: Fields): Promise<string> {
  const created = await retryUntilAnswered(() => wire.createSession(partner, { referrer_tag: 'reference' }, null));
  const { sub_id: subId } = sessionOf(created);
  await retryUntilAnswered(() => wire.submitInputs(partner, subId, fields));
  return (await getOffers(wire, partner, subId)).text;
}

/** Returns the answer with offers, and a text of all its members that depend only on the fields. */
async function getOffers(wire: ServerConnections, partner: Partner, subId: string) {
  const view = marketplaceOf(await retryUntilAnswered(() => wire.getMarketplace(partner, subId, maxOffers)));
  const offers = view.offers.map(({ click_url: _, ...offer }) => offer);
  return { view, text: JSON.stringify([view.match_quality, view.total_offers, offers]) };
}

/**
 * Continues the widgets of a session after a restart, with the token from before. A load whose view survived gets no other view, a load whose
 * view was lost gets a view now. Repeated reports count only the events that were lost.
 */
export async function checkWidgets(options: VerificationOptions, session: SessionRecord): Promise<void> {
  const { wire, partners, expectations, tally } = options;
  const { widget, subId, mode } = session;
  const { token } = widget;
  if (token === null) return;
  const link = { subId, token };
  for (const { report, counted } of session.takeUncertainReports()) {
    const lost = session.addReport(report).length;
    await retryUntilAnswered(() => wire.reportWidget(link, report), 204);
    tally.add('unanswered widget events that survived', counted.length - lost);
    tally.add('unanswered widget events counted when repeated', lost);
  }
  for (const report of widget.reports) {
    assert.equal(session.addReport(report).length, 0, 'all events were reported before');
    await retryUntilAnswered(() => wire.reportWidget(link, report), 204);
    tally.add('widget events repeated after a restart', report.events.length);
  }
  for (const load of widget.loads) {
    const asked = { load, sort: 'recommended', maxOffers } as const;
    const answer = await retryUntilAnswered(() => wire.showWidget(link, asked), isReady(session) ? 200 : 400);
    if (!isReady(session)) continue;
    const wasLost = widget.isViewLost(load);
    const isView = session.addWidgetResponse(load, linksOf(session, asked, answer), expectations.nextMoment());
    tally.add(isView ? 'widget views after a restart' : 'widget loads repeated after a restart');
    if (wasLost) tally.add('lost widget views repeated');
  }
  const found = readSummary(await querySummary(wire, partners[mode], { sub_id_list: subId }));
  assert.deepEqual(found, expectedReport(session.figures, 1), `${subId} has other figures after its widgets continued`);
  session.markDurable();
  tally.add('widgets continued after a restart');
}

/** Repeats all events of a session. None counts again. */
export async function repeatAllEvents(
  { wire, tally }: VerificationOptions,
  { widget, subId }: SessionRecord,
): Promise<void> {
  const { token, counted, loads } = widget;
  if (token === null) return;
  for (let from = 0; from < counted.length; from += bounds.widgetEventsPerBatchMax) {
    const events = counted.slice(from, from + bounds.widgetEventsPerBatchMax);
    const report = { load: loads[0] ?? '0'.repeat(16), events };
    await retryUntilAnswered(() => wire.reportWidget({ subId, token }, report), 204);
    tally.add('widget events repeated at the end', events.length);
  }
}

const sessionsPerDay = 30;

/** A key with a daily limit that is reached after a few restarts. All its sessions have one tag. */
export interface DayLimit {
  readonly partner: Partner;
  readonly tag: string;
}

export async function createDayLimit(dataDir: string, number: number): Promise<DayLimit> {
  return { partner: await createPartner(dataDir, 'live', sessionsPerDay), tag: `limited-${number}` };
}

/**
 * Checks that the count of the day survived the restart (docs/contract.md#sessions-per-day): while no request is pending, the headers of
 * another creation agree with the analytics. Returns false if the limit is reached.
 */
export async function checkDayLimit(
  { partner, tag }: DayLimit,
  wire: ServerConnections,
  expectations: Expectations,
): Promise<boolean> {
  const today = new Date().toISOString().slice(0, 10);
  const query = { referrer_tag: tag, date_from: today, date_to: today };
  const { sessions_total: before } = await querySummary(wire, partner, query);
  assert.ok(before <= sessionsPerDay, `${before} sessions of a key with a limit of ${sessionsPerDay} per day`);
  const answer = await wire.createSession(partner, { referrer_tag: tag }, null);
  if (answer === null) throw new Error('the server does not answer');
  const remaining = Number(answer.headers.get('x-ratelimit-remaining'));
  if (answer.status === 429) {
    assert.deepEqual({ before, remaining }, { before: sessionsPerDay, remaining: 0 });
    return false;
  }
  if (answer.status !== 200) throw unexpected(answer);
  const view = sessionOf(answer);
  const session = new SessionRecord(view, tag, 'live');
  const sessions = expectations.tagSessions(tag, 'live');
  sessions.unresolved++;
  sessions.addCreated(session);
  expectations.touched.add(session);
  // At midnight, the two requests may have different days.
  if (view.created_at.startsWith(today)) assert.equal(remaining, sessionsPerDay - before - 1);
  return true;
}
