import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { personalLoansFixture as fixture } from '../../support/vertical-fixtures.ts';
import { eventually } from '../eventually.ts';
import type { TestWidget, WidgetSuite } from '../widget-test-pages.ts';

interface EventBatch {
  readonly load: string;
  readonly events: readonly { readonly event_id: string; readonly type: string; readonly svc_offer_id?: string }[];
}

const eventsAddress = '**/w/events?*';
const tall = { viewport: { width: 800, height: 3_000 } };
/** A viewport that shows only the title and half a card. */
const low = { viewport: { width: 800, height: 300 } };

export const widgetEvents: WidgetSuite = (pages) =>
  describe('widget events', () => {
    const offer = (page: Page) => page.locator('.card .go').first();
    const isEventRequest = (request: Request) => request.url().includes('/w/events');

    /** Collects the batches that the page sends after this call. */
    function batchesOf(page: Page): EventBatch[] {
      const batches: EventBatch[] = [];
      page.context().on('request', (request) => {
        if (isEventRequest(request)) batches.push(JSON.parse(request.postData() ?? '') as EventBatch);
      });
      return batches;
    }

    const typesIn = (batches: readonly EventBatch[]) => batches.flatMap(({ events }) => events.map(({ type }) => type));

    /** Returns the counts of widget events in the analytics, without zeros. */
    async function countedEvents({ caller, tag }: TestWidget): Promise<Record<string, number>> {
      const { widget_events: events } = await caller.summary({ referrer_tag: tag });
      return Object.fromEntries(Object.entries(events).filter(([, count]) => count > 0));
    }

    async function openPage(widget: TestWidget, options: object): Promise<{ page: Page; batches: EventBatch[] }> {
      const page = await (await pages().context(options)).newPage();
      const batches = batchesOf(page);
      await page.goto(pages().page(widget.html));
      await offer(page).waitFor();
      return { page, batches };
    }

    test('sends each event once with a unique id', async () => {
      const widget = await pages().widget({ maxOffers: 3 });
      const { page, batches } = await openPage(widget, tall);
      const details = page.locator('.card').nth(1).getByText('Details');
      await details.click();
      await details.click();
      await details.click();
      await page.getByText('How offers are chosen').click();
      await page.getByLabel('Sort by').selectOption('lowest_apr');
      await page.getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
      const link = page.locator('.card').nth(2).getByRole('link');
      for (const button of ['left', 'middle'] as const) {
        const tab = page.context().waitForEvent('page');
        await link.click({ button });
        await (await tab).close();
      }
      const seen = new Set(await page.locator('.card .go').evaluateAll((links) => links.map(({ href }) => href)));
      assert.equal(seen.size, 3);
      // Three offers were visible at first. The other sort order can show other offers, which add impressions.
      await page
        .waitForRequest((request) => isEventRequest(request) && /offer_impression/.test(request.postData() ?? ''))
        .catch(() => {});
      await eventually(async () => {
        const { offer_impression: impressions = 0, ...rest } = await countedEvents(widget);
        return [rest, impressions >= 3];
      }, [
        { widget_loaded: 1, offers_rendered: 2, offer_details_opened: 2, disclosure_opened: 1, offer_click: 2 },
        true,
      ]);
      const events = batches.flatMap((batch) => batch.events);
      assert.equal(new Set(events.map(({ event_id: id }) => id)).size, events.length);
      assert.equal(new Set(batches.map(({ load }) => load)).size, 1);
      assert.match(batches[0]!.load, /^[0-9a-f]{16}$/);
      for (const { type, svc_offer_id: offerId } of events)
        assert.equal(offerId !== undefined, type.startsWith('offer_'), type);
      const impressions = events.filter(({ type }) => type === 'offer_impression').map(({ svc_offer_id: id }) => id);
      assert.equal(new Set(impressions).size, impressions.length);
      await page.context().close();
    });

    test('sends events in batches, as plain text without a preflight request', async () => {
      const { page, batches } = await openPage(await pages().widget({ maxOffers: 3 }), tall);
      let asked = 0;
      page.on('request', (request) => {
        if (request.method() === 'OPTIONS') asked++;
      });
      await page.waitForRequest(
        (request) => isEventRequest(request) && (request.postData() ?? '').includes('offer_impression'),
      );
      assert.deepEqual(typesIn(batches).slice(0, 2), ['widget_loaded', 'offers_rendered']);
      assert.ok(batches.length <= 3, `${batches.length} requests`);
      assert.equal(asked, 0);
      await page.context().close();
    });

    test('sends one impression event for each offer that was visible', async () => {
      const widget = await pages().widget({ maxOffers: 4 });
      const { page, batches } = await openPage(widget, low);
      await page.waitForRequest(
        (request) => isEventRequest(request) && (request.postData() ?? '').includes('widget_loaded'),
      );
      const cards = page.locator('.card');
      await cards.nth(2).scrollIntoViewIfNeeded();
      const { offers } = await widget.caller.offers(widget.subId, { max_offers: 4 });
      const third = offers[2]!.svc_offer_id;
      await page.waitForRequest((request) => isEventRequest(request) && (request.postData() ?? '').includes(third));
      await page.evaluate('scrollTo(0, 0)');
      await cards.nth(2).scrollIntoViewIfNeeded();
      await page.getByText('Details').nth(2).click();
      await page.waitForRequest(
        (request) => isEventRequest(request) && (request.postData() ?? '').includes('details_opened'),
      );
      const named = batches.flatMap(({ events }) =>
        events.filter(({ type }) => type === 'offer_impression').map(({ svc_offer_id: id }) => id),
      );
      assert.deepEqual(
        named.filter((id) => id === third),
        [third],
      );
      assert.ok(!named.includes(offers[0]!.svc_offer_id), 'the first card was never half in sight');
      await page.context().close();
    });

    test('sends no impression event from an iframe that is not visible', async () => {
      const widget = await pages().widget();
      const { html } = await widget.caller.embed(widget.subId, 'iframe');
      const page = await (await pages().context(low)).newPage();
      const batches = batchesOf(page);
      await page.goto(pages().page(`<div style="height: 2000px"></div>${html}`));
      await page.frameLocator('iframe').locator('.card .go').first().waitFor();
      await eventually(() => countedEvents(widget), { widget_loaded: 1, offers_rendered: 1 });
      await page.locator('iframe').scrollIntoViewIfNeeded();
      await page.evaluate('scrollTo(0, 2150)');
      await page.waitForRequest(
        (request) => isEventRequest(request) && (request.postData() ?? '').includes('offer_impression'),
      );
      assert.ok(typesIn(batches).indexOf('offer_impression') >= 2);
      await page.context().close();
    });

    test('sends events again with the same ids until the server responds, and counts them once', async () => {
      const widget = await pages().widget();
      const page = await (await pages().context(low)).newPage();
      await page.clock.install();
      const batches = batchesOf(page);
      const answers = ['busy', 'lost', 'heard'];
      await page.route(eventsAddress, async (route) => {
        const answer = answers.shift();
        if (answer === 'busy') {
          return route.fulfill({
            status: 503,
            headers: { 'Access-Control-Allow-Origin': '*', 'Retry-After': '1' },
            json: {},
          });
        }
        if (answer !== 'lost') return route.continue();
        // The server receives the batch, but its response is lost.
        await route.fetch();
        return route.abort();
      });
      await page.goto(pages().page(widget.html));
      await offer(page).waitFor();
      for (const attempt of [1, 2, 3]) {
        await page.clock.runFor(10_000);
        await eventually(async () => batches.length >= attempt, true);
      }
      const ids = batches.slice(0, 3).map(({ events }) => events.slice(0, 2).map(({ event_id: id }) => id));
      assert.deepEqual(ids[1], ids[0]);
      assert.deepEqual(ids[2], ids[0]);
      await eventually(async () => {
        const { widget_loaded: loaded, offers_rendered: rendered } = await countedEvents(widget);
        return [loaded, rendered];
      }, [1, 1]);
      await page.context().close();
    });

    test('does not send events endlessly to a server that does not respond', async () => {
      const widget = await pages().widget();
      const page = await (await pages().context(low)).newPage();
      await page.clock.install();
      const batches = batchesOf(page);
      await page.route(eventsAddress, (route) => route.abort());
      await page.goto(pages().page(widget.html));
      await offer(page).waitFor();
      for (let minute = 1; minute <= 5; minute++) {
        await page.clock.runFor(60_000);
        await page.evaluate('fetch("data:,")');
      }
      assert.ok(batches.length >= 2 && batches.length <= 6, `${batches.length} attempts`);
      // Unsent events are sent with the next event or when the visitor leaves the page.
      await page.unroute(eventsAddress);
      await page.goto('about:blank');
      await eventually(async () => (await countedEvents(widget)).widget_loaded, 1);
      await page.context().close();
    });

    test('sends events when the visitor leaves the page', async () => {
      const widget = await pages().widget();
      const { page } = await openPage(widget, low);
      await page.getByText('How offers are chosen').click();
      await page.locator('.disclosure-text').waitFor();
      await page.goto('about:blank');
      await eventually(async () => {
        const { widget_loaded: loaded, disclosure_opened: disclosed } = await countedEvents(widget);
        return [loaded, disclosed];
      }, [1, 1]);
      await page.context().close();
    });

    test('keeps only the last 200 unsent events', async () => {
      const widget = await pages().widget();
      const page = await (await pages().context(low)).newPage();
      await page.clock.install();
      await page.goto(pages().page(widget.html));
      await offer(page).waitFor();
      await eventually(async () => (await countedEvents(widget)).offers_rendered, 1);
      // While the clock is stopped, the widget sends nothing before the visitor leaves the page.
      await page.clock.pauseAt(Date.now() + 3_600_000);
      await page.getByText('How offers are chosen').evaluate(async (summary) => {
        for (let time = 0; time < 450; time++) {
          const toggled = new Promise((told) => summary.parentElement.addEventListener('toggle', told, { once: true }));
          summary.click();
          await toggled;
        }
      });
      await page.goto('about:blank');
      await eventually(async () => (await countedEvents(widget)).disclosure_opened, 200);
      await page.context().close();
    });

    test('sends an error event if offers cannot be shown', async () => {
      const widget = await pages().widget();
      await widget.caller.submit(widget.subId, { [fixture.amount]: null });
      const page = await pages().open(widget.html);
      await page.locator('.message').waitFor();
      await eventually(() => countedEvents(widget), { widget_loaded: 1, widget_error: 1 });
      await page.context().close();
    });
  });
