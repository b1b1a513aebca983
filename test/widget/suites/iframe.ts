import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { bounds } from '../../../src/bounds.ts';
import { personalLoansFixture as fixture } from '../../support/vertical-fixtures.ts';
import { eventually } from '../eventually.ts';
import type { WidgetSuite } from '../widget-test-pages.ts';

export const iframe: WidgetSuite = (pages) =>
  describe('a widget in an iframe', () => {
    test('the browser blocks an iframe if the account does not allow the origin', async () => {
      const account = 'at home elsewhere';
      const caller = pages().market.caller(fixture, { account, mode: 'live' });
      const { origins } = pages().market.marketplace;
      for (const elsewhere of [null, 'https://www.example.com']) {
        if (elsewhere !== null) origins.allow(account, elsewhere);
        const tag = `refused-${elsewhere === null ? 'everywhere' : 'here'}`;
        const subId = await caller.sessionWith(tag, fixture.complete);
        const { html, src } = await caller.embed(subId, 'iframe');
        const page = await (await pages().context()).newPage();
        const consoleLines: string[] = [];
        page.on('console', (message) => consoleLines.push(message.text()));
        let requestCount = 0;
        page.on('request', (request) => {
          if (/\/w\/(widget\.js|offers|events)/.test(request.url())) requestCount++;
        });
        const answered = page.waitForResponse(src);
        await page.goto(pages().page(html));
        assert.equal((await answered).status(), 200);
        await page.waitForLoadState('networkidle');
        const [, frame] = page.frames();
        assert.equal(frame?.url(), 'chrome-error://chromewebdata/');
        assert.equal(await frame?.locator('.panel').count(), 0);
        assert.equal(requestCount, 0);
        assert.equal(consoleLines.length, 1, consoleLines.join('\n'));
        assert.match(consoleLines[0]!, /frame-ancestors/);
        assert.equal((await caller.summary({ referrer_tag: tag })).marketplace_views, 0);
        await page.context().close();
      }
    });

    test('a widget in an iframe can be sorted, and shows a message for expired offers', async () => {
      const { caller, tag, subId } = await pages().widget({ mode: 'live', allowed: true });
      const { html } = await caller.embed(subId, 'iframe');
      const page = await (await pages().context()).newPage();
      await page.clock.install();
      await page.goto(pages().page(html));
      const frame = page.frameLocator('iframe');
      await frame.locator('.card .go').first().waitFor();
      await frame.getByLabel('Sort by').selectOption('lowest_apr');
      await frame.getByRole('status').filter({ hasText: 'sorted by: Lowest APR' }).waitFor();
      const lowest = (await frame.locator('.apr .value').allTextContents()).map((text) => Number.parseFloat(text));
      assert.ok(lowest.length > 1);
      assert.deepEqual(
        lowest,
        [...lowest].sort((a, b) => a - b),
      );
      assert.equal((await caller.summary({ referrer_tag: tag })).marketplace_views, 1);
      await page.clock.runFor(bounds.sessionTtlMs);
      await frame.getByRole('heading', { name: 'These offers have expired' }).waitFor();
      assert.equal(await frame.locator('.card').count(), 0);
      await page.context().close();
    });

    test('an iframe is as high as its offers if the page includes the script of docs/widget.md', async () => {
      const [snippet] = /<script>\naddEventListener.+?<\/script>/s.exec(readFileSync('docs/widget.md', 'utf8'))!;
      const { caller, subId } = await pages().widget({ mode: 'live', allowed: true });
      const { html } = await caller.embed(subId, 'iframe');
      const page = await pages().open(html, { viewport: { width: 800, height: 600 } }, snippet);
      const frame = page.frameLocator('iframe');
      const heights = async () => [
        await page.locator('iframe').evaluate(({ clientHeight }) => clientHeight),
        await frame.locator('.frame').evaluate((all) => Math.ceil(all.getBoundingClientRect().height)),
      ];
      const sized = async () => {
        const [outside, inside] = await heights();
        return [
          outside === inside,
          await frame.locator('html').evaluate((root) => root.scrollHeight > root.clientHeight),
        ];
      };
      await frame.locator('.card .go').first().waitFor();
      await eventually(sized, [true, false]);
      const [before] = await heights();
      // The iframe grows when details are opened, and shrinks again.
      await frame.locator('.card').first().getByText('Details').click();
      await eventually(async () => [...(await sized()), (await heights())[0]! > before!], [true, false, true]);
      await frame.locator('.card').first().getByText('Details').click();
      await eventually(async () => [...(await sized()), (await heights())[0]], [true, false, before]);
      // A message from another source, such as the page itself, changes nothing.
      await page.evaluate(`postMessage({ type: 'svc-offers-height', height: 7 }, '*')`);
      assert.deepEqual(await sized(), [true, false]);
      await page.context().close();
    });

    test('an iframe shows a message for an expired session, at the start and after a change of the sort order', async () => {
      const { caller, subId } = await pages().widget({ mode: 'live', allowed: true });
      const { html } = await caller.embed(subId, 'iframe');
      const early = await pages().open(html);
      await early.frameLocator('iframe').locator('.card .go').first().waitFor();
      pages().market.clock.advance(bounds.sessionTtlMs);
      await early.frameLocator('iframe').getByLabel('Sort by').selectOption('lowest_apr');
      const late = await pages().open(html);
      for (const [page, title] of [
        [early, 'These offers have expired'],
        // The page inside the iframe shows the message.
        [late, 'These offers are out of date'],
      ] as const) {
        await page.frameLocator('iframe').getByRole('heading', { name: title }).waitFor();
        assert.equal(await page.frameLocator('iframe').locator('.card').count(), 0);
        await page.context().close();
      }
    });
  });
