import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorTable } from '../../src/domain/errors.ts';
import { errorMessageFor } from '../../src/web/widget/error-messages.ts';
import {
  formatDollars,
  formatDollarsAndCents,
  formatFeature,
  formatMonths,
  formatPercent,
} from '../../src/web/widget/format.ts';
import { parseRetryAfterMs } from '../../src/web/widget/retry-after.ts';

test('formats amounts of money and interest rates', () => {
  assert.equal(formatDollars(10_000), '$10,000');
  assert.equal(formatDollarsAndCents(341.48), '$341.48');
  assert.equal(formatDollarsAndCents(1_341.5), '$1,341.50');
  assert.equal(formatPercent(17.5), '17.50%');
  assert.equal(formatPercent(9), '9.00%');
});

test('formats loan terms as a list', () => {
  assert.equal(formatMonths([36]), '36 months');
  assert.equal(formatMonths([24, 36]), '24 or 36 months');
  assert.equal(formatMonths([24, 36, 48]), '24, 36 or 48 months');
});

test('formats feature tags as words', () => {
  assert.equal(formatFeature('no_origination_fee'), 'No origination fee');
  assert.equal(formatFeature('low_apr'), 'Low APR');
  assert.equal(formatFeature('__same_day__funding_'), 'Same day funding');
  assert.equal(formatFeature('Already written'), 'Already written');
});

test('parses a Retry-After header up to a maximum', () => {
  assert.equal(parseRetryAfterMs('7'), 7_000);
  assert.equal(parseRetryAfterMs('999999'), 120_000);
  for (const other of [null, '', '-1', '1.5', 'Wed, 21 Oct 2026 07:28:00 GMT'])
    assert.equal(parseRetryAfterMs(other), null);
});

test('has an error message for every error code', () => {
  for (const code of [...Object.keys(errorTable), 'UNREACHABLE', 'A_CODE_TO_COME']) {
    const { title, advice, canRetry, partnerHint } = errorMessageFor(code, 'https://shop.example');
    assert.ok(title.length > 0 && advice.length > 0, code);
    assert.ok(canRetry || partnerHint !== null, `${code}: neither a retry nor a hint`);
  }
  assert.match(
    errorMessageFor('ORIGIN_NOT_ALLOWED', 'https://shop.example').partnerHint ?? '',
    /https:\/\/shop\.example/,
  );
});
