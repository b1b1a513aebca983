import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cardViewMembers } from '../../../src/verticals/credit-cards/card-view.ts';
import { creditCards } from '../../../src/verticals/credit-cards/credit-cards.ts';
import { balanceComputationMethods, cardSchema } from '../../../src/verticals/credit-cards/offer-schema.ts';

const document = readFileSync(new URL('../../../docs/verticals/credit-cards.md', import.meta.url), 'utf8');

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
