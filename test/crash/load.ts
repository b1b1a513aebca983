import assert from 'node:assert/strict';
import { chance, pickRandomByWeight, type WeightedTable, wholeNumber } from '../../bench/population/random.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { loadConfirmations } from './confirmation-load.ts';
import { drawOne, type KeyedCreation, type LoadOptions } from './expectations.ts';
import { visitorCount } from './experiments.ts';
import { expectedReport, readSummary } from './figures.ts';
import { drawMerge, isReady, mergeFields, offerLink, readinessOf } from './personal-loans-rules.ts';
import type { Partner } from './server-process.ts';
import { SessionRecord } from './session-record.ts';
import { useWidget } from './widget-load.ts';
import {
  expectInsufficient,
  inputsOf,
  isAccepted,
  marketplaceOf,
  repeat,
  sessionOf,
  summaryOf,
  unexpected,
} from './wire.ts';

/** A redirect may be sent before its record is durable after this time (docs/contract.md#clicks-without-a-record). */
const lateClickMs = 500;
/** Number of last sessions that a caller mostly uses. */
const recentSessions = 12;
/** Maximum number of sessions per confirmation request. */
const confirmedTogether = 3;

/**
 * Random requests of one caller, one after another, until the connection is lost. Adds requests and answers to the expectations, and throws
 * if an answer does not agree with them.
 */
export class Load {
  readonly #options: LoadOptions;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  readonly #actions: WeightedTable<() => Promise<void>> = [
    [() => this.#createSession(), 8],
    [() => this.#createLimitedSession(), 1],
    [() => this.#repeatCreation(), 3],
    [() => this.#withSession((session) => this.#submitInputs(session)), 28],
    [() => this.#withSession((session) => this.#getMarketplace(session)), 26],
    [() => this.#withSession((session) => this.#useWidget(session)), 26],
    [() => this.#withSession((session) => this.#click(session)), 22],
    [() => this.#withSession((session) => this.#issueUnrecordedClick(session)), 3],
    [() => this.#confirm(), 14],
    [() => this.#withSession((session) => this.#querySession(session)), 5],
    [() => this.#queryTag(), 3],
  ];

  async run(): Promise<void> {
    const { wire, random } = this.#options;
    while (!wire.isLost) await pickRandomByWeight(random, this.#actions)();
  }

  async #withSession(act: (session: SessionRecord) => Promise<void>): Promise<void> {
    const session = this.#drawSession(this.#options.caller.sessions);
    if (session === null) return;
    this.#options.expectations.touched.add(session);
    await act(session);
  }

  #drawSession(sessions: readonly SessionRecord[]): SessionRecord | null {
    const { random } = this.#options;
    const recent = chance(random, 0.85) ? sessions.slice(-recentSessions) : sessions;
    const session = drawOne(random, recent);
    return session === undefined || session.isFrozen ? null : session;
  }

  async #createSession(): Promise<void> {
    const { caller, random, expectations } = this.#options;
    const name = `${caller.name}-${expectations.nextMoment()}`;
    // With a separate tag, one session can be queried without its id.
    const tag = chance(random, 0.15) ? `own-${name}` : this.#drawSharedTag();
    await this.#create(caller.partner, tag, chance(random, 0.5) ? name : null);
  }

  /** Uses no key, because the result of the first request would be unknown if the repetition exceeds the limit. */
  async #createLimitedSession(): Promise<void> {
    const { caller, limit } = this.#options;
    if (caller.partner.mode === limit.partner.mode) await this.#create(limit.partner, limit.tag, null);
  }

  async #create(partner: Partner, tagName: string, idempotencyKey: string | null): Promise<void> {
    const { caller, wire, random, expectations, tally } = this.#options;
    const tag = expectations.tagSessions(tagName, partner.mode);
    const body = {
      referrer_tag: tagName,
      ...(chance(random, 0.7) ? { unit_id: `visitor-${wholeNumber(random, 1, visitorCount)}` } : {}),
      ...(chance(random, 0.3) ? { user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)' } : {}),
      ...(chance(random, 0.3) ? { metadata: { caller: caller.name, moment: expectations.nextMoment() } } : {}),
    };
    const copies = idempotencyKey !== null && chance(random, 0.2) ? 2 : 1;
    tag.unresolved++;
    const sentAt = expectations.nextMoment();
    const answers = await repeat(copies, () => wire.createSession(partner, body, idempotencyKey));

    if (answers[0]?.status === 429 && partner.sessionsPerDay !== null) {
      tag.unresolved--;
      assert.ok(tag.possible >= partner.sessionsPerDay, 'a session was rejected before the daily limit');
      return tally.add('sessions rejected by the daily limit');
    }
    const adopt = (session: SessionRecord): void => void caller.sessions.push(session);
    const creation: KeyedCreation | null =
      idempotencyKey === null ? null : { partner, idempotencyKey, body, tag, adopt };
    const [first, second] = answers.filter((answer) => isAccepted(answer, tally));
    if (first === undefined) {
      if (creation !== null) expectations.keyedUnanswered.push(creation);
      return tally.add('sessions unanswered');
    }
    if (second !== undefined) {
      assert.deepEqual(sessionOf(second), sessionOf(first));
      const replays = [first, second].filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
      assert.equal(replays.length, 1, 'one of two requests with the same key is a repeat');
    }
    const view = sessionOf(first);
    expectations.markDurableBefore(sentAt);
    const session = new SessionRecord(view, tagName, partner.mode);
    tag.addCreated(session);
    adopt(session);
    expectations.touched.add(session);
    if (creation !== null) expectations.keyed.push({ ...creation, answer: view });
    tally.add('sessions answered');
  }

  async #repeatCreation(): Promise<void> {
    const { wire, random, expectations, tally } = this.#options;
    const creation = drawOne(random, expectations.keyed);
    if (creation === undefined) return;
    const answer = await wire.createSession(creation.partner, creation.body, creation.idempotencyKey);
    if (!isAccepted(answer, tally)) return;
    assert.deepEqual(sessionOf(answer), creation.answer, 'a repeated request gets the first answer');
    assert.equal(answer.headers.get('idempotency-replayed'), 'true');
    tally.add('creations repeated with their key');
  }

  async #submitInputs(session: SessionRecord): Promise<void> {
    const { caller, wire, random, tally } = this.#options;
    const merge = drawMerge(random);
    session.pendingMerge = merge;
    const answer = await wire.submitInputs(caller.partner, session.subId, merge);
    if (!isAccepted(answer, tally, session)) return tally.add('merges unanswered');
    session.pendingMerge = null;
    session.fields = mergeFields(session.fields, merge);
    assert.deepEqual(inputsOf(answer), {
      sub_id: session.subId,
      fields_accepted: Object.keys(merge),
      fields_unknown: [],
      ...readinessOf(session.fields),
    });
    tally.add('merges answered');
  }

  async #getMarketplace(session: SessionRecord): Promise<void> {
    const { caller, wire, random, expectations, tally } = this.#options;
    if (!isReady(session) && chance(random, 0.8)) return this.#submitInputs(session);
    const answer = await wire.getMarketplace(caller.partner, session.subId, wholeNumber(random, 1, 20));
    if (!isReady(session)) return expectInsufficient(answer);
    if (!isAccepted(answer, tally, session)) {
      session.addView([], Number.POSITIVE_INFINITY);
      return tally.add('views unanswered');
    }
    const { credit_score_range: creditBand } = session.fields;
    const links = marketplaceOf(answer).offers.map((offer) => offerLink(offer, session.mode, creditBand));
    session.addView(links, expectations.nextMoment());
    tally.add('views answered');
  }

  async #useWidget(session: SessionRecord): Promise<void> {
    if (!isReady(session) && chance(this.#options.random, 0.8)) return this.#submitInputs(session);
    await useWidget(this.#options, session);
  }

  async #click(session: SessionRecord): Promise<void> {
    const { wire, random, expectations, tally } = this.#options;
    const link = drawOne(random, session.links);
    if (link === undefined) return this.#getMarketplace(session);
    const copies = chance(random, 0.15) ? 2 : 1;
    const sentAt = expectations.nextMoment();
    const sentMs = performance.now();
    const answers = await repeat(copies, () => wire.click(link.path));
    const isLate = performance.now() - sentMs >= lateClickMs;
    for (const answer of answers) {
      if (answer === null) continue;
      if (answer.status !== 302) throw unexpected(answer);
      session.addClickId(link, clickIdFromRedirect(personalLoansFixture, link.offerId, answer, session.mode));
    }
    const isLost = answers.every((answer) => answer === null);
    const counts = session.addClick(link, isLost ? 'lost' : isLate ? 'late' : 'durable', expectations.nextMoment());
    if (counts && !isLost && !isLate) expectations.markDurableBefore(sentAt);
    tally.add(isLost ? 'clicks unanswered' : counts ? 'clicks answered' : 'repeated clicks answered');
  }

  /** Issues a click_id without a click, as if no record could be written (docs/contract.md#clicks-without-a-record). */
  async #issueUnrecordedClick(session: SessionRecord): Promise<void> {
    const { random, lostClickId, tally } = this.#options;
    const link = drawOne(random, session.links);
    if (link === undefined) return;
    const { offerId, micros: valueMicros } = link;
    session.addClickId(link, lostClickId(session.subId, { offerId, clickedMs: Date.now(), valueMicros }));
    tally.add('clicks without a record');
  }

  async #confirm(): Promise<void> {
    const { caller, random } = this.#options;
    // All confirmations of a test key are rejected, so a few are enough.
    if (caller.partner.mode === 'test' && chance(random, 0.8)) return;
    // Without a click, all confirmations are rejected, so a few are enough.
    const among = chance(random, 0.95) ? caller.sessions.filter(({ issued }) => issued.length > 0) : caller.sessions;
    const drawn = Array.from({ length: wholeNumber(random, 1, confirmedTogether) }, () => this.#drawSession(among));
    const sessions = drawn.filter((session) => session !== null);
    if (sessions.length > 0) await loadConfirmations(this.#options, sessions);
  }

  async #querySession(session: SessionRecord): Promise<void> {
    const { caller, wire, expectations, tally } = this.#options;
    const sentAt = expectations.nextMoment();
    const answer = await wire.queryAnalytics(caller.partner, { sub_id_list: session.subId });
    if (!isAccepted(answer, tally)) return;
    const found = readSummary(summaryOf(answer));
    assert.deepEqual(found, expectedReport(session.figures, 1), `${session.subId} has other figures`);
    expectations.markDurableBefore(sentAt);
    session.markDurable();
    tally.add('sessions compared under load');
  }

  async #queryTag(): Promise<void> {
    const { caller, wire, expectations, tally } = this.#options;
    const tag = expectations.tagSessions(this.#drawSharedTag(), caller.partner.mode);
    const certain = tag.certain;
    const answer = await wire.queryAnalytics(caller.partner, { referrer_tag: tag.tag });
    if (!isAccepted(answer, tally)) return;
    const { sessions_total: total } = summaryOf(answer);
    assert.ok(total >= certain && total <= tag.possible, `${total} sessions, not ${certain} to ${tag.possible}`);
    tally.add('tags compared under load');
  }

  /** Draws one of the tags with sessions of all callers. */
  #drawSharedTag(): string {
    return drawOne(this.#options.random, this.#options.experiments.tags)!;
  }
}
