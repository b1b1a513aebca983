import assert from 'node:assert/strict';
import { formatIsoTimestamp, msPerDay } from '../../src/domain/calendar.ts';
import { askOperator } from '../contract/operator-request.ts';
import { assertOk } from '../support/api-caller.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import type { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

/** A text of a user that would run as HTML, as a formula, or as a template. */
export const hostileText = '=<img src=x onerror=alert(1)>"\'&{{7*7}}';
export const account = 'acme <b>&"';
/** Sessions of an arm on each day. Enough for the 25 with revenue that a comparison needs. */
const sessionsPerDay = 2;
const days = 14;

/**
 * Fills a service with an experiment that has a comparison (`hero`), with one that is too early (`young`), and with hostile texts where users
 * can write texts. Afterwards, all sessions of `hero` are mature, and a few sessions of each tag are recent.
 */
export async function prepareExperiments(market: RunningMarketplace): Promise<void> {
  const caller = market.caller(fixture, { account });
  const define = async (name: string, tags: readonly string[], more: object) => {
    const [control, ...others] = tags.map((referrer_tag) => ({ referrer_tag, weight: 1 / tags.length }));
    const arms = [
      control,
      ...others.map((arm, index) => ({ ...arm, label: index === 0 ? hostileText : `Arm ${index}` })),
    ];
    const starts_on = formatIsoTimestamp(market.clock.wallMs()).slice(0, 10);
    assertOk(
      await caller.send('PUT', `experiments/${name}`, { arms, control: tags[0], unit: 'session', starts_on, ...more }),
    );
  };
  await define('hero', ['page-a', 'page-b'], {
    dimensions: ['source'],
    min_effect_percent: 10,
    hypothesis: hostileText,
  });
  // Fewer sessions click than have offers, so that both counts differ.
  for (const tag of ['page-a', 'page-b'])
    await caller.offers(await caller.createSessionWithFields(tag, fixture.complete));
  for (let day = 0; day < days; day++) {
    const amounts = [40 + day, 100 + day];
    const tags = ['page-a', 'page-b'];
    for (const [arm, tag] of tags.entries()) {
      for (let count = 0; count < sessionsPerDay; count++) await earn(market, caller, tag, amounts[arm]!);
      await caller.createSession(tag);
    }
    market.clock.advance(msPerDay);
  }
  market.clock.advance(53 * msPerDay);
  await define('young', ['new-a', 'new-b', 'new-c'], {
    ends_on: formatIsoTimestamp(market.clock.wallMs() + 20 * msPerDay).slice(0, 10),
  });
  for (const tag of ['page-a', 'new-a', 'new-b', 'new-c'])
    await caller.createSessionWithClicks(tag, fixture.complete, 1);
  market.clock.advance(msPerDay);
}

type Caller = ReturnType<RunningMarketplace['caller']>;

/** Creates a session that clicks an offer and earns an amount. */
async function earn(market: RunningMarketplace, caller: Caller, tag: string, amount: number): Promise<void> {
  const subId = await caller.createSessionWithFields(tag, fixture.complete, { metadata: { source: hostileText } });
  const { svc_offer_id: offerId, click_url: url } = (await caller.offers(subId)).offers[0]!;
  const click_id = clickIdFromRedirect(fixture, offerId, await caller.click(url));
  const occurred_at = formatIsoTimestamp(market.clock.wallMs());
  const json = { click_id, txid: 'paid', status: 'funded', amount, occurred_at };
  const answer = await askOperator(market, { method: 'POST', path: '/confirmations', json });
  assert.equal(assertOk<{ accepted: number }>(answer).accepted, 1);
}
