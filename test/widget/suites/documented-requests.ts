import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FrameLocator, Page, Request } from 'playwright-core';
import { checkAgainstDocuments } from '../../support/document-check.ts';
import { eventually } from '../eventually.ts';
import type { WidgetSuite } from '../widget-test-pages.ts';

export const documentedRequests: WidgetSuite = (pages) =>
  describe('requests and responses of a widget in a browser', () => {
    /** Checks a request and its response against the OpenAPI document. Returns method, path and status. */
    async function checkExchange(request: Request): Promise<string> {
      const response = (await request.response())!;
      const { pathname, search } = new URL(request.url());
      const method = request.method();
      const status = response.status();
      const body = request.postData();
      const hasBody = status === 200;
      checkAgainstDocuments(
        { method, path: pathname + search, headers: await request.allHeaders(), ...(body !== null && { body }) },
        {
          status,
          headers: new Map(Object.entries(await response.allHeaders())),
          text: hasBody ? await response.text() : '',
        },
      );
      return `${method} ${pathname} ${status}`;
    }

    async function use(widget: Page | FrameLocator, page: Page): Promise<void> {
      await widget.locator('.card .go').first().waitFor();
      await widget.getByLabel('Sort by').selectOption('lowest_apr');
      await widget.getByRole('status').filter({ hasText: 'Lowest APR' }).waitFor();
      await widget.locator('.card').first().getByText('Details').click();
      const tab = page.context().waitForEvent('page');
      await widget.locator('.card .go').first().click();
      await (await tab).waitForLoadState();
    }

    for (const format of ['js', 'iframe'] as const) {
      test(`requests and responses of a widget with format=${format} conform to the OpenAPI document`, async () => {
        const { caller, subId } = await pages().widget({ mode: 'test', allowed: true });
        const { html } = await caller.embed(subId, format);
        const page = await (await pages().context({ viewport: { width: 800, height: 2_000 } })).newPage();
        const { origin } = new URL(pages().market.marketplace.urls.widget);
        const exchanges: Promise<string>[] = [];
        const onRequest = (request: Request) => {
          if (new URL(request.url()).origin === origin) exchanges.push(checkExchange(request));
        };
        page.context().on('requestfinished', onRequest);
        await page.goto(pages().page(html));
        await use(format === 'js' ? page : page.frameLocator('iframe'), page);
        const wanted = [
          'GET /w/offers 200',
          'GET /w/widget.js 200',
          'POST /w/events 204',
          'GET /c 302',
          'GET /c/sandbox 200',
        ];
        if (format === 'iframe') wanted.push('GET /w 200');
        await eventually(async () => {
          const seen = new Set(await Promise.all(exchanges));
          return wanted.filter((exchange) => !seen.has(exchange));
        }, []);
        assert.ok(exchanges.length >= wanted.length);
        page.context().off('requestfinished', onRequest);
        await Promise.all(exchanges);
        await page.context().close();
      });
    }
  });
