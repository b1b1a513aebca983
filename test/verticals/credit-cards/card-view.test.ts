import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OfferView } from '../../../src/catalogs/offer-view.ts';
import { createOfferUrls } from '../../../src/operations/click-url.ts';
import { type CardView, priceCards } from '../../../src/verticals/credit-cards/card-view.ts';
import type { CardCatalog, CardOffer } from '../../../src/verticals/credit-cards/offer-schema.ts';
import { renderOffers } from '../../matching/priced-rankings.ts';
import {
  cardBorrowerOf,
  cardCatalogOf,
  compileCards,
  firstYearCentsOf,
  goodCardBorrower,
  plainBand,
  plainCard,
  plainCardTerms,
} from './card-fixtures.ts';

const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example/logos' });
function renderCards(file: CardCatalog, indexes: readonly number[], borrower: readonly number[]) {
  const catalog = compileCards(file);
  return renderOffers<OfferView & { readonly card: CardView }>(catalog, priceCards(catalog, indexes, borrower), urls);
}

test('a card has every documented member, with null for absent figures', () => {
  const card = plainCard({ annual_fee: 95 });
  const { views } = renderCards(cardCatalogOf([card]), [0], cardBorrowerOf(goodCardBorrower));
  assert.deepEqual(views[0]!.card, {
    ...plainCardTerms,
    name: 'Plain Card',
    purchase_apr: { min: 18.24, max: 26.24 },
    transfer_apr: { min: 18.24, max: 26.24 },
    penalty_apr: null,
    intro_purchase_apr: null,
    intro_transfer_apr: null,
    annual_fee: 95,
    annual_fee_first_year: 95,
    variable: null,
    bonus: null,
    security_deposit_min: null,
    security_deposit_max: null,
    first_year_value: -95,
  });
});

test('a card shows the figures of the borrower’s credit band, and the APR range is never an introductory rate', () => {
  const changes: Partial<CardOffer> = {
    annual_fee_first_year: 0,
    annual_fee: 59,
    penalty_apr: 29.99,
    intro_purchase_apr: { percent: 0, months: 15 },
    intro_transfer_apr: { percent: 1.99, months: 12 },
    bonus: { value: 200, spend: 500, months: 3 },
    variable: true,
    security_deposit_min: 200,
    security_deposit_max: 2_500,
    bands: {
      '700-749': plainBand({ purchase_apr: { min: 22, max: 29 } }),
      '750-799': plainBand({ purchase_apr: { min: 19, max: 26 }, transfer_apr: { min: 20, max: 27 } }),
    },
  };
  const fields = { ...goodCardBorrower, monthly_spend: 300 };
  const shownIn = (credit_score_range: string) =>
    renderCards(cardCatalogOf([plainCard(changes)]), [0], cardBorrowerOf({ ...fields, credit_score_range })).views[0]!;
  const lower = shownIn('700-749');
  assert.deepEqual(
    [lower.apr_range, lower.card.transfer_apr],
    [
      { min: 22, max: 29 },
      { min: 22, max: 29 },
    ],
  );
  const { apr_range, card } = shownIn('750-799');
  assert.deepEqual(
    [apr_range, card.transfer_apr],
    [
      { min: 19, max: 26 },
      { min: 20, max: 27 },
    ],
  );
  const { bands: _, ...shown } = changes;
  for (const [name, value] of Object.entries(shown)) assert.deepEqual(card[name as keyof CardView], value, name);
  assert.equal(card.first_year_value, firstYearCentsOf(plainCard(changes), { monthly_spend: 300 }) / 100);
});

test('throws for a card that was not ranked for the borrower', () => {
  const file = cardCatalogOf([plainCard()]);
  const inOtherBand = cardBorrowerOf({ ...goodCardBorrower, credit_score_range: '300-579' });
  assert.throws(() => renderCards(file, [0], inOtherBand), /offer plain was not ranked/);
  const { card_purpose: _, ...rest } = goodCardBorrower;
  assert.throws(() => renderCards(file, [0], cardBorrowerOf(rest)), /offer plain was not ranked/);
  const secured = cardCatalogOf([plainCard({ security_deposit_min: 200, security_deposit_max: 2_500 })]);
  const indebted = cardBorrowerOf({ ...goodCardBorrower, carried_balance: 2_501 });
  assert.throws(() => renderCards(secured, [0], indebted), /offer plain was not ranked/);
});
