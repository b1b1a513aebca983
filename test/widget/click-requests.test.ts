import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, useWidgetTestPages } from './widget-test-pages.ts';

const pages = useWidgetTestPages();

test('a page that loads click URLs as parts books nothing, and clicks in a frame and in the window count', async (t) => {
  const { caller, tag, subId } = await pages.widget();
  const { offers } = await caller.offers(subId, { max_offers: 20 });
  const [part, framed, opened] = offers.map(({ click_url: url }) => url) as [string, string, string];
  const page = await pages.newPage(t);
  const answered: number[] = [];
  page.on('response', (response) => {
    if (response.url().startsWith(part)) answered.push(response.status());
  });
  const link = (name: string, url: string) => `<a href="${url.replaceAll('&', '&amp;')}" target="${name}">${name}</a>`;
  const parts = [
    `<img alt="" src="${part}&n=1">`,
    `<script src="${part}&n=2"></script>`,
    `<link rel="stylesheet" href="${part}&n=3">`,
    `<object data="${part}&n=4"></object>`,
    `<embed src="${part}&n=5">`,
    `<video src="${part}&n=6" preload="auto"></video>`,
    `<script type="module">await fetch('${part}&n=7', { mode: 'no-cors' }).catch(() => null);</script>`,
    `<link rel="prefetch" href="${part}&n=8">`,
  ];
  await page.goto(
    pages.url(`${link('inside', framed)} ${link('_self', opened)}<iframe name="inside"></iframe>${parts.join('\n')}`),
  );
  await eventually(async () => answered.length, parts.length);
  assert.deepEqual(answered.toSorted(), [302, 302, 302, 302, 302, 302, 302, 503]);
  const clicks = async () => (await caller.summary({ referrer_tag: tag })).offer_clicks;
  assert.equal(await clicks(), 0);
  await page.getByText('inside').click();
  await eventually(clicks, 1);
  await page.getByText('_self').click();
  await eventually(clicks, 2);
});
