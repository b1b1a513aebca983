import assert from 'node:assert/strict';
import { bounds } from '../../src/bounds.ts';
import { figuresOf, tell } from './figures.ts';
import { readinessOf } from './pocket-fields.ts';
import type { SessionRecord } from './session-record.ts';
import type { VerificationOptions } from './verification-options.ts';
import { linksOf } from './widget-load.ts';
import type { WidgetReport } from './widget-record.ts';
import { answered, summaryOf, type WidgetAsked, type WidgetLink } from './wire.ts';

const maxOffers = 20;

/**
 * Goes on with the widgets that a restart found open, as their pages would, with the token from before. A load whose view
 * survived gets offers and no other view, and one whose view is lost gets it now. Reports sent again count where a crash took
 * them back, and nowhere else.
 */
export async function settleWidgets(options: VerificationOptions, session: SessionRecord): Promise<void> {
  const { tally } = options;
  const { widget, subId } = session;
  const { token } = widget;
  if (token === null) return;
  const link = { subId, token };
  for (const { report, counted } of session.takeReportsInDoubt()) {
    const lost = session.reported(report).length;
    await tellAgain(options, link, report);
    tally.add('widget events in doubt found counted', counted.length - lost);
    tally.add('widget events in doubt settled by sending them again', lost);
  }
  for (const report of widget.reports) {
    assert.equal(session.reported(report).length, 0, 'all there is to tell has been told');
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
  await answered(() => wire.reportWidget(link, report), 204);
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
    await answered(ask, 400);
    return;
  }
  const links = linksOf(session, asked, await answered(ask));
  const isOwed = session.widget.isOwedView(load);
  const isView = session.shown(load, links, expectations.now());
  tally.add(isView ? 'widget views after a restart' : 'widget loads with their view asked again after a restart');
  if (isOwed) tally.add('widget views lost and made up for by asking again');
}

async function compareSession({ wire, partners, tally }: VerificationOptions, session: SessionRecord): Promise<void> {
  const query = { sub_id_list: session.subId };
  const summary = summaryOf(await answered(() => wire.queryAnalytics(partners[session.mode], query)));
  const [found, wanted] = [figuresOf(summary), tell(session.figures, 1)];
  assert.deepEqual(found, wanted, `the widgets of ${session.subId} (tag ${session.tag}) went on to other figures`);
  session.settleAll();
  tally.add('widgets gone on with after a restart');
}
