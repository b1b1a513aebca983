import assert from 'node:assert/strict';
import { chance, pickWeighted, type Random, type WeightedTable, wholeNumber } from '../../bench/population/random.ts';
import { bounds } from '../../src/bounds.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import { sortOrders } from '../../src/matching/matcher.ts';
import type { Answer } from '../support/http-client.ts';
import type { LoadOptions } from './expectations.ts';
import { offerLink, readinessOf } from './personal-loans-rules.ts';
import type { SessionRecord } from './session-record.ts';
import type { WidgetEvent, WidgetReport } from './widget-record.ts';
import { embedOf, expectUnavailable, type WidgetAsked, widgetOffersOf } from './wire.ts';

/** One caller's widgets: its page asks for the code, and the browsers before it for offers, and tell what happens. */
export class WidgetLoad {
  readonly #options: LoadOptions;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  async use(session: SessionRecord): Promise<void> {
    const { token } = session.widget;
    if (token === null || chance(this.#options.random, 0.05)) await this.#embed(session);
    else if (chance(this.#options.random, 0.5)) await this.#show(session, token);
    else await this.#report(session, token);
  }

  async #embed(session: SessionRecord): Promise<void> {
    const { caller, wire, tally } = this.#options;
    const { widget, subId } = session;
    const answer = await wire.embedWidget(caller.partner, subId);
    if (answer === null) return;
    if (!isReady(session)) return expectInsufficient(answer);
    if (answer.status !== 200) return expectUnavailable(answer, tally);
    const { sub_id, format, token } = embedOf(answer);
    assert.deepEqual({ sub_id, format }, { sub_id: subId, format: 'js' });
    if (widget.token !== null) assert.equal(token, widget.token, 'a session has one token, whenever it asks');
    widget.token = token;
    tally.add('widgets embedded');
  }

  async #show(session: SessionRecord, token: string): Promise<void> {
    const { wire, random, expectations, tally } = this.#options;
    const { subId } = session;
    const asked: WidgetAsked = {
      load: drawLoad(session, random),
      sort: sortOrders[wholeNumber(random, 0, sortOrders.length - 1)]!,
      maxOffers: wholeNumber(random, 1, 20),
    };
    this.#countLoad(session, asked.load);
    const copies = chance(random, 0.15) ? 2 : 1;
    const answers = await Promise.all(Array.from({ length: copies }, () => wire.showWidget({ subId, token }, asked)));
    if (!isReady(session)) {
      for (const answer of answers) if (answer !== null) expectInsufficient(answer);
      return;
    }
    const good = answers.filter((answer) => answer?.status === 200) as Answer[];
    for (const answer of answers) {
      if (answer === null || answer.status === 200) continue;
      session.isFrozen = true;
      expectUnavailable(answer, tally);
    }
    const links = good.map((answer) => linksOf(session, asked, answer));
    const shown = links[0] ?? [];
    for (const other of links) assert.deepEqual(idsOf(other), idsOf(shown), 'one question gets one answer');
    // Of two at once one is the first; whichever it is, it showed what both show.
    for (let copy = 0; copy < copies; copy++) {
      const isAnswered = copy < good.length;
      const isView = session.addWidgetResponse(
        asked.load,
        shown,
        isAnswered ? expectations.nextMoment() : Number.POSITIVE_INFINITY,
      );
      const what = isView ? 'widget views' : 'widget answers that are no view';
      tally.add(isAnswered ? what : `${what}, unanswered`);
    }
  }

  async #report(session: SessionRecord, token: string): Promise<void> {
    const { caller, wire, random, expectations, tally } = this.#options;
    const { subId } = session;
    const sentAt = expectations.nextMoment();
    const report = drawReport(session, random, `${caller.name}-${sentAt}`);
    this.#countLoad(session, report.load);
    const copies = chance(random, 0.4) ? 2 : 1;
    const counted = session.addReport(report).length;
    const answers = await Promise.all(
      Array.from({ length: copies }, () => wire.reportWidget({ subId, token }, report)),
    );
    const good = answers.filter((answer) => answer?.status === 204).length;
    for (const answer of answers) {
      if (answer === null || answer.status === 204) continue;
      session.isFrozen = true;
      expectUnavailable(answer, tally);
    }
    if (good === 0) return tally.add('widget events in doubt', counted);
    if (counted > 0) {
      session.markDurable();
      expectations.markDurableBefore(sentAt);
    }
    tally.add('widget events answered', counted);
    tally.add('widget events repeated', report.events.length * good - counted);
  }

  /** One that comes again after a long time counts as another. */
  #countLoad({ widget }: SessionRecord, load: string): void {
    if (!widget.loads.includes(load)) this.#options.tally.add('widget loads');
  }
}

const isReady = ({ fields }: SessionRecord): boolean => readinessOf(fields).match_readiness !== 'insufficient';

function expectInsufficient({ status, text }: Answer): void {
  if (status !== 503) assert.equal(status, 400, text);
}

/** What a widget's answer gives to click on, after a look at what it says of itself. */
export function linksOf(session: SessionRecord, { sort, maxOffers }: WidgetAsked, answer: Answer) {
  const view = widgetOffersOf(answer);
  const { mode, subId, fields } = session;
  assert.deepEqual(
    { subId: view.sub_id, sort: view.sort, amount: view.loan_amount },
    { subId, sort, amount: fields.loan_amount },
  );
  assert.ok(view.offers.length <= maxOffers);
  return view.offers.map((offer) => offerLink(offer, mode, fields.credit_score_range));
}

const idsOf = (links: readonly { readonly offerId: string }[]): string[] => links.map(({ offerId }) => offerId);

/** How many events travel together: a few, or as many as may. */
const sizes: WeightedTable<number> = [
  [1, 3],
  [6, 6],
  [bounds.widgetEventsPerBatchMax, 1],
];
const neverOffered = 'never-offered';

/**
 * What a widget may have to tell: new events, some that it or another load has told before, some twice in one report, and now
 * and then a whole report once more.
 *
 * @param name that no other report has
 */
export function drawReport(session: SessionRecord, random: Random, name: string): WidgetReport {
  const { reports } = session.widget;
  if (reports.length > 0 && chance(random, 0.2)) return reports[wholeNumber(random, 0, reports.length - 1)]!;
  const told = reports.flatMap((report) => report.events);
  const events: WidgetEvent[] = [];
  const size = wholeNumber(random, 1, pickWeighted(random, sizes));
  for (let index = 0; index < size; index++) {
    const event = drawEvent(session, random, `${name}-${index}`);
    const known = chance(random, 0.5) ? told : events;
    const first = known[wholeNumber(random, 0, known.length - 1)];
    // One that is told again is as it was, or as no widget of ours would have it: the first stands.
    const again = first === undefined || chance(random, 0.5) ? first : { ...event, id: first.id };
    events.push(again !== undefined && chance(random, 0.25) ? again : event);
  }
  return { load: drawLoad(session, random), events };
}

function drawEvent(session: SessionRecord, random: Random, id: string): WidgetEvent {
  const type = widgetEventTypes[wholeNumber(random, 0, widgetEventTypes.length - 1)]!;
  if (!type.startsWith('offer_')) return { id, type, offerId: null };
  const { links } = session;
  return { id, type, offerId: links[wholeNumber(random, 0, links.length - 1)]?.offerId ?? neverOffered };
}

/** The id of a new load of a session's widget, or of one that asked before, maybe of another life of the server. */
export function drawLoad({ widget }: SessionRecord, random: Random): string {
  const { loads } = widget;
  if (loads.length > 0 && chance(random, 0.6)) return loads[wholeNumber(random, 0, loads.length - 1)]!;
  return half(random) + half(random);
}

function half(random: Random): string {
  return wholeNumber(random, 0, 2 ** 32 - 1)
    .toString(16)
    .padStart(8, '0');
}
