import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import type { ConfirmationsResponse } from '../../src/index.ts';
import { findAccessibilityViolations } from '../support/accessibility.ts';
import { clickIdFromRedirect } from '../support/click-ids.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { saveScreenshot, useConsoles, waitUntilLoaded } from './console-browser.ts';

const { operator } = useConsoles(() => RunningMarketplace.start('uws'));
const open = (t: TestContext) => operator.open(t, operator.market.operatorToken, '#/confirmations');
const header = 'click_id,txid,status,amount,occurred_at,note';
const confirmationsAddress = '**/console/api/confirmations';

/** Clicks the first offers of a new session. Returns the click_ids and the caller. */
async function clickOffers(tag: string, count: number) {
  const { key } = operator.market.issueKey(fixture, { mode: 'live' });
  // A restart changes the port, so each request needs a new caller.
  const caller = operator.market.callerWithKey(fixture, key);
  const subId = await caller.createSessionWithFields(tag, fixture.complete);
  const { offers } = await caller.offers(subId, { max_offers: count });
  const clickIds: string[] = [];
  for (const { svc_offer_id: id, click_url: url } of offers) {
    clickIds.push(clickIdFromRedirect(fixture, id, await caller.click(url)));
  }
  const readConfirmed = async () =>
    (await operator.market.callerWithKey(fixture, key).summary({ referrer_tag: tag })).rev_confirmed;
  return { clickIds, readConfirmed };
}

function toCsv(clickIds: readonly string[], rows: readonly string[] = []): string {
  const occurredAt = new Date(operator.market.clock.wallMs()).toISOString();
  return [
    header,
    ...clickIds.map((id, index) => `${id},t-${id.slice(-8)}-${index},funded,10,${occurredAt},`),
    ...rows,
  ].join('\n');
}

async function sendFile(page: Page, name: string, content: string): Promise<void> {
  await page
    .getByLabel('File of confirmations')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
  await page.getByRole('button', { name: 'Send the file' }).click();
}

/** Returns the visible counts of the upload: rows read, booked now, booked before, rejected. */
function readCounts(page: Page): Promise<string[]> {
  return page.locator('.figures dd').allTextContents();
}

test('a file with bad rows books the good rows, shows the reason of each bad row, and returns the bad rows as a file', async (t) => {
  const { clickIds, readConfirmed } = await clickOffers('bad-rows', 2);
  const hostile = '<img src=x onerror=alert(1)>';
  const content = toCsv(clickIds, [
    `AAFnothing,t-1,funded,5,2026-05-20T00:00:00Z,${hostile}`,
    `${clickIds[0]},t-2,funded,-4,,=1+1`,
    'a,b',
  ]);
  const page = await open(t);
  await sendFile(page, 'payouts.csv', content);
  await page.getByText('3 of 5 rows were rejected').waitFor();
  assert.deepEqual(await readCounts(page), ['5', '2', '0', '3']);
  assert.equal(await readConfirmed(), 20);
  const reasons = await page.locator('table').nth(1).locator('tbody tr').allTextContents();
  assert.deepEqual(
    reasons.map((text) => /click_id_invalid|amount_invalid|cells_miscounted/.exec(text)?.[0]),
    ['click_id_invalid', 'amount_invalid', 'cells_miscounted'],
  );
  assert.ok(reasons[0]?.includes(hostile));
  assert.equal(await page.locator('img').count(), 0);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download payouts.rejected.csv' }).click();
  const file = readFileSync(await (await saved).path(), 'utf8');
  assert.match(file, /^click_id,txid,status,amount,occurred_at,note,rejection,payout_state,payout_amount\r\n/);
  assert.match(file, /\r\n.*,' -4,,' =1\+1,amount_invalid,,\r\n/);
  await saveScreenshot(page, 'operator-upload-rejected');
  assert.deepEqual(await findAccessibilityViolations(page), []);

  await page.getByRole('button', { name: 'Send another file' }).click();
  await sendFile(page, 'payouts.csv', toCsv(clickIds));
  await page.getByText('Every row is booked').waitFor();
  assert.deepEqual(await readCounts(page), ['2', '0', '2', '0']);
  assert.equal(await readConfirmed(), 20);
});

test('a file that is no file of confirmations gets a sentence', async (t) => {
  const page = await open(t);
  await page.getByRole('button', { name: 'Send the file' }).click();
  await page.getByText('Choose a file first.').waitFor();
  await sendFile(page, '<b>payouts</b>.xlsx', 'x');
  await page.getByText('“<b>payouts</b>.xlsx” is not a file of confirmations.').waitFor();
  await sendFile(page, 'payouts.csv', 'click_id;txid;status;amount;occurred_at\n');
  await page
    .getByText('The columns are separated by')
    .or(page.getByText('the columns are separated by semicolons'))
    .waitFor();
});

test('an upload can be stopped and continued, also after looking at another page', async (t) => {
  const { clickIds } = await clickOffers('stopped', 1);
  const page = await open(t);
  const held = Promise.withResolvers<Route>();
  let isFirst = true;
  await page.route(confirmationsAddress, async (route) => {
    if (!isFirst) return route.continue();
    isFirst = false;
    held.resolve(route);
  });
  const bad = Array.from({ length: 600 }, (_, index) => `AAFnothing,s-${index},funded,5,2026-05-20T00:00:00Z,`);
  await sendFile(page, 'payouts.csv', toCsv(clickIds, bad));
  const first = await held.promise;
  await page.getByRole('button', { name: 'Stop' }).click();
  await first.continue();
  await page.getByText('You stopped the upload').waitFor();
  await page.getByRole('link', { name: 'Health' }).click();
  await page.getByText('Limits in use now').waitFor();
  await page.goBack();
  assert.deepEqual((await readCounts(page)).slice(1), ['1', '0', '499']);
  await saveScreenshot(page, 'operator-upload-stopped');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('600 of 601 rows were rejected').waitFor();
});

test('when the login ends during an upload, the upload continues after the next login', async (t) => {
  const { clickIds, readConfirmed } = await clickOffers('expired', 1);
  const page = await open(t);
  await page.getByLabel('File of confirmations').waitFor();
  await waitUntilLoaded(page);
  await page.context().clearCookies();
  await sendFile(page, 'payouts.csv', toCsv(clickIds));
  await page.getByText('Your login has ended').waitFor();
  await operator.logIn(page, operator.market.operatorToken);
  await page.getByText('The upload is paused').waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Every row is booked').waitFor();
  assert.equal(await readConfirmed(), 10);
});

test('after a restart of the server during an upload, every row is booked once', async (t) => {
  const { clickIds, readConfirmed } = await clickOffers('restarted', 3);
  const page = await open(t);
  // The answer of the first request is lost with the server, after the rows were booked.
  let lost: ConfirmationsResponse | null = null;
  await page.route(confirmationsAddress, async (route) => {
    if (lost !== null) return route.continue();
    lost = (await (await route.fetch()).json()) as ConfirmationsResponse;
    await operator.market.restart();
    await route.abort();
  });
  await sendFile(page, 'payouts.csv', toCsv(clickIds));
  const done = page.getByText('Every row is booked');
  const token = page.getByLabel('Operator token');
  await done.or(token).waitFor();
  // A restart may end logins.
  if (await token.isVisible()) {
    await operator.logIn(page, operator.market.operatorToken);
    await page.getByRole('button', { name: 'Continue' }).click();
  }
  await done.waitFor();
  assert.equal((lost as ConfirmationsResponse | null)?.accepted, 3);
  assert.deepEqual(await readCounts(page), ['3', '0', '3', '0']);
  assert.equal(await readConfirmed(), 30);
});
