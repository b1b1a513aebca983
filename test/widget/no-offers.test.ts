import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { bounds } from '../../src/bounds.ts';
import { personalLoansFixture as fixture } from '../support/personal-loans-fixture.ts';
import { loadId, WidgetCaller } from '../support/widget-caller.ts';
import { onStage } from './on-stage.ts';

onStage('a widget without offers', (stage) => {
  const titled = (page: Page, title: string) => page.locator('.message').getByRole('heading', { name: title });
  const offer = (page: Page) => page.locator('.card .go').first();
  const retry = (page: Page) => page.getByRole('button', { name: /^Try again/ });
  const offersAddress = '**/w/offers?*';

  /** What the console is told as an error by the widget itself. */
  function complaints(page: Page): string[] {
    const told: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && message.text().startsWith('Offers widget:')) told.push(message.text());
    });
    return told;
  }

  async function blank(): Promise<Page> {
    return (await stage().context()).newPage();
  }

  test('says what to do where nothing matches', async () => {
    const { html } = await stage().widget({ mode: 'live', allowed: true, fields: fixture.unmatched });
    const page = await stage().open(html);
    await titled(page, 'No offers match right now').waitFor();
    assert.match((await page.locator('.message').textContent()) ?? '', /smaller amount/);
    assert.match((await page.getByRole('status').textContent()) ?? '', /^No offers match right now/);
    assert.equal(await page.getByLabel('Sort by').isVisible(), false);
    assert.equal(await retry(page).count(), 0);
    await page.context().close();
  });

  test('says that its session is over, at the start and at a change of order', async () => {
    const { html } = await stage().widget();
    const early = await stage().open(html);
    await offer(early).waitFor();
    stage().market.clock.advance(bounds.sessionTtlMs);
    await early.getByLabel('Sort by').selectOption('lowest_apr');
    const late = await stage().open(html);
    for (const page of [early, late]) {
      await titled(page, 'These offers have expired').waitFor();
      assert.equal(await page.locator('.card').count(), 0);
      assert.equal(await retry(page).count(), 0);
      await page.context().close();
    }
  });

  test('tells the partner where it may not be embedded, by the origin to allow', async () => {
    const { html } = await stage().widget({ mode: 'live' });
    const page = await blank();
    const told = complaints(page);
    await page.goto(stage().page(html));
    await titled(page, 'Offers cannot be shown here').waitFor();
    assert.equal(told.length, 1);
    assert.ok(told[0]!.includes(stage().pages.origin) && told[0]!.includes('embedding origins'), told[0]);
    await page.context().close();
  });

  test('tells the partner that sub and token do not belong together', async () => {
    const [one, other] = [await stage().widget(), await stage().widget()];
    const page = await blank();
    const told = complaints(page);
    await page.goto(stage().page(one.html.replace(one.token, other.token)));
    await titled(page, 'Offers cannot be shown here').waitFor();
    assert.match(told.join(), /data-sub and data-token/);
    await page.context().close();
  });

  test('waits for answers that are missing, and shows offers once they are there', async () => {
    const { caller, subId, html } = await stage().widget();
    await caller.submit(subId, { [fixture.amount]: null });
    const page = await stage().open(html);
    await titled(page, 'A few answers are missing').waitFor();
    await caller.submit(subId, { [fixture.amount]: 12_000 });
    await retry(page).focus();
    await page.keyboard.press('Enter');
    await offer(page).waitFor();
    // The button is gone, and the keyboard is not lost with it.
    assert.equal(await page.locator('.title').evaluate((title) => title.getRootNode().activeElement === title), true);
    await page.context().close();
  });

  test('tries again by itself what may pass, and in the end says so', async () => {
    const { subId, token, html } = await stage().widget();
    const widget = new WidgetCaller(stage().market.http, subId, token);
    for (let load = 1; load <= bounds.widgetRequestsPerMinute; load++)
      await widget.get('/offers', { load: loadId(load) });
    const page = await blank();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().includes('/w/offers')) asked++;
    });
    await page.goto(stage().page(html));
    await titled(page, 'Many people are asking right now').waitFor();
    assert.equal(asked, 3);
    stage().market.clock.advance(60_000);
    await retry(page).click();
    await offer(page).waitFor();
    await page.context().close();
  });

  test('counts a long wait down before it may be asked again', async () => {
    const { html } = await stage().widget();
    const page = await blank();
    await page.clock.install();
    let asked = 0;
    await page.route(offersAddress, (route) => {
      asked++;
      return asked > 1
        ? route.continue()
        : route.fulfill({
            status: 503,
            headers: {
              'Retry-After': '30',
              'Access-Control-Allow-Origin': '*',
              'Access-Control-Expose-Headers': 'Retry-After',
            },
            json: { error: 'SERVICE_UNAVAILABLE', message: 'busy' },
          });
    });
    await page.goto(stage().page(html));
    await titled(page, 'Many people are asking right now').waitFor();
    assert.equal(await retry(page).isDisabled(), true);
    assert.match((await retry(page).textContent()) ?? '', /in (30|29) s$/);
    await page.clock.runFor(31_000);
    assert.equal(asked, 1);
    assert.equal(await retry(page).isEnabled(), true);
    await retry(page).click();
    await offer(page).waitFor();
    await page.context().close();
  });

  test('never waits for an answer without end', async () => {
    const { html } = await stage().widget();
    const page = await blank();
    await page.clock.install();
    await page.route(offersAddress, () => {});
    const asked = page.waitForRequest(/\/w\/offers/);
    await page.goto(stage().page(html));
    await asked;
    assert.equal(await page.locator('.coming').count(), 5);
    await page.clock.runFor(10_000);
    await titled(page, 'Offers could not be loaded').waitFor();
    await page.unroute(offersAddress);
    await retry(page).click();
    await offer(page).waitFor();
    await page.context().close();
  });

  test('comes back by itself with the connection, and is still one view', async () => {
    const { caller, tag, html } = await stage().widget();
    const page = await blank();
    await page.route(offersAddress, (route) => route.abort());
    await page.goto(stage().page(html));
    await titled(page, 'Offers could not be loaded').waitFor();
    await page.unroute(offersAddress);
    await page.context().setOffline(true);
    await page.context().setOffline(false);
    await offer(page).waitFor();
    assert.equal((await caller.summary({ referrer_tag: tag })).marketplace_views, 1);
    await page.context().close();
  });

  test('keeps the offers it has when another order cannot be had', async () => {
    const { html } = await stage().widget();
    const page = await stage().open(html);
    await offer(page).waitFor();
    const before = await page.locator('.card .name').allTextContents();
    await page.route(offersAddress, (route) => route.abort());
    await page.getByLabel('Sort by').selectOption('highest_amount');
    await page.getByRole('alert').filter({ hasText: 'The order could not be changed' }).waitFor();
    assert.deepEqual(await page.locator('.card .name').allTextContents(), before);
    assert.equal(await page.getByLabel('Sort by').inputValue(), 'recommended');
    await page.unroute(offersAddress);
    await page.getByLabel('Sort by').selectOption('highest_amount');
    await page.getByRole('status').filter({ hasText: 'Highest amount' }).waitFor();
    assert.equal(await page.getByRole('alert').filter({ hasText: 'order' }).count(), 0);
    await page.context().close();
  });
});
