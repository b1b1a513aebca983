import assert from 'node:assert/strict';
import { test } from 'node:test';
import { borrowerLine, offersTable, variantsTable } from '../../../bench/demo/print.ts';

const offer = {
  svc_offer_id: 'o1',
  lender_name: 'Harbor Lane',
  apr_range: { min: 9.5, max: 12 },
  monthly_payment_estimate: 341.484,
  svc_star_rating: 4.5,
  click_url: 'http://127.0.0.1/c',
};
const borrower = {
  loan_amount: 10_000,
  loan_purpose: 'moving',
  credit_score_range: '700-749',
  annual_income: 75_000,
  employment_status: 'employed',
  state: 'TX',
};

test('prints offers in columns, numbered from 1', () => {
  const [head, rule, first, second] = offersTable([offer, { ...offer, lender_name: 'Io' }]).split('\n');
  assert.match(head!, /^ +Lender +APR % +Monthly +Stars$/);
  assert.match(rule!, /^ [ -]+$/);
  assert.match(first!, /^ {2}1 {2}Harbor Lane {2}9\.50 to 12\.00 {2}\$341\.48 {2}4\.5$/);
  assert.equal(second!.indexOf('9.50'), first!.indexOf('9.50'));
});

test('prints the offers, the readiness and the redirect of a borrower on one line', () => {
  const marketplace = { match_quality: 'high', offers: [offer], total_offers: 17 };
  const line = borrowerLine(7, 'B', borrower, {
    readiness: 'partial',
    sort: 'lowest_apr',
    marketplace,
    clickedHost: 'apply.example',
  });
  assert.ok(!line.includes('\n'));
  for (const part of ['7 B', '$10,000 for moving', 'TX', 'partial', '17 offers', 'Harbor Lane', '-> apply.example']) {
    assert.ok(line.includes(part), part);
  }
});

test('prints a message for a borrower without offers', () => {
  const marketplace = { match_quality: 'none', offers: [], total_offers: 0 };
  const line = borrowerLine(1, 'A', borrower, {
    readiness: 'high',
    sort: 'recommended',
    marketplace,
    clickedHost: null,
  });
  assert.match(line, /high, no offer$/);
});

test('prints variants side by side under their tags', () => {
  const summary = {
    referrer_tag: 'demo-a',
    sessions_total: 18,
    marketplace_views: 18,
    offer_clicks: 6,
    click_rate: 1 / 3,
    rev_attributed: 120.5,
    rev_confirmed: 0,
    rev_per_session: 0,
    top_lenders: [],
  };
  const text = variantsTable([summary, { ...summary, referrer_tag: 'demo-b', offer_clicks: 10 }]);
  assert.match(text, /demo-a +demo-b/);
  assert.match(text, /offer_clicks +6 +10/);
  assert.match(text, /click_rate +0\.333 +0\.333/);
  assert.match(text, /top lender +- +-/);
});
