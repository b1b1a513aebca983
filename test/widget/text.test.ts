import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorTable } from '../../src/domain/error-table.ts';
import { retryAfterMs } from '../../src/widget-client/retry-after.ts';
import { featureName } from '../../src/widget-client/text/feature-name.ts';
import { dollarsAndCents, wholeDollars } from '../../src/widget-client/text/money.ts';
import { monthList } from '../../src/widget-client/text/month-list.ts';
import { percent } from '../../src/widget-client/text/percent.ts';
import { troubleOf } from '../../src/widget-client/text/trouble.ts';

test('money and rates are written as loans are quoted', () => {
  assert.equal(wholeDollars(10_000), '$10,000');
  assert.equal(dollarsAndCents(341.48), '$341.48');
  assert.equal(dollarsAndCents(1_341.5), '$1,341.50');
  assert.equal(percent(17.5), '17.50%');
  assert.equal(percent(9), '9.00%');
});

test('terms are read out as a choice', () => {
  assert.equal(monthList([36]), '36 months');
  assert.equal(monthList([24, 36]), '24 or 36 months');
  assert.equal(monthList([24, 36, 48]), '24, 36 or 48 months');
});

test('any feature tag becomes words', () => {
  assert.equal(featureName('no_origination_fee'), 'No origination fee');
  assert.equal(featureName('low_apr'), 'Low APR');
  assert.equal(featureName('__same_day__funding_'), 'Same day funding');
  assert.equal(featureName('Already written'), 'Already written');
});

test('a Retry-After is obeyed within reason', () => {
  assert.equal(retryAfterMs('7'), 7_000);
  assert.equal(retryAfterMs('999999'), 120_000);
  for (const other of [null, '', '-1', '1.5', 'Wed, 21 Oct 2026 07:28:00 GMT']) assert.equal(retryAfterMs(other), null);
});

test('whatever the server refuses with, something is said', () => {
  for (const code of [...Object.keys(errorTable), 'UNREACHABLE', 'A_CODE_TO_COME']) {
    const { title, advice, retry, forPartner } = troubleOf(code, 'https://shop.example');
    assert.ok(title.length > 0 && advice.length > 0, code);
    assert.ok(retry || forPartner !== null, `${code}: somebody must be able to do something`);
  }
  assert.match(troubleOf('ORIGIN_NOT_ALLOWED', 'https://shop.example').forPartner ?? '', /https:\/\/shop\.example/);
});
