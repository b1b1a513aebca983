import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import Type, { type TObject, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { catalogGenerators } from '../../bench/catalogs/catalog-generators.ts';
import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { createOfferUrls } from '../../src/operations/click-url.ts';
import { offersProperties } from '../../src/operations/offer-schemas.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { TemplatePricedOffer } from '../../src/verticals/common/template-offer-renderer.ts';
import { renderOffers } from '../matching/priced-rankings.ts';
import { seededRandom } from '../support/random-catalog.ts';
import { createDraw } from './draw-borrowers.ts';
import { today } from './mortgage/mortgage-fixtures.ts';

const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example/logos' });

/** Rejects members that the schema does not describe. */
const forbidOtherMembers = (schema: TSchema) =>
  'properties' in schema ? Type.Object((schema as TObject).properties, { additionalProperties: false }) : schema;

for (const vertical of builtInVerticals.verticals) {
  test(`the JSON text of offers of ${vertical.segment} equals JSON.stringify of the views, which match the schema`, () => {
    const withProduct = builtInVerticals.withProduct(vertical);
    const { product } = withProduct;
    const validator = Compile(offersProperties(withProduct).offers);
    const members = Object.entries(product.offerViewMembers);
    const strictValidator = Compile(
      Type.Object(Object.fromEntries(members.map(([name, schema]) => [name, forbidOtherMembers(schema)]))),
    );
    const draw = createDraw(vertical, 0.3);
    let rendered = 0;
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (seed, borrowerSeed) => {
        const file = catalogGenerators[vertical.segment]!({ seed, offers: 80, vertical });
        const catalog = compileCatalog(file, withProduct, { mode: 'live' });
        const borrower = draw(seededRandom(borrowerSeed));
        const { orders } = product.rankOffers(catalog.tables, borrower, today, null);
        const shown = orders.subarray(0, Math.min(20, orders.length / 4));
        const offers = product.priceOffers(catalog, shown, borrower) as readonly TemplatePricedOffer[];
        const before = JSON.stringify(file);
        const { views, json, again } = renderOffers(catalog, offers, urls);
        assert.equal(json, JSON.stringify(views));
        assert.equal(again, json);
        assert.ok(validator.Check(views), JSON.stringify(validator.Errors(views)));
        for (const view of views) {
          assert.ok(strictValidator.Check(view), JSON.stringify(view));
          emptyAll(view);
        }
        assert.equal(JSON.stringify(file), before, 'a view shares objects with the catalog');
        rendered += views.length;
      }),
      { seed: 18, numRuns: 80 },
    );
    assert.ok(rendered > 100, `only ${rendered} offers were rendered`);
  });
}

/** Deletes all members of an object and of the objects in it. */
function emptyAll(value: object): void {
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) emptyAll(member);
    delete (value as Record<string, unknown>)[name];
  }
}
