import assert from 'node:assert/strict';
import { chance, pickWeighted, type WeightedTable, wholeNumber } from '../../bench/population/random.ts';
import { clickIdOf } from '../support/click-ids.ts';
import type { Answer } from '../support/http-client.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { loadConfirmations } from './confirmation-load.ts';
import { CreationLoad } from './creation-load.ts';
import { expectUnavailable } from './expect-unavailable.ts';
import { figuresOf, sameFigures, tell } from './figures.ts';
import type { LoadOptions } from './load-options.ts';
import { type Link, offerLink } from './offer-link.ts';
import { drawMerge, mergeFields, readinessOf } from './pocket-fields.ts';
import type { SessionRecord } from './session-record.ts';
import { sharedTag } from './shared-tag.ts';
import type { TagBook } from './tag-book.ts';
import { WidgetLoad } from './widget-load.ts';
import { inputsOf, marketplaceOf, summaryOf, unexpected } from './wire.ts';

/** docs/contract.md#clicks-without-a-record: from here on a redirect may have gone ahead of its record. */
const lateClickMs = 500;
/** Callers come back to the sessions they have just had, and now and then to an old one. */
const recentSessions = 12;
/** Sessions that one batch of confirmations is about. */
const confirmedTogether = 3;

/**
 * What one caller asks during one life of the server: one request after another, drawn at random, until the connection is
 * lost. All it asks and hears goes into the expectations; an answer that does not agree with them throws.
 */
export class Load {
  readonly #options: LoadOptions;
  readonly #creations: CreationLoad;
  readonly #widgets: WidgetLoad;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#creations = new CreationLoad(options);
    this.#widgets = new WidgetLoad(options);
  }

  /** What callers do, and how often. */
  readonly #actions: WeightedTable<() => Promise<void>> = [
    [() => this.#creations.createSession(), 8],
    [() => this.#creations.createLimitedSession(), 1],
    [() => this.#creations.repeatCreation(), 3],
    [() => this.#withSession((session) => this.#submitInputs(session)), 28],
    [() => this.#withSession((session) => this.#getMarketplace(session)), 26],
    [() => this.#withSession((session) => this.#useWidget(session)), 26],
    [() => this.#withSession((session) => this.#click(session)), 22],
    [() => this.#withSession((session) => this.#loseClick(session)), 3],
    [() => this.#confirm(), 14],
    [() => this.#withSession((session) => this.#queryOwn(session)), 5],
    [() => this.#queryTag(), 3],
  ];

  async run(): Promise<void> {
    const { wire, random } = this.#options;
    while (!wire.isCut) await pickWeighted(random, this.#actions)();
  }

  async #withSession(act: (session: SessionRecord) => Promise<void>): Promise<void> {
    const session = this.#drawSession(this.#options.caller.sessions);
    if (session === null) return;
    this.#options.expectations.touched.add(session);
    await act(session);
  }

  #drawSession(sessions: readonly SessionRecord[]): SessionRecord | null {
    const { random } = this.#options;
    const recent = chance(random, 0.85) ? Math.min(recentSessions, sessions.length) : sessions.length;
    const session = sessions[sessions.length - 1 - wholeNumber(random, 0, recent - 1)];
    return session === undefined || session.isFrozen ? null : session;
  }

  async #submitInputs(session: SessionRecord): Promise<void> {
    const { caller, wire, random, tally } = this.#options;
    const merge = drawMerge(random);
    session.pendingMerge = merge;
    const answer = await wire.submitInputs(caller.partner, session.subId, merge);
    if (answer === null) return tally.add('merges unanswered');
    if (answer.status !== 200) {
      session.isFrozen = true;
      return expectUnavailable(answer, tally);
    }
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
    const isReady = readinessOf(session.fields).match_readiness !== 'insufficient';
    if (!isReady && chance(random, 0.8)) return this.#submitInputs(session);
    const maxOffers = wholeNumber(random, 1, 20);
    const answer = await wire.getMarketplace(caller.partner, session.subId, maxOffers);
    if (!isReady) {
      if (answer !== null && answer.status !== 503) assert.equal(answer.status, 400, answer.text);
      return;
    }
    if (answer === null || answer.status !== 200) {
      session.viewed([], Number.POSITIVE_INFINITY);
      if (answer === null) return tally.add('views unanswered');
      session.isFrozen = true;
      return expectUnavailable(answer, tally);
    }
    const { credit_score_range: creditBand } = session.fields;
    const links = marketplaceOf(answer).offers.map((offer) => offerLink(offer, session.mode, creditBand));
    session.viewed(links, expectations.now());
    tally.add('views answered');
  }

  async #useWidget(session: SessionRecord): Promise<void> {
    const isReady = readinessOf(session.fields).match_readiness !== 'insufficient';
    if (!isReady && chance(this.#options.random, 0.8)) return this.#submitInputs(session);
    await this.#widgets.use(session);
  }

  async #click(session: SessionRecord): Promise<void> {
    const { wire, random, expectations, tally } = this.#options;
    const link = this.#drawLink(session);
    if (link === null) return this.#getMarketplace(session);
    const copies = chance(random, 0.15) ? 2 : 1;
    const sentAt = expectations.now();
    const sentMs = performance.now();
    const answers = await Promise.all(Array.from({ length: copies }, () => wire.click(link.path)));
    const isLate = performance.now() - sentMs >= lateClickMs;
    for (const answer of answers) if (answer !== null) this.#noteRedirect(session, link, answer);
    const isLost = answers.every((answer) => answer === null);
    const counts = session.clicked(link, isLost ? 'lost' : isLate ? 'late' : 'durable', expectations.now());
    if (counts && !isLost && !isLate) expectations.durableSince(sentAt);
    tally.add(isLost ? 'clicks unanswered' : counts ? 'clicks answered' : 'repeated clicks answered');
  }

  /** A click_id without a click: as after a time when no log could take the click (docs/contract.md#clicks-without-a-record). */
  async #loseClick(session: SessionRecord): Promise<void> {
    const link = this.#drawLink(session);
    if (link === null) return;
    const { offerId, micros: valueMicros } = link;
    const click = { offerId, clickedMs: Date.now(), valueMicros };
    session.redirected(link, this.#options.lostClickId(session.subId, click));
    this.#options.tally.add('clicks that only have an id');
  }

  #drawLink({ links }: SessionRecord): Link | null {
    return links[wholeNumber(this.#options.random, 0, links.length - 1)] ?? null;
  }

  #noteRedirect(session: SessionRecord, link: Link, answer: Answer): void {
    if (answer.status !== 302) throw unexpected(answer);
    session.redirected(link, clickIdOf(personalLoansFixture, link.offerId, answer, session.mode));
  }

  async #confirm(): Promise<void> {
    const { caller, random } = this.#options;
    // To a test key's clicks there is one answer only.
    if (caller.partner.mode === 'test' && chance(random, 0.8)) return;
    // Of the others there is nothing to say but nonsense, which is said now and then.
    const among = chance(random, 0.95) ? caller.sessions.filter(({ issued }) => issued.length > 0) : caller.sessions;
    const drawn = Array.from({ length: wholeNumber(random, 1, confirmedTogether) }, () => this.#drawSession(among));
    const sessions = drawn.filter((session) => session !== null);
    if (sessions.length > 0) await loadConfirmations(this.#options, sessions);
  }

  async #queryOwn(session: SessionRecord): Promise<void> {
    const { caller, wire, expectations, tally } = this.#options;
    const sentAt = expectations.now();
    const answer = await wire.queryAnalytics(caller.partner, { sub_id_list: session.subId });
    if (answer === null) return;
    if (answer.status !== 200) return expectUnavailable(answer, tally);
    const summary = summaryOf(answer);
    assert.equal(summary.sessions_total, 1);
    const figures = figuresOf(summary);
    const wanted = tell(session.figures, 1);
    if (!sameFigures(figures, wanted)) {
      const texts = [figures, wanted].map((told) => JSON.stringify(told));
      throw new Error(`reads do not follow writes: ${session.subId} has ${texts[0]}, not ${texts[1]}`);
    }
    expectations.durableSince(sentAt);
    session.settleAll();
    tally.add('sessions compared under load');
  }

  async #queryTag(): Promise<void> {
    const { caller, wire, random, expectations, tally } = this.#options;
    const { partner } = caller;
    const book: TagBook = expectations.book(sharedTag(random), partner.mode);
    const least = book.certain;
    const answer = await wire.queryAnalytics(partner, { referrer_tag: book.tag });
    if (answer === null) return;
    if (answer.status !== 200) return expectUnavailable(answer, tally);
    const { sessions_total: total } = summaryOf(answer);
    assert.ok(total >= least && total <= book.possible, `${total} sessions, not ${least} to ${book.possible}`);
    tally.add('tags compared under load');
  }
}
