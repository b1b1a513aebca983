import { bounds } from '../../src/bounds.ts';
import { personalLoansFixture as fixture } from './personal-loans-fixture.ts';
import type { RunningMarketplace } from './running-marketplace.ts';
import { loadId } from './widget-caller.ts';

/** Sends requests of every route whose responses the tests know. */
export async function visitEverything(market: RunningMarketplace): Promise<void> {
  const { http } = market;
  const caller = market.caller(fixture);
  const first = await caller.sessionWith('metrics', fixture.complete);
  await caller.createSession('metrics');
  const { offers } = await caller.offers(first);
  await caller.offers(first);
  await caller.get('marketplace', { sub_id: first, format: 'json' }, {}, 'HEAD');
  await caller.click(offers[0]!.click_url);
  await caller.click(`http://h/c?sub=${first}&offer=nothing&v=nothing`);
  await caller.summary({ referrer_tag: 'metrics' });
  await http.send({ path: '/c/sandbox' });
  const { pathname, search } = new URL(offers[0]!.logo_url);
  await http.send({ path: pathname + search });

  const widget = await caller.widgetWith('metrics', fixture.complete);
  await widget.get('');
  await http.send({ path: '/w/widget.js' });
  await widget.offers(loadId(1));
  await widget.report({ load: loadId(1), events: [{ event_id: 'e1', type: 'widget_loaded' }] });

  // Sends requests that different checks reject.
  await caller.post('session', { referrer_tag: 'X' });
  await http.send({ path: `${caller.basePath}/session` });
  await market.callerWith(fixture, 'nobody').post('session', {});
  await caller.post('inputs', 'x'.repeat(bounds.requestBodyBytesMax + 1));
  await http.send({ path: '/nowhere/anybody/asked/for' });
  await http.send({ path: '/w/nothing' });
  await http.send({ method: 'OPTIONS', path: `${caller.basePath}/inputs` });
}
