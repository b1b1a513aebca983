import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { formatCount, formatTime, formatUsd, formatUtcTime } from '../../src/web/console/common/format.ts';
import type {
  Page as ApiPage,
  AuditEntry,
  Catalog,
  CatalogChangesPage,
  CatalogOffer,
  Key,
  Status,
  TestClock,
} from '../../src/web/console/operator/api-types.ts';
import { formatBytes } from '../../src/web/console/operator/parts/format-units.ts';
import { askOperator } from '../contract/operator-request.ts';
import { findAccessibilityViolations } from '../support/accessibility.ts';
import { assertOk } from '../support/api-caller.ts';
import { ChangeableCatalogs } from '../support/changeable-catalogs.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import {
  checkLayout,
  joinLines,
  readTable,
  saveScreenshot,
  textOf,
  useConsoles,
  visit,
  waitUntilLoaded,
} from './console-browser.ts';

type Lender = (typeof fixture.catalogFiles.live.lenders)[number];

const hostile = '<img src=x onerror=alert(1)>"\'&{{7*7}}';
const lenderName = `Lender ${hostile}`;
/** The first offer of the catalog has a hostile lender name, a daily cap and a budget. */
const [firstLender, ...otherLenders] = fixture.catalogFiles.live.lenders as [Lender, ...Lender[]];
const [firstOffer, ...otherOffers] = firstLender.offers as [Lender['offers'][number], ...Lender['offers'][number][]];
const limited = {
  ...firstOffer,
  // Offers are listed by their ids.
  id: 'a-limited-offer',
  daily_cap: 2,
  budget: { per_day_usd: 5_000, per_month_usd: 9_000, pacing: 'even' as const },
};
const catalogFile = {
  ...fixture.catalogFiles.live,
  lenders: [{ ...firstLender, name: lenderName, offers: [limited, ...otherOffers] }, ...otherLenders],
};
const catalogs = new ChangeableCatalogs({ ...fixture, catalogFiles: { ...fixture.catalogFiles, live: catalogFile } });
const { operator } = useConsoles(() =>
  RunningMarketplace.start('uws', { catalogs: catalogs.sources, testClock: true }),
);
const open = (t: TestContext, place: string) => operator.open(t, operator.market.operatorToken, place);
/** Returns the answer of the operations API. */
const ask = async <Answer>(path: string) => assertOk<Answer>(await askOperator(operator.market, { path }));

/** Pages, and the title of the state without data. */
const pages = [
  { name: 'health', place: '', empty: null },
  { name: 'keys', place: '#/keys', empty: 'No API keys yet' },
  { name: 'origins', place: '#/origins', empty: 'No origins yet' },
  { name: 'catalogs', place: '#/catalogs', empty: 'No catalogs' },
  {
    name: 'catalog',
    place: '#/catalogs/personal-loans/live',
    empty: 'The catalog has no offers',
  },
  {
    name: 'catalog-changes',
    place: '#/catalogs/personal-loans/live/changes',
    empty: null,
  },
  {
    name: 'confirmations',
    place: '#/confirmations',
    empty: 'No confirmations yet',
  },
  { name: 'audit', place: '#/audit', empty: 'No entries' },
] as const;

/** Returns the visible value of each label of the page. */
async function readFigures(page: Page): Promise<Record<string, string>> {
  await page.locator('dl dd').first().waitFor();
  const pairs = await page.evaluate<[string, string][]>(
    '[...document.querySelectorAll("dl > div")].map((item) => [item.querySelector("dt").firstChild.textContent, item.querySelector("dd").innerText])',
  );
  return Object.fromEntries(pairs.map(([label, value]) => [label, joinLines(value)]));
}

describe('states of every page', () => {
  test('loading, error, unexpected answer, offline, no data, and an expired login', async (t) => {
    const page = await open(t, '#/nowhere');
    let answer: (route: Route) => unknown = () => {};
    await page.route(/\/console\/api\/(?!login)/, (route) => answer(route));
    const showsOnEachPage = async (next: typeof answer, titleOf: (page: (typeof pages)[number]) => string | null) => {
      answer = next;
      for (const each of pages) {
        const title = titleOf(each);
        if (title === null) continue;
        await page.goto(operator.url + each.place);
        // The page of another address is removed first.
        await page.locator('h1', { hasNotText: 'Page not found' }).waitFor();
        await page.getByText(title).first().waitFor();
        await page.goto(`${operator.url}#/nowhere`);
        await page.getByText('This address leads to no page').waitFor();
      }
    };
    const busy = { error: 'SERVICE_UNAVAILABLE', message: 'The service is unavailable. Try again later.' };
    const nothing = { data: [], has_more: false, next_cursor: null, version: '', from: '', to: '' };
    const isList = (route: Route) => /\/catalogs$/.test(new URL(route.request().url()).pathname);
    await showsOnEachPage(
      () => {},
      () => 'Loading ',
    );
    await showsOnEachPage(
      (route) => route.fulfill({ status: 503, json: busy }),
      () => busy.message,
    );
    await showsOnEachPage(
      (route) => route.fulfill({ json: 'text' }),
      () => 'does not understand the answer',
    );
    await showsOnEachPage(
      (route) => route.abort(),
      () => 'The server cannot be reached',
    );
    await showsOnEachPage(
      (route) => route.fulfill({ json: isList(route) ? [] : nothing }),
      ({ empty }) => empty,
    );
    answer = (route) => route.fulfill({ status: 401, json: busy });
    await page.goto(`${operator.url}#/audit`);
    await page.getByText('Your login has ended').waitFor();
  });

  test('after the end of a login, the operator continues on the same page', async (t) => {
    const page = await open(t, '#/keys?account=acme');
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await waitUntilLoaded(page);
    await page.context().clearCookies();
    await page.getByRole('link', { name: 'Origins' }).click();
    await page.getByText('Your login has ended').waitFor();
    await operator.logIn(page, operator.market.operatorToken);
    await page.getByRole('heading', { name: 'Widget origins' }).waitFor();
  });

  test('an unknown address leads to a page that says so', async (t) => {
    const page = await open(t, '#/nowhere');
    assert.match(await textOf(page), /Page not found/);
  });
});

describe('figures', () => {
  test('health shows the figures of the API', async (t) => {
    await operator.market.caller(fixture, { account: 'acme' }).createSession('lp-one');
    const page = await open(t, '');
    const figures = await readFigures(page);
    const status = await ask<Status>('/status');
    assert.equal(
      figures['Live sessions'],
      `${formatCount(status.sessions.live)} of ${formatCount(status.sessions.limit)} 0.0\u00a0%`,
    );
    assert.equal(figures['Rankings waiting or in progress'], '0 of 4,096 0.0\u00a0%');
    assert.ok(figures['Disk of the data folder']!.includes(`of ${formatBytes(status.disk!.size_bytes)}`));
    assert.equal(figures['API keys, without revoked ones'], formatCount(status.keys));
    assert.equal(figures.Verticals, status.verticals.join(', '));
    assert.ok(figures.Version!.startsWith(`${status.version}, engine ${status.engine}`));
    assert.ok(
      (await textOf(page)).includes(
        `The service is ready The service takes requests of partners. As of ${formatUtcTime(status.now)}.`,
      ),
    );
  });

  test('health shows the reasons why the service is not ready', async (t) => {
    const page = await open(t, '#/keys');
    await page.route('**/console/api/status', async (route) => {
      const response = await route.fetch();
      const json = { ...(await response.json()), ready: false, reasons: ['the ledger cannot be written', hostile] };
      await route.fulfill({ response, json });
    });
    await page.goto(`${operator.url}#/`);
    await page.getByText('The service is not ready').waitFor();
    assert.deepEqual(await page.locator('.reasons li').allTextContents(), ['the ledger cannot be written', hostile]);
  });

  test('keys come in pages, and the rows equal those of the API, with hostile account names as text', async (t) => {
    const { market } = operator;
    for (let count = 0; count < 30; count++) market.issueKey(fixture, { account: hostile, mode: 'test' });
    const first = await ask<ApiPage<Key>>('/keys?limit=25');
    const page = await open(t, '#/keys');
    const toRow = ({ id, account, vertical, mode, usage, state }: Key) => [
      id,
      account,
      `${vertical}, ${mode}`,
      state,
      `${usage.requests_per_minute.used} of ${formatCount(usage.requests_per_minute.limit)}`,
    ];
    const shown = async () => (await readTable(page)).map((cells) => [0, 1, 2, 3, 5].map((index) => cells[index]));
    assert.deepEqual(await shown(), first.data.map(toRow));
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('Page 2').waitFor();
    const second = await ask<ApiPage<Key>>(`/keys?limit=25&cursor=${first.next_cursor}`);
    await page.getByText(second.data[0]!.id).waitFor();
    assert.deepEqual(await shown(), second.data.map(toRow));
    await page.goBack();
    await page.getByText(first.data[0]!.id).waitFor();

    await page.getByRole('searchbox', { name: 'Account' }).fill(hostile);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'All accounts' }).waitFor();
    assert.ok((await readTable(page)).every(([, account]) => account === hostile));
    assert.equal(await page.locator('img').count(), 0);
  });

  test('catalogs show the state of each offer, its limits, its figures, and the spend curve of a budget', async (t) => {
    const caller = operator.market.caller(fixture, { mode: 'live' });
    const subId = await caller.createSessionWithFields('lp-one', fixture.complete);
    const { offers } = await caller.offers(subId, { max_offers: 20 });
    const clicked = offers.find(({ svc_offer_id: id }) => id === limited.id);
    if (clicked !== undefined) await caller.click(clicked.click_url);
    const page = await open(t, '#/catalogs');
    const [catalog] = await ask<Catalog[]>('/catalogs');
    const { total, shown, daily_cap, budget, paced, outdated } = catalog!.offers;
    assert.deepEqual((await readTable(page))[0]!.slice(0, 7), [
      `${catalog!.vertical}, live`,
      ...[total, shown, daily_cap, budget, paced, outdated].map(String),
    ]);

    await page.getByRole('link', { name: `${catalog!.vertical}, live` }).click();
    await page.getByText(lenderName).first().waitFor();
    const { data } = await ask<ApiPage<CatalogOffer>>(`/catalogs/${catalog!.vertical}/live/offers?limit=25`);
    const rows = await readTable(page);
    for (const [index, offer] of data.entries()) {
      const { svc_offer_id: id, lender_name: lender, daily_cap: cap, last_30_days: figures } = offer;
      const cells = rows[index]!;
      assert.equal(cells[0], `${id} ${lender}`);
      assert.equal(cells[2], cap === null ? 'none' : `${cap.used} of ${cap.limit}`);
      const day = offer.budget?.day;
      assert.ok(
        cells[3]!.startsWith(day ? `${formatUsd(day.spent_usd)} of ${formatUsd(day.limit_usd)} a day` : 'none'),
      );
      assert.deepEqual(cells.slice(4), [
        formatCount(figures?.shown),
        formatCount(figures?.offer_clicks),
        formatUsd(figures?.rev_attributed),
        formatUsd(figures?.rev_confirmed),
      ]);
    }
    await page.getByRole('link', { name: `Spend curve of ${limited.id}` }).click();
    await page.getByRole('region', { name: `Spend curve of ${limited.id} of ${lenderName}` }).waitFor();
    assert.ok(page.url().includes('offer='));
    await saveScreenshot(page, 'operator-spend-curve');
    await page.getByLabel('State').selectOption('budget');
    await page.getByText('No offer has this state now').waitFor();
    await page.goBack();
    await page.getByRole('region', { name: 'Spend curve of' }).waitFor();
    assert.equal(await page.locator('img').count(), 0);
  });

  test('the audit log shows the entries of the API, with filters in the address', async (t) => {
    operator.market.issueKey(fixture, { account: hostile });
    const page = await open(t, '#/audit?action=key.create');
    const { data } = await ask<ApiPage<AuditEntry>>('/audit?limit=25&action=key.create');
    const rows = await readTable(page);
    assert.deepEqual(
      rows.map(([time, , what, , hash]) => [time, what, hash]),
      data.map(({ number, time, action, subject, hash }) => [
        `${formatTime(time)} entry ${number}`,
        `${action} ${subject}`,
        hash.slice(0, 8),
      ]),
    );
    assert.ok(rows[0]![3]!.includes(`account ${hostile}`));
    await page.getByLabel('Change').selectOption('origin.remove');
    await page.getByText('No entries').waitFor();
    assert.ok(page.url().endsWith('#/audit?action=origin.remove'));
    await page.goBack();
    await page.getByText(data[0]!.subject).waitFor();
  });
});

describe('changes', () => {
  test('a key is created by keyboard, shown once, and revoked after a confirmation', async (t) => {
    const page = await open(t, '#/keys/new');
    await page.getByLabel('Account').focus();
    await page.keyboard.type(hostile);
    await page.keyboard.press('Enter');
    const field = page.getByLabel('Copy the key now.');
    await field.waitFor();
    const key = await field.inputValue();
    const caller = operator.market.callerWithKey(fixture, key);
    const createSession = async () => (await caller.post('session', { referrer_tag: 'lp-one' })).status;
    assert.equal(await createSession(), 200);
    assert.ok((await textOf(page)).includes(`test key of the account ${hostile} for ${fixture.vertical.segment}`));
    await page.getByRole('link', { name: /^key_/ }).click();
    await page.getByText('Last used').waitFor();
    assert.ok(!(await page.content()).includes(key));

    await page.getByRole('button', { name: /Revoke key/ }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    assert.ok((await dialog.textContent())?.includes(hostile));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    assert.equal(await createSession(), 200);
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('revoked since').waitFor();
    assert.equal(await createSession(), 401);
    await page.goBack();
    assert.equal(await page.getByText(key).count(), 0);
  });

  test('a form shows the sentence of the API beside the field', async (t) => {
    const page = await open(t, '#/keys/new');
    await page.getByLabel('Account').fill('acme');
    await page.getByLabel('Requests per minute').fill('0');
    await page.keyboard.press('Enter');
    const limit = page.getByLabel('Requests per minute');
    await page.locator('[aria-invalid="true"]').waitFor();
    assert.equal(await limit.getAttribute('aria-invalid'), 'true');
    assert.match((await page.locator('.field-error:not(:empty)').textContent()) ?? '', /requests_per_minute must be/);
    await limit.and(page.locator(':focus')).waitFor();
  });

  test('origins are allowed and removed', async (t) => {
    operator.market.issueKey(fixture, { account: 'origins' });
    const page = await open(t, '#/origins?account=origins');
    await page.getByText('The account origins has no origins').waitFor();
    await page.getByRole('textbox', { name: 'Origins' }).fill('https://a.example\nhttps://b.example:8443');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('2 added, 0 allowed before.').waitFor();
    assert.deepEqual(
      (await readTable(page)).map(([origin]) => origin),
      ['https://a.example', 'https://b.example:8443'],
    );
    await page.getByRole('button', { name: 'Remove https://a.example of origins' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('rowheader', { name: 'https://a.example' }).waitFor({ state: 'detached' });
    assert.deepEqual(await ask('/origins?account=origins'), [{ account: 'origins', origin: 'https://b.example:8443' }]);
    await page.getByRole('textbox', { name: 'Origins' }).fill('not an origin');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.locator('.field-error:not(:empty)').waitFor();
  });
});

test('no page has accessibility violations or scrolls to the side, on small and large screens, light and dark', async (t) => {
  operator.market.issueKey(fixture, { account: hostile });
  operator.market.marketplace.origins.allow(hostile, 'https://www.example.com');
  const page = await open(t, '');
  const [key] = (await ask<ApiPage<Key>>('/keys?limit=1')).data;
  const places = [
    // The page of the spend curve is the page of the catalog with the curve.
    ...pages.filter(({ name }) => name !== 'catalog'),
    { name: 'new-key', place: '#/keys/new' },
    { name: 'key', place: `#/keys/${key!.id}` },
    { name: 'spend-curve', place: `#/catalogs/personal-loans/live?offer=${limited.id}` },
    { name: 'no-page', place: '#/no-page' },
  ];
  for (const { name, place } of places) {
    await visit(page, `${operator.url}${place || '#/'}`);
    await checkLayout(page, `operator-${name}`);
  }
});

test('the differences of a changed catalog are shown with the values before and now', async (t) => {
  const [renamed, ...lenders] = catalogFile.lenders;
  const [changed, ...offers] = renamed!.offers;
  const next = { ...changed!, daily_cap: 3 };
  catalogs.writeCatalog({ ...catalogFile, lenders: [{ ...renamed!, offers: [next, ...offers] }, ...lenders.slice(1)] });
  await operator.market.marketplace.reloadCatalogs();
  const page = await open(t, '#/catalogs/personal-loans/live/changes');
  const changes = await ask<CatalogChangesPage>('/catalogs/personal-loans/live/changes?limit=25');
  const figures = await readFigures(page);
  assert.deepEqual(
    [figures['Offers added'], figures['Offers removed'], figures['Offers changed']],
    [changes.offers.added, changes.offers.removed, changes.offers.changed].map(String),
  );
  const rows = await readTable(page);
  assert.deepEqual(
    rows.map(([offer, change]) => [offer, change]),
    changes.data.map(({ svc_offer_id, lender_name, change }) => [`${svc_offer_id} ${lender_name}`, change]),
  );
  assert.match(rows[0]![2]!, /daily_cap 2 .*3/);
  assert.ok(rows.some(([, change]) => change === 'removed'));
  await saveScreenshot(page, 'operator-catalog-changes');
  assert.deepEqual(await findAccessibilityViolations(page), []);
});

// The last test, because the clock cannot go back.
test('a test clock is marked on every page, and can be advanced', async (t) => {
  const page = await open(t, '#/audit');
  await page.locator('.mark', { hasText: 'Test clock' }).waitFor();
  await page.getByRole('link', { name: 'Health' }).click();
  await page.getByText('A test clock is in use').waitFor();
  await page.getByLabel('Days to advance').fill('93');
  await page.keyboard.press('Enter');
  await page.locator('.field-error:not(:empty)').waitFor();
  await page.getByLabel('Days to advance').fill('46');
  await page.keyboard.press('Enter');
  // A login lasts eight hours of the test clock.
  await page.getByText('Your login has ended').waitFor();
  const { now, advanced_days: days } = await ask<TestClock>('/test-clock');
  assert.equal(days, 46);
  await operator.logIn(page, operator.market.operatorToken);
  await page.getByText(`The test clock shows ${formatUtcTime(now)}, ${days} days ahead`).waitFor();
});
