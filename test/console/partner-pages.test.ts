import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Locator, Page, Response } from 'playwright-core';
import type { ExperimentResponse } from '../../src/index.ts';
import { findAccessibilityViolations } from '../support/accessibility.ts';
import { assertOk } from '../support/api-caller.ts';
import { type ApiKeyOptions, RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { checkLayout, readTable, saveScreenshot, useConsoles, visit, waitUntilLoaded } from './console-browser.ts';

const account = 'partner & sons';
const hostileText = '<img src=x onerror="document.title=\'owned\'">';
const hostileFormula = '=HYPERLINK("https://attacker.example")';
const sessionsCreated = 30;

const keys = new Map<string, string>();
const subIds: string[] = [];

const { partner } = useConsoles(async () => {
  const market = await RunningMarketplace.start('uws');
  const callerOf = (name: string, wanted: ApiKeyOptions = {}) => {
    const caller = market.caller(personalLoansFixture, { account, ...wanted });
    keys.set(name, caller.key);
    return caller;
  };
  const caller = callerOf('full');
  callerOf('read-only', { scope: 'analytics' });
  callerOf('test', { mode: 'test' });
  callerOf('empty', { account: 'new partner' });
  for (let session = 0; session < sessionsCreated; session++) {
    const metadata = session === 0 ? { [hostileText]: hostileFormula, constructor: true } : undefined;
    const body = { referrer_tag: 'home-page', ...(metadata && { metadata, user_agent: hostileText }) };
    const { sub_id } = assertOk<{ readonly sub_id: string }>(await caller.post('session', body));
    subIds.push(sub_id);
    market.clock.advance(1_000);
  }
  await caller.post('inputs', { sub_id: subIds[0], fields: personalLoansFixture.complete });
  await caller.get('marketplace', { sub_id: subIds[0]!, format: 'json' });
  return market;
});

async function open(t: TestContext, place: string, key = 'full'): Promise<Page> {
  const page = await partner.open(t, keys.get(key)!, place);
  await waitUntilLoaded(page);
  return page;
}

describe('sessions', () => {
  test('have pages of 25 rows, of which no more are loaded, with back and deep links', async (t) => {
    const page = await open(t, '');
    const answers: Response[] = [];
    page.on('response', (answer) => void (answer.url().includes('granularity=row') && answers.push(answer)));
    await visit(page, `${partner.url}#/sessions`);
    assert.equal(answers.length, 1);
    assert.equal(((await answers[0]!.json()) as { readonly data: readonly unknown[] }).data.length, 25);
    const rowsOf = async () => (await readTable(page, /^Sessions of/)).map(([, id]) => id);
    // The newest session comes first.
    const ends = subIds.map((subId) => `…${subId.slice(-8)}`).reverse();
    assert.deepEqual(await rowsOf(), ends.slice(0, 25));
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('Page 2').waitFor();
    await page.getByText(ends[25]!).waitFor();
    assert.deepEqual(await rowsOf(), ends.slice(25));
    const secondPage = page.url();
    await page.goBack();
    await page.getByText(ends[0]!).waitFor();
    assert.deepEqual(await rowsOf(), ends.slice(0, 25));
    await page.goto(secondPage);
    await page.getByText(ends[25]!).waitFor();
    assert.deepEqual(await rowsOf(), ends.slice(25));
  });

  test('have details, in which metadata and user agent of a hostile page are texts', async (t) => {
    const page = await open(t, '#/sessions');
    await page.getByLabel('Find a session by its id').fill(` ${subIds[0]} `);
    await page.keyboard.press('Enter');
    const rows = await readTable(page, 'Metadata of the session');
    assert.deepEqual(rows, [
      [hostileText, hostileFormula],
      ['constructor', 'true'],
    ]);
    assert.match(await page.title(), /^Session /);
    await page.getByText('unknown').waitFor();
    for (const id of [`sub_${'0'.repeat(64)}`, 'sub_1']) {
      await visit(page, `${partner.url}#/sessions/${id}`);
      await page.getByText('This account has no session with this id').waitFor();
    }
    await visit(page, `${partner.url}#/sessions`);
    await page.getByLabel('Find a session by its id').fill('sub_1');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('A session id is sub_ followed by 64 hexadecimal digits.').waitFor();
  });

  test('are filtered by days, which stand in the address', async (t) => {
    const page = await open(t, '#/sessions?tag=home-page&from=2020-01-01&to=2020-01-31');
    await page.getByText('No sessions in these days').waitFor();
    await page.getByLabel('Sessions of').selectOption({ label: 'the last 30 days' });
    await page.getByText(`…${subIds.at(-1)!.slice(-8)}`).waitFor();
    assert.match(page.url(), /#\/sessions\?tag=home-page&days=30$/);
  });
});

async function fillPages(page: Page, tags: readonly string[] = ['form-long', 'form-short']): Promise<void> {
  await page.getByRole('textbox', { name: 'Name of the experiment' }).fill('form-length');
  for (const [index, tag] of tags.entries()) {
    await page.getByRole('textbox', { name: 'Tag' }).nth(index).fill(tag);
  }
}

const waitForFocus = (field: Locator) => field.and(field.page().locator(':focus')).waitFor();
const preview = (page: Page) => page.getByRole('button', { name: 'Preview' }).click();

describe('a new experiment', () => {
  test('is previewed, created and explained with code', async (t) => {
    const page = await open(t, '#/new-experiment');
    await fillPages(page);
    await page.getByLabel('Label in sentences').nth(1).fill(hostileText);
    await preview(page);
    await page.getByRole('heading', { name: 'Preview' }).waitFor();
    await page.getByText(`${hostileText} (form-short), 50.0 %`).waitFor();
    await saveScreenshot(page, 'new-experiment-preview');
    await page.getByRole('button', { name: 'Change the experiment' }).click();
    assert.equal(await page.getByRole('textbox', { name: 'Name of the experiment' }).inputValue(), 'form-length');
    await preview(page);
    await page.getByRole('button', { name: 'Create the experiment' }).click();
    await page.getByRole('heading', { name: 'form-length is defined' }).waitFor();
    const caller = partner.market.callerWithKey(personalLoansFixture, keys.get('full')!);
    const experiment = assertOk<ExperimentResponse>(await caller.send('GET', 'experiments/form-length'));
    assert.deepEqual(
      experiment.arms.map(({ referrer_tag, weight, label }) => [referrer_tag, weight, label]),
      [
        ['form-long', 0.5, null],
        ['form-short', 0.5, hostileText],
      ],
    );
    assert.deepEqual([experiment.control, experiment.assignment], ['form-long', 'hash']);
    await page.getByText('{ tag: "form-short", weight: 0.5 },').waitFor();
    assert.deepEqual(await findAccessibilityViolations(page), []);
    await saveScreenshot(page, 'new-experiment-code');

    // Another experiment with this name would change the first one.
    await visit(page, `${partner.url}#/new-experiment`);
    await fillPages(page);
    await page.getByRole('textbox', { name: 'Name of the experiment' }).fill('form-length-2');
    await preview(page);
    await page.getByRole('alert').filter({ hasText: 'tag of another running experiment' }).waitFor();
    await fillPages(page, ['steps-many', 'steps-few']);
    await preview(page);
    await page.getByText('An experiment with the name form-length exists already').waitFor();
  });

  test('shows the error of the API at the field, which gets the focus', async (t) => {
    const page = await open(t, '#/new-experiment');
    const name = page.getByRole('textbox', { name: 'Name of the experiment' });
    await preview(page);
    await page.getByText('Tag of page 1: Use 3 to 64 lower-case letters').waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
    await waitForFocus(name);
    await fillPages(page, ['steps-many', 'steps-few']);
    await name.fill('another-form');
    const lastDay = page.getByLabel('Last day (UTC), optional');
    await lastDay.fill('2020-01-01');
    await preview(page);
    await page.getByRole('alert').filter({ hasText: 'from 13 to 730 days after starts_on' }).waitFor();
    assert.equal(await lastDay.getAttribute('aria-invalid'), 'true');
    await waitForFocus(lastDay);
    await lastDay.fill('');
    await page.getByLabel('Share in %').nth(0).fill('60');
    await preview(page);
    await page.getByRole('alert').filter({ hasText: 'the weights of all arms must add up to 1' }).waitFor();
    await page.getByLabel('Share in %').nth(1).fill('40');
    await preview(page);
    await page.getByRole('heading', { name: 'Preview' }).waitFor();
  });

  test('cannot be defined with a read-only key, and a test key says what it is', async (t) => {
    const readOnly = await open(t, '#/new-experiment', 'read-only');
    await readOnly.getByText('This key is read-only').waitFor();
    await readOnly.getByText('Read-only key').waitFor();
    assert.equal(await readOnly.getByRole('link', { name: 'New experiment' }).count(), 0);
    assert.equal(await readOnly.getByRole('button', { name: /Preview|Create/ }).count(), 0);
    const sandbox = await open(t, '#/sessions', 'test');
    await sandbox.getByText('Test key').waitFor();
    await sandbox.getByText('No sessions yet').waitFor();
  });
});

const places = {
  offers: '#/offers',
  sessions: '#/sessions',
  'new-experiment': '#/new-experiment',
} as const;

test('the pages have no accessibility violations, and fit into 360 to 1600 px', async (t) => {
  const page = await open(t, '', 'full');
  const session = `#/sessions/${subIds[0]}`;
  for (const [name, place] of Object.entries({ ...places, session })) {
    await visit(page, partner.url + place);
    for (const details of await page.locator('summary').all()) await details.click();
    await checkLayout(page, `partner-${name}`);
  }
  const empty = await open(t, '#/offers', 'empty');
  await empty.getByText('No sessions yet').waitFor();
});
