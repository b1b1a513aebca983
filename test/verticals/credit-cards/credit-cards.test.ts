import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { getChoiceValues } from '../../../src/domain/field-vector.ts';
import { computeMatchReadiness } from '../../../src/domain/pocket-fields.ts';
import { cardViewMembers } from '../../../src/verticals/credit-cards/card-view.ts';
import { creditCards } from '../../../src/verticals/credit-cards/credit-cards.ts';
import { balanceComputationMethods, cardSchema } from '../../../src/verticals/credit-cards/offer-schema.ts';
import { cardBorrowerOf } from './card-fixtures.ts';

const document = readFileSync(new URL('../../../docs/verticals/credit-cards.md', import.meta.url), 'utf8');

/** The conditional fields of each purpose. */
const conditionalByPurpose: Readonly<Record<string, readonly string[]>> = {
  cash_back: ['monthly_spend'],
  travel: ['monthly_spend'],
  balance_transfer: ['transfer_amount'],
  low_interest: ['carried_balance'],
  build_credit: [],
  student: [],
};

test('the match readiness is partial while a conditional field of the purpose is missing, otherwise high', () => {
  const purposes = getChoiceValues(creditCards, 'card_purpose');
  assert.deepEqual(purposes, Object.keys(conditionalByPurpose));
  for (const card_purpose of purposes) {
    const fields = { card_purpose, credit_score_range: '700-749', annual_income: 50_000, state: 'CA' };
    const missing = conditionalByPurpose[card_purpose]!;
    const before = computeMatchReadiness(creditCards, cardBorrowerOf(fields));
    assert.deepEqual(before, {
      matchReadiness: missing.length === 0 ? 'high' : 'partial',
      missingRequired: [],
      missingConditional: missing,
    });
    const amounts = Object.fromEntries(missing.map((name) => [name, 100]));
    const after = computeMatchReadiness(creditCards, cardBorrowerOf({ ...fields, ...amounts }));
    assert.equal(after.matchReadiness, 'high');
  }
  const { missingRequired } = computeMatchReadiness(creditCards, cardBorrowerOf({}));
  assert.deepEqual(missingRequired, ['card_purpose', 'credit_score_range', 'annual_income', 'state']);
});

test('the documentation lists all fields, all members of card, and all members of an offer in the catalog', () => {
  const names = [
    ...creditCards.fields.map(({ name }) => name),
    ...Object.keys(cardViewMembers.card.properties),
    ...balanceComputationMethods,
    'purposes',
    'bands',
    'approval_likelihood',
  ];
  const inCatalogPage = readFileSync(new URL('../../../docs/catalog.md', import.meta.url), 'utf8');
  const documented = (text: string) => new Set([...text.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name));
  assert.deepEqual(
    names.filter((name) => !documented(document).has(name)),
    [],
  );
  const catalogMembers = documented(document + inCatalogPage);
  assert.deepEqual(
    Object.keys(cardSchema.offer.properties).filter((name) => !catalogMembers.has(name)),
    [],
  );
});
