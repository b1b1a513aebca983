import { chance, pickWeighted, type Random, type WeightedTable, wholeNumber } from '../../bench/population/random.ts';
import { bounds } from '../../src/bounds.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import { drawLoad } from './draw-load.ts';
import type { SessionRecord } from './session-record.ts';
import type { WidgetEvent, WidgetReport } from './widget-record.ts';

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
