import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import {
  countedEvents,
  eventsAddress,
  eventually,
  offerLink,
  sortByApr,
  useWidgetTestPages,
} from './widget-test-pages.ts';

interface EventBatch {
  readonly load: string;
  readonly events: readonly { readonly event_id: string; readonly type: string; readonly svc_offer_id?: string }[];
}

const tall = { viewport: { width: 800, height: 3_000 } };
/** A viewport that shows only the title and half a card. */
const low = { viewport: { width: 800, height: 300 } };
const pages = useWidgetTestPages();

describe('widget events', () => {
  /** Returns an empty page, and the batches of events that the page sends. */
  async function newRecordedPage(t: TestContext, options: object): Promise<{ page: Page; batches: EventBatch[] }> {
    const page = await pages.newPage(t, options);
    const batches: EventBatch[] = [];
    page.context().on('request', (request) => {
      if (request.url().includes('/w/events')) batches.push(JSON.parse(request.postData() ?? '') as EventBatch);
    });
    return { page, batches };
  }

  const waitForEvent = (page: Page, text: string): Promise<Request> =>
    page.waitForRequest((request) => request.url().includes('/w/events') && (request.postData() ?? '').includes(text));

  const impressionsIn = (batches: readonly EventBatch[]) =>
    batches
      .flatMap(({ events }) => events)
      .filter(({ type }) => type === 'offer_impression')
      .map(({ svc_offer_id: id }) => id);

  test('widget events are sent once, in batches, with unique ids, as plain text and without a preflight request', async (t) => {
    const widget = await pages.widget({ maxOffers: 3 });
    const { page, batches } = await newRecordedPage(t, tall);
    let preflights = 0;
    page.on('request', (request) => {
      if (request.method() === 'OPTIONS') preflights++;
    });
    const impression = waitForEvent(page, 'offer_impression');
    await page.goto(pages.url(widget.html));
    await impression;
    const types = batches.flatMap(({ events }) => events.map(({ type }) => type));
    assert.deepEqual(types.slice(0, 2), ['widget_loaded', 'offers_rendered']);
    assert.ok(batches.length <= 3, `${batches.length} requests`);

    const details = page.locator('.card').nth(1).getByText('Details');
    for (let click = 1; click <= 3; click++) await details.click();
    await page.getByText('How offers are chosen').click();
    await sortByApr(page);
    const link = page.locator('.card').nth(2).getByRole('link');
    for (const button of ['left', 'middle'] as const) {
      const tab = page.context().waitForEvent('page');
      await link.click({ button });
      await (await tab).close();
    }
    // Three offers were visible at first. The other sort order can show other offers, which add impressions.
    await eventually(async () => {
      const { offer_impression: impressions = 0, ...rest } = await countedEvents(widget);
      return [rest, impressions >= 3];
    }, [{ widget_loaded: 1, offers_rendered: 2, offer_details_opened: 2, disclosure_opened: 1, offer_click: 2 }, true]);
    assert.equal(preflights, 0);
    const events = batches.flatMap((batch) => batch.events);
    assert.equal(new Set(events.map(({ event_id: id }) => id)).size, events.length);
    assert.equal(new Set(batches.map(({ load }) => load)).size, 1);
    assert.match(batches[0]!.load, /^[0-9a-f]{16}$/);
    for (const { type, svc_offer_id: id } of events) assert.equal(id !== undefined, type.startsWith('offer_'), type);
    const impressions = impressionsIn(batches);
    assert.equal(new Set(impressions).size, impressions.length);
  });

  test('the widget sends one impression event for each offer that was visible', async (t) => {
    const widget = await pages.widget({ maxOffers: 4 });
    const { page, batches } = await newRecordedPage(t, low);
    const loaded = waitForEvent(page, 'widget_loaded');
    await page.goto(pages.url(widget.html));
    await loaded;
    const { offers } = await widget.caller.offers(widget.subId, { max_offers: 4 });
    const [first, , third] = offers.map(({ svc_offer_id: id }) => id) as [string, string, string];
    const card = page.locator('.card').nth(2);
    const seen = waitForEvent(page, third);
    await card.scrollIntoViewIfNeeded();
    await seen;
    await page.evaluate('scrollTo(0, 0)');
    await card.scrollIntoViewIfNeeded();
    const opened = waitForEvent(page, 'details_opened');
    await card.getByText('Details').click();
    await opened;
    const impressions = impressionsIn(batches);
    assert.equal(impressions.filter((id) => id === third).length, 1);
    assert.ok(!impressions.includes(first), 'half of the first card was never visible');
  });

  test('an iframe that is not visible sends no impression event', async (t) => {
    const widget = await pages.widget();
    const { html } = await widget.caller.getEmbedCode(widget.subId, 'iframe');
    const { page, batches } = await newRecordedPage(t, low);
    await page.goto(pages.url(`<div style="height: 2000px"></div>${html}`));
    await offerLink(page.frameLocator('iframe')).waitFor();
    await eventually(() => countedEvents(widget), { widget_loaded: 1, offers_rendered: 1 });
    assert.deepEqual(impressionsIn(batches), []);
    const impression = waitForEvent(page, 'offer_impression');
    await page.locator('iframe').scrollIntoViewIfNeeded();
    await page.evaluate('scrollTo(0, 2150)');
    await impression;
  });

  test('widget events are sent again with the same ids until the server responds, and are counted once', async (t) => {
    const widget = await pages.widget();
    const { page, batches } = await newRecordedPage(t, low);
    await page.clock.install();
    const responses = ['busy', 'lost'];
    await page.route(eventsAddress, async (route) => {
      const response = responses.shift();
      if (response === undefined) return route.continue();
      if (response === 'busy') {
        const headers = { 'Access-Control-Allow-Origin': '*', 'Retry-After': '1' };
        return route.fulfill({ status: 503, headers, json: {} });
      }
      // The server receives the batch, but its response is lost.
      await route.fetch();
      return route.abort();
    });
    await page.goto(pages.url(widget.html));
    await offerLink(page).waitFor();
    for (const attempt of [1, 2, 3]) {
      await page.clock.runFor(10_000);
      await eventually(async () => batches.length >= attempt, true);
    }
    const ids = batches.slice(0, 3).map(({ events }) => events.slice(0, 2).map(({ event_id: id }) => id));
    assert.deepEqual(ids, [ids[0], ids[0], ids[0]]);
    await eventually(async () => {
      const { widget_loaded: loaded, offers_rendered: rendered } = await countedEvents(widget);
      return [loaded, rendered];
    }, [1, 1]);
  });

  test('the widget stops sending events to a server that does not respond', async (t) => {
    const widget = await pages.widget();
    const { page, batches } = await newRecordedPage(t, low);
    await page.clock.install();
    await page.route(eventsAddress, (route) => route.abort());
    await page.goto(pages.url(widget.html));
    await offerLink(page).waitFor();
    for (let minute = 1; minute <= 5; minute++) {
      await page.clock.runFor(60_000);
      await page.evaluate('fetch("data:,")');
    }
    assert.ok(batches.length >= 2 && batches.length <= 6, `${batches.length} attempts`);
    // Unsent events are sent with the next event or when the visitor leaves the page.
    await page.unroute(eventsAddress);
    await page.goto('about:blank');
    await eventually(async () => (await countedEvents(widget)).widget_loaded, 1);
  });

  test('at most the last 200 widget events are sent when the visitor leaves the page', async (t) => {
    const widget = await pages.widget();
    const page = await pages.newPage(t, low);
    await page.clock.install();
    await page.goto(pages.url(widget.html));
    await offerLink(page).waitFor();
    await eventually(async () => (await countedEvents(widget)).offers_rendered, 1);
    // While the clock is stopped, the widget sends nothing before the visitor leaves the page.
    await page.clock.pauseAt(Date.now() + 3_600_000);
    await page.getByText('How offers are chosen').evaluate(async (summary) => {
      for (let click = 0; click < 450; click++) {
        const toggled = new Promise((done) => summary.parentElement.addEventListener('toggle', done, { once: true }));
        summary.click();
        await toggled;
      }
    });
    await page.goto('about:blank');
    await eventually(async () => (await countedEvents(widget)).disclosure_opened, 200);
  });
});
