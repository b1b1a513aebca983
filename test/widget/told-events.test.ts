import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { personalLoansFixture as fixture } from '../support/personal-loans-fixture.ts';
import { eventually } from './eventually.ts';
import { onStage } from './on-stage.ts';
import type { StagedWidget } from './widget-stage.ts';

interface Told {
  readonly load: string;
  readonly events: readonly { readonly event_id: string; readonly type: string; readonly svc_offer_id?: string }[];
}

const eventsAddress = '**/w/events?*';
const tall = { viewport: { width: 800, height: 3_000 } };
/** As high as the title and half a card: nothing else is in sight. */
const low = { viewport: { width: 800, height: 300 } };

onStage('what a widget tells', (stage) => {
  const offer = (page: Page) => page.locator('.card .go').first();
  const isTelling = (request: Request) => request.url().includes('/w/events');

  /** Every batch that leaves the page from now on. */
  function batchesOf(page: Page): Told[] {
    const batches: Told[] = [];
    page.context().on('request', (request) => {
      if (isTelling(request)) batches.push(JSON.parse(request.postData() ?? '') as Told);
    });
    return batches;
  }

  const typesIn = (batches: readonly Told[]) => batches.flatMap(({ events }) => events.map(({ type }) => type));

  /** What analytics count of the widget's events: those that are any. */
  async function counted({ caller, tag }: StagedWidget): Promise<Record<string, number>> {
    const { widget_events: events } = await caller.summary({ referrer_tag: tag });
    return Object.fromEntries(Object.entries(events).filter(([, count]) => count > 0));
  }

  async function opened(widget: StagedWidget, options: object): Promise<{ page: Page; batches: Told[] }> {
    const page = await (await stage().context(options)).newPage();
    const batches = batchesOf(page);
    await page.goto(stage().page(widget.html));
    await offer(page).waitFor();
    return { page, batches };
  }

  test('is what happened, once each, under ids of its own', async () => {
    const widget = await stage().widget({ maxOffers: 3 });
    const { page, batches } = await opened(widget, tall);
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
    // Three offers were in sight from the start; another order may bring others, each of which counts once more.
    await page
      .waitForRequest((request) => isTelling(request) && /offer_impression/.test(request.postData() ?? ''))
      .catch(() => {});
    await eventually(async () => {
      const { offer_impression: impressions = 0, ...rest } = await counted(widget);
      return [rest, impressions >= 3];
    }, [{ widget_loaded: 1, offers_rendered: 2, offer_details_opened: 2, disclosure_opened: 1, offer_click: 2 }, true]);
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

  test('goes out in batches, as plain text that asks no leave first', async () => {
    const { page, batches } = await opened(await stage().widget({ maxOffers: 3 }), tall);
    let asked = 0;
    page.on('request', (request) => {
      if (request.method() === 'OPTIONS') asked++;
    });
    await page.waitForRequest(
      (request) => isTelling(request) && (request.postData() ?? '').includes('offer_impression'),
    );
    assert.deepEqual(typesIn(batches).slice(0, 2), ['widget_loaded', 'offers_rendered']);
    assert.ok(batches.length <= 3, `${batches.length} requests`);
    assert.equal(asked, 0);
    await page.context().close();
  });

  test('names only offers that were in sight, each once, whatever is scrolled', async () => {
    const widget = await stage().widget({ maxOffers: 4 });
    const { page, batches } = await opened(widget, low);
    await page.waitForRequest((request) => isTelling(request) && (request.postData() ?? '').includes('widget_loaded'));
    const cards = page.locator('.card');
    await cards.nth(2).scrollIntoViewIfNeeded();
    const { offers } = await widget.caller.offers(widget.subId, { max_offers: 4 });
    const third = offers[2]!.svc_offer_id;
    await page.waitForRequest((request) => isTelling(request) && (request.postData() ?? '').includes(third));
    await page.evaluate('scrollTo(0, 0)');
    await cards.nth(2).scrollIntoViewIfNeeded();
    await page.getByText('Details').nth(2).click();
    await page.waitForRequest((request) => isTelling(request) && (request.postData() ?? '').includes('details_opened'));
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

  test('names no offer of an iframe that is out of sight', async () => {
    const widget = await stage().widget();
    const { html } = await widget.caller.embed(widget.subId, 'iframe');
    const page = await (await stage().context(low)).newPage();
    const batches = batchesOf(page);
    await page.goto(stage().page(`<div style="height: 2000px"></div>${html}`));
    await page.frameLocator('iframe').locator('.card .go').first().waitFor();
    await eventually(() => counted(widget), { widget_loaded: 1, offers_rendered: 1 });
    await page.locator('iframe').scrollIntoViewIfNeeded();
    await page.evaluate('scrollTo(0, 2150)');
    await page.waitForRequest(
      (request) => isTelling(request) && (request.postData() ?? '').includes('offer_impression'),
    );
    assert.ok(typesIn(batches).indexOf('offer_impression') >= 2);
    await page.context().close();
  });

  test('is told again under the same ids until it is heard, and counted once', async () => {
    const widget = await stage().widget();
    const page = await (await stage().context(low)).newPage();
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
      // The server hears it, and its answer gets lost.
      await route.fetch();
      return route.abort();
    });
    await page.goto(stage().page(widget.html));
    await offer(page).waitFor();
    for (const attempt of [1, 2, 3]) {
      await page.clock.runFor(10_000);
      await eventually(async () => batches.length >= attempt, true);
    }
    const ids = batches.slice(0, 3).map(({ events }) => events.slice(0, 2).map(({ event_id: id }) => id));
    assert.deepEqual(ids[1], ids[0]);
    assert.deepEqual(ids[2], ids[0]);
    await eventually(async () => {
      const { widget_loaded: loaded, offers_rendered: rendered } = await counted(widget);
      return [loaded, rendered];
    }, [1, 1]);
    await page.context().close();
  });

  test('is not told for ever to a server that does not hear it', async () => {
    const widget = await stage().widget();
    const page = await (await stage().context(low)).newPage();
    await page.clock.install();
    const batches = batchesOf(page);
    await page.route(eventsAddress, (route) => route.abort());
    await page.goto(stage().page(widget.html));
    await offer(page).waitFor();
    for (let minute = 1; minute <= 5; minute++) {
      await page.clock.runFor(60_000);
      await page.evaluate('fetch("data:,")');
    }
    assert.ok(batches.length >= 2 && batches.length <= 6, `${batches.length} attempts`);
    // What is still to tell goes along with the next that happens, or when the page is left.
    await page.unroute(eventsAddress);
    await page.goto('about:blank');
    await eventually(async () => (await counted(widget)).widget_loaded, 1);
    await page.context().close();
  });

  test('goes out when the page is left', async () => {
    const widget = await stage().widget();
    const { page } = await opened(widget, low);
    await page.getByText('How offers are chosen').click();
    await page.locator('.disclosure-text').waitFor();
    await page.goto('about:blank');
    await eventually(async () => {
      const { widget_loaded: loaded, disclosure_opened: disclosed } = await counted(widget);
      return [loaded, disclosed];
    }, [1, 1]);
    await page.context().close();
  });

  test('keeps the latest 200 of more', async () => {
    const widget = await stage().widget();
    const page = await (await stage().context(low)).newPage();
    await page.clock.install();
    await page.goto(stage().page(widget.html));
    await offer(page).waitFor();
    await eventually(async () => (await counted(widget)).offers_rendered, 1);
    // With its clock stopped, the widget sends nothing before it is left.
    await page.clock.pauseAt(Date.now() + 3_600_000);
    await page.getByText('How offers are chosen').evaluate(async (summary) => {
      for (let time = 0; time < 450; time++) {
        const toggled = new Promise((told) => summary.parentElement.addEventListener('toggle', told, { once: true }));
        summary.click();
        await toggled;
      }
    });
    await page.goto('about:blank');
    await eventually(async () => (await counted(widget)).disclosure_opened, 200);
    await page.context().close();
  });

  test('has an error among it where offers could not be shown', async () => {
    const widget = await stage().widget();
    await widget.caller.submit(widget.subId, { [fixture.amount]: null });
    const page = await stage().open(widget.html);
    await page.locator('.message').waitFor();
    await eventually(() => counted(widget), { widget_loaded: 1, widget_error: 1 });
    await page.context().close();
  });
});
