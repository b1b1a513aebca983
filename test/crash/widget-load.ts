import assert from 'node:assert/strict';
import {
  chance,
  pickRandomByWeight,
  type Random,
  type WeightedTable,
  wholeNumber,
} from '../../bench/population/random.ts';
import { bounds } from '../../src/bounds.ts';
import { sortOrderNames } from '../../src/domain/vertical.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { drawOne, type LoadOptions } from './expectations.ts';
import { isReady, offerLink } from './personal-loans-rules.ts';
import type { SessionRecord } from './session-record.ts';
import type { WidgetEvent, WidgetReport } from './widget-record.ts';
import { embedOf, expectInsufficient, isAccepted, repeat, type WidgetAsked, widgetOffersOf } from './wire.ts';

/** Sends a random request of a widget: for the code, for offers, or a report of events. */
export async function useWidget(options: LoadOptions, session: SessionRecord): Promise<void> {
  const { token } = session.widget;
  if (token === null || chance(options.random, 0.05)) await embedWidget(options, session);
  else if (chance(options.random, 0.5)) await showOffers(options, session, token);
  else await reportEvents(options, session, token);
}

async function embedWidget({ caller, wire, tally }: LoadOptions, session: SessionRecord): Promise<void> {
  const { widget, subId } = session;
  const answer = await wire.embedWidget(caller.partner, subId);
  if (!isReady(session)) return expectInsufficient(answer);
  if (!isAccepted(answer, tally)) return;
  const { sub_id, format, token } = embedOf(answer);
  assert.deepEqual({ sub_id, format }, { sub_id: subId, format: 'js' });
  if (widget.token !== null) assert.equal(token, widget.token, 'the token of a session does not change');
  widget.token = token;
  tally.add('widgets embedded');
}

async function showOffers(options: LoadOptions, session: SessionRecord, token: string): Promise<void> {
  const { wire, random, expectations, tally } = options;
  const { subId } = session;
  const asked: WidgetAsked = {
    load: drawLoad(session, random),
    sort: drawOne(random, sortOrderNames)!,
    maxOffers: wholeNumber(random, 1, 20),
  };
  countLoad(options, session, asked.load);
  const copies = chance(random, 0.15) ? 2 : 1;
  const answers = await repeat(copies, () => wire.showWidget({ subId, token }, asked));
  if (!isReady(session)) {
    for (const answer of answers) expectInsufficient(answer);
    return;
  }
  const accepted = answers.filter((answer) => isAccepted(answer, tally, session));
  const links = accepted.map((answer) => linksOf(session, asked, answer));
  const shown = links[0] ?? [];
  for (const other of links) assert.deepEqual(idsOf(other), idsOf(shown), 'equal requests get equal offers');
  // One of two equal requests is the first. Both showed the same offers.
  for (let copy = 0; copy < copies; copy++) {
    const isAnswered = copy < accepted.length;
    const answeredAt = isAnswered ? expectations.nextMoment() : Number.POSITIVE_INFINITY;
    const isView = session.addWidgetResponse(asked.load, shown, answeredAt);
    tally.add(`${isView ? 'widget views' : 'widget responses without a view'}${isAnswered ? '' : ', unanswered'}`);
  }
}

async function reportEvents(options: LoadOptions, session: SessionRecord, token: string): Promise<void> {
  const { caller, wire, random, expectations, tally } = options;
  const { subId } = session;
  const sentAt = expectations.nextMoment();
  const report = drawReport(session, random, `${caller.name}-${sentAt}`);
  countLoad(options, session, report.load);
  const counted = session.addReport(report).length;
  const answers = await repeat(chance(random, 0.4) ? 2 : 1, () => wire.reportWidget({ subId, token }, report));
  const accepted = answers.filter((answer) => isAccepted(answer, tally, session, 204)).length;
  if (accepted === 0) return tally.add('widget events unanswered', counted);
  if (counted > 0) {
    session.markDurable();
    expectations.markDurableBefore(sentAt);
  }
  tally.add('widget events answered', counted);
  tally.add('widget events repeated', report.events.length * accepted - counted);
}

function countLoad({ tally }: LoadOptions, { widget }: SessionRecord, load: string): void {
  if (!widget.loads.includes(load)) tally.add('widget loads');
}

/** Returns the links of a widget's answer, after checking its other members. */
export function linksOf(session: SessionRecord, { sort, maxOffers }: WidgetAsked, answer: HttpResponse) {
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

/** Maximum number of events per report. */
const sizes: WeightedTable<number> = [
  [1, 3],
  [6, 6],
  [bounds.widgetEventsPerBatchMax, 1],
];

/**
 * Draws an earlier report, or a report with new events and repeated ones.
 *
 * @param name name that no other report has
 */
function drawReport(session: SessionRecord, random: Random, name: string): WidgetReport {
  const { reports } = session.widget;
  if (reports.length > 0 && chance(random, 0.2)) return drawOne(random, reports)!;
  const reported = reports.flatMap((report) => report.events);
  const events: WidgetEvent[] = [];
  const size = wholeNumber(random, 1, pickRandomByWeight(random, sizes));
  for (let index = 0; index < size; index++) {
    const event = drawEvent(session, random, `${name}-${index}`);
    const first = drawOne(random, chance(random, 0.5) ? reported : events);
    // A repeated event may have other members. The first event counts.
    const again = first === undefined || chance(random, 0.5) ? first : { ...event, id: first.id };
    events.push(again !== undefined && chance(random, 0.25) ? again : event);
  }
  return { load: drawLoad(session, random), events };
}

function drawEvent(session: SessionRecord, random: Random, id: string): WidgetEvent {
  const type = drawOne(random, widgetEventTypes)!;
  if (!type.startsWith('offer_')) return { id, type, offerId: null };
  return { id, type, offerId: drawOne(random, session.links)?.offerId ?? 'never-offered' };
}

/** Draws the id of an earlier widget load, also before a restart, or a new id. */
function drawLoad({ widget }: SessionRecord, random: Random): string {
  if (widget.loads.length > 0 && chance(random, 0.6)) return drawOne(random, widget.loads)!;
  const drawHalf = () =>
    wholeNumber(random, 0, 2 ** 32 - 1)
      .toString(16)
      .padStart(8, '0');
  return drawHalf() + drawHalf();
}
