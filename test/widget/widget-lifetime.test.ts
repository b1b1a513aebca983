import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import {
  collectErrors,
  countedEvents,
  countedViews,
  countOfferRequests,
  eventually,
  offerCards,
  offerLink,
  offersAddress,
  sortByApr,
  useWidgetTestPages,
} from './widget-test-pages.ts';

const pages = useWidgetTestPages();

/** Returns the names of the events for which document or window have listeners. */
async function listeners(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const found: string[] = [];
  for (const expression of ['document', 'window']) {
    const { result } = await session.send('Runtime.evaluate', { expression });
    const { listeners: here } = await session.send('DOMDebugger.getEventListeners', { objectId: result.objectId! });
    found.push(...here.map(({ type }) => `${expression} ${type}`));
  }
  await session.detach();
  return found.sort();
}

/** Records the timers, observers and requests of the page that have not ended. */
const recordResources = `
  const active = new Set();
  globalThis.countActive = () => active.size;
  const { setTimeout: start, clearTimeout: stop, fetch: send } = globalThis;
  globalThis.setTimeout = (run, ms) => {
    const timer = start(() => (active.delete(timer), run()), ms);
    active.add(timer);
    return timer;
  };
  globalThis.clearTimeout = (timer) => (active.delete(timer), stop(timer));
  globalThis.fetch = async (...request) => {
    const key = {};
    active.add(key);
    try {
      return await send(...request);
    } finally {
      active.delete(key);
    }
  };
  for (const { prototype } of [IntersectionObserver, ResizeObserver, MutationObserver]) {
    const { observe, disconnect } = prototype;
    prototype.observe = function (...target) { active.add(this); observe.apply(this, target); };
    prototype.disconnect = function () { active.delete(this); disconnect.call(this); };
  }
`;

const countActive = (page: Page): Promise<number> => page.evaluate('globalThis.countActive()');

describe('a widget whose container is removed', () => {
  const removals = [
    'container.remove()',
    'container.parentElement.remove()',
    'container.replaceChildren()',
    'container.textContent = "Closed"',
    'container.firstChild.remove()',
    'container.outerHTML = container.outerHTML',
    'document.body.replaceChildren()',
    'new Image().append(container)',
    'new DocumentFragment().append(container)',
  ];
  /** States of a widget, and the offers responses that lead to them; null for none. */
  const states = [
    { state: 'loading offers', respond: () => null, shows: '.placeholder' },
    {
      state: 'waiting for the next attempt',
      respond: () => ({ status: 500, headers: {}, json: { error: 'INTERNAL_ERROR' } }),
      shows: '.placeholder',
    },
    {
      state: 'showing a countdown',
      respond: () => ({ status: 503, headers: { 'Retry-After': '90' }, json: { error: 'SERVICE_UNAVAILABLE' } }),
      shows: '.go:disabled',
    },
    { state: 'showing offers', respond: undefined, shows: '.card:not(.placeholder)' },
  ];
  for (const { state, respond, shows } of states) {
    test(`a widget that is ${state} ends with its container`, async (t) => {
      const { html } = await pages.widget({ maxOffers: 1 });
      const page = await pages.newPage(t);
      const url = pages.url('');
      await page.addInitScript(recordResources);
      const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' };
      if (respond !== undefined) {
        await page.route(offersAddress, (route) => {
          const response = respond();
          return response === null
            ? undefined
            : route.fulfill({ ...response, headers: { ...cors, ...response.headers } });
        });
      }
      for (const removal of removals) {
        await page.goto(url);
        const before = await listeners(page);
        await page.setContent(`<section>${html}</section>`);
        await page.locator(shows).first().waitFor();
        assert.ok((await countActive(page)) > 0);
        const requests = countOfferRequests(page);
        await page.evaluate(
          `{ const container = document.querySelector('[id^=svc-offers]'); ${removal}; globalThis.kept = container; }`,
        );
        await eventually(() => countActive(page), 0);
        assert.deepEqual(await listeners(page), before, removal);
        // The removed elements are still usable by the page, but they neither request nor report anything.
        await page.evaluate(`
          for (const part of globalThis.kept.firstChild?.shadowRoot?.querySelectorAll('select, summary, .go:not(a)') ?? []) {
            part.disabled = false;
            part.click();
            part.dispatchEvent(new Event('change'));
          }
          dispatchEvent(new Event('online'));
        `);
        assert.deepEqual([await countActive(page), requests.count], [0, 0], removal);
      }
    });
  }

  test('a widget whose container is removed before the script runs requests no offers and counts no view', async (t) => {
    const widget = await pages.widget();
    const page = await pages.newPage(t);
    let run: (() => Promise<void>) | undefined;
    await page.route(/widget\.js\?/, (route) => {
      run = () => route.continue();
    });
    const requests = countOfferRequests(page);
    await page.goto(pages.url(widget.html), { waitUntil: 'commit' });
    await eventually(async () => run !== undefined, true);
    await page.evaluate(`document.querySelector('[id^=svc-offers]').remove()`);
    await run!();
    await page.waitForLoadState('networkidle');
    assert.equal(requests.count, 0);
    assert.equal(await countedViews(widget), 0);
    assert.deepEqual(await countedEvents(widget), {});
  });

  test('a script that the page has removed together with its container logs no error', async (t) => {
    const { html } = await pages.widget();
    const page = await pages.open(t, '');
    const errors = collectErrors(page);
    const script = page.waitForResponse(/widget\.js\?/);
    await page.evaluate(mountScript(html, 'mount(); unmount();'));
    await (await script).finished();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(errors, []);
  });

  test('the events of a removed widget are sent', async (t) => {
    const widget = await pages.widget({ maxOffers: 1 });
    const page = await pages.newPage(t);
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 3_600_000);
    await page.goto(pages.url(widget.html));
    await offerLink(page).waitFor();
    await page.evaluate(`document.querySelector('[id^=svc-offers]').remove()`);
    await eventually(() => countedEvents(widget), { widget_loaded: 1, offers_rendered: 1 });
  });

  test('a removed iframe sends its events and nothing else', async (t) => {
    const widget = await pages.widget({ maxOffers: 1 });
    const { html } = await widget.caller.getEmbedCode(widget.subId, 'iframe', { max_offers: 1 });
    const page = await pages.open(t, html, { viewport: { width: 800, height: 40 } });
    await offerLink(page.frameLocator('iframe')).waitFor();
    const requests = countOfferRequests(page);
    await page.evaluate(`document.querySelector('iframe').remove()`);
    await eventually(() => countedEvents(widget), { widget_loaded: 1, offers_rendered: 1 });
    assert.equal(requests.count, 0);
    assert.equal(await countedViews(widget), 1);
  });

  test('a removed widget leaves the other widgets of the page alone', async (t) => {
    const widget = await pages.widget({ maxOffers: 3 });
    const second = widget.html.replaceAll(/svc-offers-[0-9a-f]+/g, 'second-container');
    const page = await pages.open(t, widget.html + second);
    await page.locator('#second-container .card .go').first().waitFor();
    await page.evaluate(`document.querySelector('[id^=svc-offers]').remove()`);
    await sortByApr(page.locator('#second-container'));
    assert.equal(await countedViews(widget), 2);
  });
});

describe('a widget that is moved', () => {
  const moves = [
    'document.body.append(container)',
    'document.body.prepend(container.parentElement)',
    'container.remove(); document.body.append(container)',
    'const [host] = container.children; const other = document.createElement("div"); document.body.append(other); other.append(host)',
    'const other = document.createElement("div"); document.body.append(other); other.attachShadow({ mode: "open" }).append(container)',
    'const { parentElement: parent } = container; parent.replaceChildren(); parent.append(container)',
  ];
  test('a moved widget keeps its offers, can be sorted and counts one view', async (t) => {
    for (const move of moves) {
      const widget = await pages.widget({ maxOffers: 3 });
      const page = await pages.open(t, widget.html);
      await offerLink(page).waitFor();
      const requests = countOfferRequests(page);
      await page.evaluate(`{ const container = document.querySelector('[id^=svc-offers]'); ${move}; }`);
      await sortByApr(page);
      assert.equal(requests.count, 1, move);
      assert.equal(await countedViews(widget), 1, move);
    }
  });

  test('a widget that is moved while offers load shows them', async (t) => {
    for (const move of moves) {
      const { page, url, ...widget } = await pages.prepare(t, { maxOffers: 1 });
      let respond: (() => Promise<void>) | undefined;
      await page.route(offersAddress, (route) => {
        respond = () => route.continue();
      });
      await page.goto(url);
      await eventually(async () => respond !== undefined, true);
      await page.evaluate(`{ const container = document.querySelector('[id^=svc-offers]'); ${move}; }`);
      await respond!();
      await offerLink(page).waitFor();
      assert.equal(await countedViews({ ...widget }), 1, move);
    }
  });
});

/**
 * Returns a script for the page that defines `mount` and `unmount`, which insert and remove the embed code as the component of a
 * framework does, and then runs `steps`.
 *
 * @param kind where the component inserts the script element, and what its clean-up removes
 */
function mountScript(html: string, steps: string, kind: MountKind = 'both'): string {
  return `{
    const template = document.createElement('template');
    template.innerHTML = ${JSON.stringify(html)};
    const [container, inert] = template.content.children;
    const home = document.body;
    let script;
    globalThis.scriptsRun = 0;
    globalThis.mount = () => {
      script = document.createElement('script');
      script.onload = () => globalThis.scriptsRun++;
      for (const { name, value } of inert.attributes) script.setAttribute(name, value);
      if (!container.isConnected) home.append(container);
      ('${kind}' === 'inside' || '${kind}' === 'nothing' ? container : document.head).append(script);
    };
    globalThis.unmount = () => {
      if ('${kind}' === 'inside') container.replaceChildren();
      if ('${kind}' === 'script' || '${kind}' === 'both') script.remove();
      if ('${kind}' === 'both' || '${kind}' === 'container') container.remove();
    };
    ${steps}
  }`;
}
type MountKind = 'both' | 'script' | 'container' | 'inside' | 'nothing';

describe('a widget that is mounted, unmounted and mounted again', () => {
  const kinds: readonly MountKind[] = ['both', 'script', 'container', 'inside', 'nothing'];

  test('a widget that is mounted twice at once, as in the strict mode of React, counts one view', async (t) => {
    for (const kind of kinds) {
      const widget = await pages.widget({ maxOffers: 1 });
      const page = await pages.open(t, '');
      // The responses arrive after both scripts have run.
      const held: Route[] = [];
      await page.route(offersAddress, (route) => {
        held.push(route);
      });
      await page.evaluate(mountScript(widget.html, 'mount(); unmount(); mount();', kind));
      await eventually(() => page.evaluate('globalThis.scriptsRun'), 2);
      await eventually(async () => held.length > 0, true);
      await page.unroute(offersAddress);
      for (const route of held) await route.continue().catch(() => {});
      await offerLink(page).waitFor();
      await eventually(async () => {
        const { widget_loaded: loaded, offers_rendered: rendered } = await countedEvents(widget);
        return [loaded, rendered, await countedViews(widget)];
      }, [1, 1, 1]);
      assert.equal(await offerCards(page).count(), 1, kind);
    }
  });

  test('a widget that is mounted again while its offers load continues its load', async (t) => {
    const widget = await pages.widget({ maxOffers: 1 });
    const page = await pages.open(t, '');
    let requests = 0;
    await page.route(offersAddress, async (route) => {
      // The server answers the first request and counts a view, but the widget ends before the answer arrives.
      if (++requests === 1) await route.fetch();
      else await route.continue();
    });
    await page.evaluate(mountScript(widget.html, 'mount();'));
    await eventually(() => countedViews(widget), 1);
    await page.evaluate('unmount(); mount();');
    await offerLink(page).waitFor();
    await eventually(() => countedEvents(widget), { widget_loaded: 1, offers_rendered: 1, offer_impression: 1 });
    assert.equal(await countedViews(widget), 1);
  });

  test('a widget that is mounted again after it showed offers counts a second view', async (t) => {
    const widget = await pages.widget({ maxOffers: 1 });
    const page = await pages.open(t, '');
    await page.evaluate(mountScript(widget.html, 'mount();', 'inside'));
    await offerLink(page).waitFor();
    await page.evaluate('unmount();');
    await page.evaluate('mount();');
    await offerLink(page).waitFor();
    await eventually(() => countedViews(widget), 2);
  });

  test('a widget starts again in its place when the page inserts its container again', async (t) => {
    for (const [kept, views] of [
      ['offers', 2],
      ['placeholders', 1],
    ] as const) {
      const { page, url, ...widget } = await pages.prepare(t, { maxOffers: 2 });
      let requests = 0;
      await page.route(offersAddress, async (route) => {
        if (++requests === 1 && kept === 'placeholders') await route.fetch();
        else await route.continue();
      });
      await page.goto(url);
      if (kept === 'offers') await offerLink(page).waitFor();
      else await eventually(() => countedViews(widget), 1);
      await page.evaluate(
        `globalThis.kept = document.querySelector('[id^=svc-offers]'); kept.append('Beside'); kept.remove()`,
      );
      await page.evaluate('document.body.append(kept)');
      await offerLink(page).waitFor();
      await sortByApr(page);
      assert.equal(await offerCards(page).count(), 2);
      assert.equal(await page.getByText('Beside').count(), 1);
      await eventually(() => countedViews(widget), views);
    }
  });
});

describe('a second widget in the same container', () => {
  /** Adds the script element a second time, as single-page applications do. Marks the first widget as old. */
  const addAgain = `
    document.querySelector('[id^=svc-offers] > svc-offers-host').dataset.old = '';
    const again = document.createElement('script');
    for (const { name, value } of document.querySelector('script[data-sub]').attributes) again.setAttribute(name, value);
    document.body.append(again);
  `;
  const firstOffer = (page: Page) =>
    page.locator('[id^=svc-offers] > svc-offers-host:not([data-old]) .card .go').first();

  async function replaceWidget(page: Page): Promise<void> {
    await page.evaluate(`{${addAgain}}`);
    await firstOffer(page).waitFor();
  }

  test('a second widget removes all event listeners of the first widget', async (t) => {
    const { html } = await pages.widget();
    const page = await pages.open(t, html);
    await firstOffer(page).waitFor();
    const before = await listeners(page);
    assert.ok(before.includes('document visibilitychange') && before.includes('window pagehide'), before.join());
    for (let time = 1; time <= 3; time++) await replaceWidget(page);
    assert.deepEqual(await listeners(page), before);
  });

  test('the pending events of the first widget are sent before the first request of a second widget', async (t) => {
    const { page, url, caller, tag } = await pages.prepare(t);
    await page.clock.install();
    // A widget sends nothing by itself while the clock is stopped.
    await page.clock.pauseAt(Date.now() + 3_600_000);
    const requests: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/w/offers') requests.push(`offers ${searchParams.get('load')}`);
      if (pathname === '/w/events') {
        const { load, events } = JSON.parse(request.postData() ?? '');
        requests.push(`events ${load} ${events.map(({ type }: { type: string }) => type).join(' ')}`);
      }
    });
    await page.goto(url);
    await firstOffer(page).waitFor();
    await replaceWidget(page);
    const loads = requests.flatMap((line) => /^offers (.+)$/.exec(line)?.[1] ?? []);
    const [first, second] = loads;
    assert.ok(loads.length === 2 && first !== second, requests.join('\n'));
    const inOrder = [`offers ${first}`, `events ${first} widget_loaded offers_rendered`, `offers ${second}`];
    assert.deepEqual(requests, inOrder);
    await page.goto('about:blank');
    await eventually(async () => {
      const { marketplace_views: views, widget_events: events } = await caller.summary({ referrer_tag: tag });
      return [views, events.widget_loaded, events.offers_rendered];
    }, [2, 2, 2]);
  });

  test('a second widget cancels the pending request of the first widget', async (t) => {
    const { page, url } = await pages.prepare(t);
    // The request does not time out while the clock is stopped.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 3_600_000);
    let requests = 0;
    await page.route(offersAddress, (route) => {
      if (++requests > 1) void route.continue();
    });
    const cancelled = page.waitForEvent('requestfailed', (request) => request.url().includes('/w/offers'));
    await page.goto(url);
    await page.locator('.placeholder').first().waitFor();
    await replaceWidget(page);
    await cancelled;
    assert.equal(requests, 2);
  });
});
