import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { bounds } from '../../src/bounds.ts';
import { onStage } from './on-stage.ts';
import type { StagedWidget } from './widget-stage.ts';

const dayMs = 86_400_000;

onStage('offers on a page that stays open', (stage) => {
  const offer = (page: Page) => page.locator('.card .go').first();
  const expired = (page: Page) => page.locator('.message').getByRole('heading', { name: 'These offers have expired' });

  /** A page whose time the test moves, with offers on it. */
  async function opened({ html }: StagedWidget, time?: string): Promise<Page> {
    const page = await (await stage().context()).newPage();
    await page.clock.install(time === undefined ? {} : { time });
    await page.goto(stage().page(html));
    await offer(page).waitFor();
    return page;
  }

  test('are said to be out of date when they are, whatever the time is on the visitor’s clock', async () => {
    for (const time of ['2001-01-01', '2049-12-31']) {
      const widget = await stage().widget();
      const page = await opened(widget, time);
      const said: string[] = [];
      page.on('console', (message) => said.push(message.text()));
      await page.clock.runFor(bounds.sessionTtlMs - 60_000);
      assert.equal(await expired(page).count(), 0, time);
      await offer(page).focus();
      await page.clock.runFor(60_000);
      await expired(page).waitFor();
      assert.equal(await page.locator('.card').count(), 0);
      assert.match((await page.getByRole('status').textContent()) ?? '', /^These offers have expired/);
      // The keyboard is not lost with what it was on, and nobody made a mistake that the console would have to name.
      assert.equal(await page.locator('.title').evaluate((title) => title.getRootNode().activeElement === title), true);
      assert.deepEqual(said, []);
      const { marketplace_views: views } = await widget.caller.summary({ referrer_tag: widget.tag });
      assert.equal(views, 1);
      await page.context().close();
    }
  });

  test('are looked at again when somebody comes back to the page, as no timer ran meanwhile', async () => {
    for (const comingBack of [
      'document.dispatchEvent(new Event("visibilitychange"))',
      'dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))',
    ]) {
      const page = await opened(await stage().widget());
      const now = await page.evaluate<number>('Date.now()');
      for (const [passedMs, isOver] of [
        [bounds.sessionTtlMs - 60_000, false],
        [bounds.sessionTtlMs, true],
      ] as const) {
        await page.clock.setSystemTime(now + passedMs);
        assert.equal(await expired(page).count(), 0);
        await page.evaluate(comingBack);
        assert.equal(await expired(page).count(), isOver ? 1 : 0, comingBack);
      }
      await page.context().close();
    }
  });

  test('hold for longer than a timer of browsers can wait', async () => {
    const { html } = await stage().widget();
    const page = await (await stage().context()).newPage();
    await page.clock.install();
    await page.route('**/w/offers?*', async (route) => {
      const answer = await route.fetch();
      const envelope = await answer.json();
      const expires_at = new Date(Date.parse(envelope.generated_at) + 40 * dayMs).toISOString();
      await route.fulfill({ response: answer, json: { ...envelope, expires_at } });
    });
    await page.goto(stage().page(html));
    await offer(page).waitFor();
    await page.clock.runFor(39 * dayMs);
    assert.equal(await expired(page).count(), 0);
    await page.clock.runFor(dayMs);
    await expired(page).waitFor();
    await page.context().close();
  });

  test('are counted from the latest answer', async () => {
    const page = await opened(await stage().widget());
    const halfMs = bounds.sessionTtlMs / 2;
    await page.clock.runFor(halfMs);
    stage().market.clock.advance(halfMs);
    await page.getByLabel('Sort by').selectOption('lowest_apr');
    await page.getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
    await page.clock.runFor(halfMs - 60_000);
    assert.equal(await expired(page).count(), 0);
    await page.clock.runFor(60_000);
    await expired(page).waitFor();
    await page.context().close();
  });
});
