import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Route } from 'playwright-core';
import { formatIsoTimestamp } from '../../src/domain/calendar.ts';
import type { ExperimentResultsResponse, TagsResponse } from '../../src/index.ts';
import * as format from '../../src/web/console/common/format.ts';
import { findAccessibilityViolations } from '../support/accessibility.ts';
import { type ApiCaller, assertOk } from '../support/api-caller.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { checkLayout, readTable, saveScreenshot, textOf, useConsoles, waitUntilLoaded } from './console-browser.ts';
import { account, hostileText, prepareExperiments } from './sample-experiments.ts';

let key = '';
const { partner } = useConsoles(async () => {
  const market = await RunningMarketplace.start('uws');
  await prepareExperiments(market);
  key = market.issueKey(fixture, { account }).key;
  return market;
});

const experimentPlace = '#/experiments/hero';
const pages = [
  { name: 'overview', place: '#/', api: '**/console/api/v1/*/tags?*', heading: 'Tags' },
  {
    name: 'experiment',
    place: experimentPlace,
    api: '**/console/api/v1/*/experiments/hero/results?*',
    heading: 'Arms',
  },
] as const;

const callerOf = (ofKey: string): ApiCaller => partner.market.callerWithKey(fixture, ofKey);

const results = async (query = ''): Promise<ExperimentResultsResponse> =>
  assertOk(await callerOf(key).send('GET', `experiments/hero/results${query}`));

describe('login', () => {
  test('a wrong, an expired and a revoked key get the sentence of the API, and an empty field gets one of the page', async (t) => {
    const page = await partner.openWithoutLogin(t, experimentPlace);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Enter the API key.').waitFor();
    const { market } = partner;
    const expired = market.issueKey(fixture, { expiresAt: new Date(market.clock.wallMs() + 1_000) });
    const revoked = market.issueKey(fixture);
    market.marketplace.keys.revoke(revoked.id);
    market.clock.advance(2_000);
    for (const wrong of [hostileText, expired.key, revoked.key]) {
      await partner.logIn(page, wrong);
      await page.getByRole('alert').waitFor();
      assert.match(await textOf(page, '[role=alert]'), /key/i);
      await page.reload();
    }
    assert.deepEqual(await findAccessibilityViolations(page), []);
    await saveScreenshot(page, 'partner-login');
    await partner.logIn(page, key);
    // The login continues with the page of the address.
    await page.getByRole('heading', { name: 'hero' }).waitFor();
    // The key is not stored in the browser.
    const stored = await page.evaluate<string>(
      'JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie',
    );
    assert.ok(!stored.includes(key.slice(0, 20)), stored);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.reload();
    await page.getByLabel('API key').waitFor();
  });

  test('a read-only key and a test key have marks, and a read-only key sees no changing controls', async (t) => {
    const { key: readOnly } = partner.market.issueKey(fixture, { account, scope: 'analytics' });
    const page = await partner.open(t, readOnly, experimentPlace);
    await page.getByRole('heading', { name: 'Guardrails' }).waitFor();
    assert.match(await textOf(page, 'header'), /Read-only key/);
    assert.equal(await page.getByRole('heading', { name: 'Close the experiment' }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'New experiment' }).count(), 0);
    const { key: testKey } = partner.market.issueKey(fixture, { account, mode: 'test' });
    const sandbox = await partner.open(t, testKey, '#/');
    await sandbox.getByText('No experiments').waitFor();
    await sandbox.getByText(/No sessions in the last 30 days/).waitFor();
    assert.match(await textOf(sandbox, 'header'), /Test key/);
    await saveScreenshot(sandbox, 'partner-empty');
  });

  test('a key that is revoked while the page is open leads to the login, and the next login to the same page', async (t) => {
    const issued = partner.market.issueKey(fixture, { account });
    const page = await partner.open(t, issued.key, experimentPlace);
    await page.getByRole('heading', { name: 'Guardrails' }).waitFor();
    partner.market.marketplace.keys.revoke(issued.id);
    await page.getByLabel('Group by').selectOption('device');
    await page.getByText('Your login has ended').waitFor();
    await partner.logIn(page, key);
    await page.getByRole('table', { name: 'Breakdown by device' }).waitFor();
  });
});

describe('states of each page', () => {
  for (const { name, place, api, heading } of pages) {
    test(`${name}: loading, refused, offline, unexpected answer, then the figures`, async (t) => {
      const page = await partner.open(t, key, '#/no-page');
      await page.getByText('This address leads to no page').waitFor();
      let respond: (route: Route) => Promise<void> = async () => {};
      await page.route(api, (route) => respond(route));
      await page.goto(partner.url + place);
      await page.getByText('Loading ').first().waitFor();
      const showsAfter = async (next: typeof respond, text: string) => {
        respond = next;
        await page.reload();
        await page.getByText(text).first().waitFor();
      };
      const message = 'The service is unavailable <b>now</b>.';
      const advice = 'Retry after the number of seconds in the Retry-After header.';
      const error = { error: 'SERVICE_UNAVAILABLE', message: `${message} ${advice}` };
      const headers = { 'X-Request-Id': 'request-7', 'Retry-After': '1' };
      await showsAfter((route) => route.fulfill({ status: 503, json: error, headers }), message);
      assert.match(await textOf(page), /This page tries again by itself\.\s+Request id: request-7/);
      assert.ok(!(await textOf(page)).includes(advice));
      assert.deepEqual(await findAccessibilityViolations(page), []);
      await saveScreenshot(page, `partner-${name}-refused`);
      await showsAfter((route) => route.fulfill({ json: { other: 1 } }), 'does not understand the answer');
      await showsAfter(
        (route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }),
        'The server cannot be reached',
      );
      await showsAfter((route) => route.abort(), 'The server cannot be reached');
      await saveScreenshot(page, `partner-${name}-offline`);
      respond = (route) => route.continue();
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
    });
  }

  test('an answer of a newer server that cannot be shown leads to a notice, and other pages still work', async (t) => {
    const page = await partner.open(t, key, '#/no-page');
    const errors: string[] = [];
    await page.route(pages[1].api, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), arms: 7 } });
    });
    page.removeAllListeners('console');
    page.on('pageerror', (error) => void errors.push(String(error)));
    await page.goto(partner.url + experimentPlace);
    await page.getByText('does not understand the answer').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Tags' }).waitFor();
    // The overview also reads the answer, and the next test fails at an error that is logged later.
    await waitUntilLoaded(page);
    assert.deepEqual(errors, []);
  });

  test('an experiment that does not exist is a notice', async (t) => {
    const page = await partner.open(t, key, '#/experiments/no-such-name');
    await page.getByText('Not found').waitFor();
  });

  test('after a restart of the server, an open page loads figures with the same login', async (t) => {
    const page = await partner.open(t, key, '#/');
    const link = page.getByRole('link', { name: 'hero', exact: true });
    await link.waitFor();
    await page.context().setOffline(true);
    await link.click();
    await page.getByText('The server cannot be reached').first().waitFor();
    await partner.market.restart();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Guardrails' }).waitFor();
  });

  test('a wrong clock of the browser leads to a notice', async (t) => {
    const page = await partner.open(t, key, '#/no-page');
    assert.equal(await page.getByText('The clock of this computer is wrong').count(), 0);
    await page.clock.setFixedTime(partner.market.clock.wallMs() + 3_600_000);
    await page.reload();
    await page.getByText('The clock was 60 minutes ahead of the clock of the server').waitFor();
  });
});

describe('overview', () => {
  test('shows the figures of the API, and the newest decision first', async (t) => {
    const page = await partner.open(t, key, '#/');
    const caller = callerOf(key);
    const { data } = assertOk<TagsResponse>(await caller.get('tags', { recent_days: 30 }));
    assert.ok(data.length > 0);
    assert.deepEqual(
      await readTable(page, 'Tags with sessions in the last 30 days'),
      data.map(({ referrer_tag, last_session_at, recent }) => [
        referrer_tag,
        format.formatCount(recent!.sessions_total),
        '',
        format.formatCount(recent!.offer_clicks),
        format.formatShare(recent!.click_rate),
        format.formatUsd(recent!.rev_attributed),
        format.formatUsd(recent!.rev_confirmed),
        '',
        format.formatTime(last_session_at),
      ]),
    );
    await page.getByRole('heading', { name: 'hero' }).waitFor();
    assert.deepEqual(await page.locator('.experiment h3').allInnerTexts(), ['hero', 'young']);
    const { sentence } = await results();
    assert.ok((await textOf(page)).includes(format.keepUnitsTogether(sentence)), sentence);
    await saveScreenshot(page, 'partner-overview');
  });
});

describe('experiment page', () => {
  test('shows the figures of the API, and texts of users as text', async (t) => {
    const page = await partner.open(t, key, `${experimentPlace}?group_by=source`);
    const answer = await results('?series=true&group_by=source');
    const [control, arm] = answer.arms as [(typeof answer.arms)[0], (typeof answer.arms)[0]];
    const { difference, relative, p_value } = answer.comparisons[0]!;
    assert.ok(difference !== null && relative !== null && arm.label === hostileText);
    assert.deepEqual(await readTable(page, 'Mature revenue: sessions whose revenue is complete'), [
      [
        'page-a control',
        format.formatCount(control.mature_sessions),
        format.formatCount(control.units_with_revenue),
        format.formatUsdPerUnit(control.revenue_per_session),
        format.noValue,
        format.noValue,
        format.noValue,
        format.noValue,
      ],
      [
        `${hostileText} page-b`,
        format.formatCount(arm.mature_sessions),
        format.formatCount(arm.units_with_revenue),
        format.formatUsdPerUnit(arm.revenue_per_session),
        `${format.formatUsdPerUnit(difference.value)} ${format.formatRange(difference.low, difference.high, format.formatUsdPerUnit)}`,
        `${format.formatRelative(relative.value)} ${format.formatRange(relative.low, relative.high, format.formatRelative)}`,
        format.formatPValue(p_value),
        'Better',
      ],
    ]);
    const share = (count: number) => `${format.formatCount(count)} ${format.formatShare(count / arm.funnel!.units)}`;
    const { with_offers, with_clicks, with_revenue } = arm.funnel!;
    assert.deepEqual((await readTable(page, 'Funnel'))[1], [
      hostileText,
      format.formatCount(arm.sessions),
      share(with_offers),
      share(with_clicks),
      share(with_revenue),
    ]);
    const groups = answer.breakdown!.groups.map(({ kind, value }) => (kind === 'none' ? '(not set)' : value));
    assert.ok(groups.includes(hostileText));
    const breakdown = await readTable(page, 'Breakdown by source');
    assert.deepEqual(
      breakdown.map(([group]) => group),
      groups.flatMap((group) => [group, group]),
    );
    const text = await textOf(page);
    for (const shown of [
      format.keepUnitsTogether(answer.sentence),
      answer.breakdown!.warning,
      'Split is right',
      hostileText,
    ]) {
      assert.ok(text.includes(shown), shown);
    }
    const reading = `${format.formatUsdPerUnit(difference.value)} (${format.formatRange(difference.low, difference.high, format.formatUsdPerUnit)})`;
    assert.ok(text.includes(reading), reading);
    assert.equal(await page.locator('main img, main b').count(), 0);
    await saveScreenshot(page, 'partner-experiment');
    await page.emulateMedia({ colorScheme: 'dark' });
    await saveScreenshot(page, 'partner-experiment-dark');
  });

  test('a label that is written from right to left does not reorder the figures beside it', async (t) => {
    const page = await partner.open(t, key, '#/no-page');
    const label = '\u05e2\u05d1\u05e8\u05d9\u05ea';
    await page.route(pages[1].api, async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as ExperimentResultsResponse;
      const [control, ...others] = answer.arms;
      const sentence = `B earns more than ${label}: 73 % more.`;
      await route.fulfill({ response, json: { ...answer, arms: [{ ...control, label }, ...others], sentence } });
    });
    await page.goto(partner.url + experimentPlace);
    await page.locator('.sentence', { hasText: label }).waitFor();
    // The colon and the number would be to the left of the label.
    const isInOrder = await page.evaluate<boolean>(`(() => {
      const sentence = document.querySelector('.sentence');
      const range = document.createRange();
      const positionOf = (text) => {
        const walker = document.createTreeWalker(sentence, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
          const start = node.data.indexOf(text);
          if (start === -1) continue;
          range.setStart(node, start);
          range.setEnd(node, start + text.length);
          return range.getBoundingClientRect();
        }
      };
      return positionOf('73').left >= positionOf('${label}').right;
    })()`);
    assert.ok(isInOrder);
  });

  test('the plot is read by keyboard, and its figures are copied as CSV and as a picture', async (t) => {
    const page = await partner.open(t, key, experimentPlace);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const { series } = await results('?series=true');
    const looks = series!.filter(({ difference }) => difference !== null);
    const plot = page.getByRole('slider', { name: /Difference from the control/ });
    await plot.focus();
    await page.keyboard.press('Home');
    const valueText = await plot.getAttribute('aria-valuetext');
    assert.ok(
      valueText!.startsWith(
        `${format.formatUtcDay(looks[0]!.as_of)}. ${hostileText}: ${format.formatUsdPerUnit(looks[0]!.difference)}`,
      ),
      valueText!,
    );
    const figure = page.locator('figure').first();
    await figure.getByRole('button', { name: 'Copy as CSV' }).click();
    await figure.getByText('Copied').first().waitFor();
    const csv = await page.evaluate<string>('navigator.clipboard.readText()');
    const lines = csv.trimEnd().split('\r\n');
    assert.equal(lines.length, looks.length + 1);
    assert.equal(
      lines.at(-1),
      [looks.at(-1)!.as_of, looks.at(-1)!.difference, looks.at(-1)!.low, looks.at(-1)!.high].join(','),
    );
    await figure.getByRole('button', { name: 'Copy as picture' }).click();
    await figure.locator('.actions button').nth(1).getByText('Copied').first().waitFor();
    const types = await page.evaluate<string[]>('navigator.clipboard.read().then(([item]) => item.types)');
    assert.deepEqual(types, ['image/png']);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Download CSV ?: Mature revenue/ }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'hero-arms.csv');
  });

  test('groups are part of the address: deep link, reload, back and forward', async (t) => {
    const page = await partner.open(t, key, experimentPlace);
    const device = page.getByRole('table', { name: 'Breakdown by device' });
    const source = page.getByRole('table', { name: 'Breakdown by source' });
    await page.getByLabel('Group by').selectOption('device');
    await device.waitFor();
    assert.ok(page.url().endsWith('#/experiments/hero?group_by=device'), page.url());
    await page.getByLabel('Group by').selectOption('source');
    await source.waitFor();
    await page.goBack();
    await device.waitFor();
    await page.goForward();
    await source.waitFor();
    await page.reload();
    await source.waitFor();
    await page.goto(`${partner.url}#/experiments/hero?group_by=no-dimension`);
    await page.getByText('must be device or one of the dimensions').waitFor();
  });

  test('an experiment is closed by keyboard after a confirmation', async (t) => {
    const page = await partner.open(t, key, '#/experiments/young');
    await page.getByRole('heading', { name: 'Close the experiment' }).waitFor();
    await page.getByLabel('No decision').focus();
    await page.keyboard.press('Space');
    await page.getByLabel('Note (optional)').focus();
    await page.keyboard.type(hostileText);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('This cannot be undone.').waitFor();
    assert.deepEqual(await findAccessibilityViolations(page, ['light']), []);
    await page.getByRole('button', { name: 'Close now' }).press('Enter');
    await page.getByRole('heading', { name: 'Closed', exact: true }).waitFor();
    const text = await textOf(page);
    assert.ok(text.includes(hostileText) && text.includes('No decision'), text);
    assert.equal(await page.getByRole('heading', { name: 'Close the experiment' }).count(), 0);
  });

  test('an experiment without sessions has no split that is right', async (t) => {
    const arms = ['empty-a', 'empty-b'].map((referrer_tag) => ({ referrer_tag, weight: 0.5 }));
    const starts_on = formatIsoTimestamp(partner.market.clock.wallMs()).slice(0, 10);
    const definition = { arms, control: 'empty-a', unit: 'session', starts_on };
    assertOk(await callerOf(key).send('PUT', 'experiments/empty', definition));
    const page = await partner.open(t, key, '#/experiments/empty');
    await page.getByRole('heading', { name: 'Split check', exact: true }).waitFor();
    assert.match(await textOf(page), /No units have arrived yet/);
  });
});

describe('layout', () => {
  for (const { name, place, heading } of pages) {
    test(`${name}: axe finds nothing, and no width scrolls the page sideways`, async (t) => {
      const page = await partner.open(t, key, place);
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      for (const details of await page.locator('summary').all()) await details.click();
      await page.getByRole('button', { name: 'Log out' }).focus();
      await checkLayout(page, `partner-${name}`);
    });
  }

  test('the theme is chosen, and stays after a reload', async (t) => {
    const page = await partner.open(t, key, '#/no-page');
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    await page.getByText('This address leads to no page').waitFor();
    const light = await ground();
    await page.getByLabel('Theme').selectOption('dark');
    const dark = await ground();
    assert.notEqual(dark, light);
    await page.reload();
    await page.getByText('This address leads to no page').waitFor();
    assert.equal(await ground(), dark);
    await page.getByLabel('Theme').selectOption('light');
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.equal(await ground(), light);
  });

  test('the skip link leads to the content, and a new page gets the focus', async (t) => {
    const page = await partner.open(t, key, '#/');
    await page.getByRole('heading', { name: 'Tags' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('#main:focus').waitFor();
    await page.getByRole('link', { name: 'hero', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'hero', exact: true }).waitFor();
    await page.locator('#main:focus').waitFor();
    assert.equal(await page.title(), 'hero · Marketplace console');
  });
});
